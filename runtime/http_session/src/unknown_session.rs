//! Status 400 for a session that the server does not know.
//!
//! The specification requires status 404. Many servers answer with 400, as examples of the official SDKs did. Status 400 has other causes
//! too, and a new session loses the state of the old one.

use std::sync::Arc;

use treenail_runtime::client::ClientError;
use treenail_runtime::internal::in_background;
use treenail_runtime::internal::timeout::timeout;

use crate::authorized::Subject;
use crate::inner::Inner;
use crate::response::{ErrorResponse, HttpResponse};
use crate::session_state::SessionState;

/// Its id is none of a request: those start at 1.
const PING: &[u8] = br#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#;

/// Converts status 400 for a request in a session, which is over if the server refuses a ping with the same response: it has looked at the
/// session then, and at neither message.
///
/// If the session itself replaces another one, and no request was answered in it, another one would not help. The error is that of the
/// server then.
pub(crate) async fn error_for(
    inner: &Arc<Inner>,
    state: &SessionState,
    error: ErrorResponse,
) -> ClientError {
    let refusal = refusal_of_ping(inner, state).await;
    if !refusal.is_some_and(|refusal| refusal.is_same(&error)) {
        return error.into();
    }
    inner.state.expire(state);
    if state.is_untried {
        error.into()
    } else {
        ClientError::SessionExpired
    }
}

async fn refusal_of_ping(inner: &Inner, state: &SessionState) -> Option<ErrorResponse> {
    let subject = Subject {
        method: Some("ping"),
        ..state.subject()
    };
    let response = inner.sender.post_legacy(state, subject, PING);
    let refusal = async {
        let response = response.await.ok()?;
        HttpResponse::expect_success(response).await.err()
    };
    // The request has its error already, which waits for this.
    let limit = inner.limits.probe_timeout;
    timeout(limit, in_background(refusal)).await.ok()?
}

//! Delivery of the answer to a request of the server.

use std::sync::Weak;

use tokio::sync::OwnedSemaphorePermit;
use treenail_runtime::RpcError;
use treenail_runtime::internal::{in_background_if, timeout::timeout};

use crate::inner::Inner;
use crate::message;
use crate::session_state::SessionState;

/// Destination of the answer to a request of the server. A responder must not keep the session alive, so the session is
/// referenced weakly.
pub(crate) struct ReplyRoute {
    pub(crate) id: Box<str>,
    pub(crate) state: SessionState,
    pub(crate) inner: Weak<Inner>,
    /// True if a user or a model has given the answer. The client gives other answers on its own.
    pub(crate) may_ask_user: bool,
    /// Held until the answer has been sent.
    pub(crate) permit: Option<OwnedSemaphorePermit>,
}

impl ReplyRoute {
    pub(crate) async fn send(self, answer: Result<String, RpcError>) {
        let Some(inner) = self.inner.upgrade() else {
            return;
        };
        let body = message::answer(&self.id, answer);
        let sent = timeout(
            inner.limits.request_timeout,
            inner.deliver(&self.state, self.state.subject(), &body),
        );
        let sent = in_background_if(!self.may_ask_user, sent);
        match inner.state.while_open(sent).await {
            Some(Ok(Ok(()))) | None => {}
            Some(Ok(Err(error))) => {
                let warning = "an answer could not be sent to the server";
                inner.dispatcher.warn_of_error(&error, warning);
            }
            Some(Err(_)) => {
                let warning = "the server did not accept an answer in time";
                inner.dispatcher.warn(warning);
            }
        }
        drop(self.permit);
    }
}

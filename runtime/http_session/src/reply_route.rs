//! Delivery of the answer to a request of the server.

use std::sync::Weak;

use http::StatusCode;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::sleep;
use treenail_http_client::response::is_transient;
use treenail_runtime::RpcError;
use treenail_runtime::client::ClientError;
use treenail_runtime::internal::{in_background_if, timeout::timeout};

use crate::backoff;
use crate::inner::Inner;
use crate::message;
use crate::session_state::SessionState;

/// Destination of the answer to a request of the server. A responder must not keep the session alive, so the session is
/// referenced weakly.
pub(crate) struct ReplyRoute {
    pub(crate) id: Box<str>,
    /// Our request on whose stream the server asks.
    pub(crate) caused_by: Option<i64>,
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
            self.send_repeatedly(&inner, &body),
        );
        let sent = in_background_if(!self.may_ask_user, sent);
        match inner.state.while_open(sent).await {
            Some(Ok(Ok(()))) | None => {}
            Some(Ok(Err(error))) => {
                let warning = "an answer could not be sent to the server";
                inner.dispatcher.warn_of_error(&error, warning);
                self.fail_cause(&inner, error);
            }
            Some(Err(_)) => {
                let warning = "the server did not accept an answer in time";
                inner.dispatcher.warn(warning);
            }
        }
        drop(self.permit);
    }

    /// Sends an answer, and sends it again after failures that may pass. The server drops one that it has already: it never uses an id
    /// again within a session.
    ///
    /// Only what a user or a model has answered is worth that. A server may send any number of pings.
    async fn send_repeatedly(&self, inner: &Inner, body: &[u8]) -> Result<(), ClientError> {
        let mut failures = 0;
        loop {
            let sent = inner.deliver(&self.state, self.state.subject(), body).await;
            let Err(error) = sent else {
                return Ok(());
            };
            failures += 1;
            let is_exhausted = failures > inner.limits.http.resume_attempts;
            if !self.may_ask_user || is_exhausted || !may_pass(&error) {
                return Err(error);
            }
            sleep(backoff::delay(error.retry_after(), failures)).await;
            if !self.is_awaited(inner) {
                return Err(error);
            }
        }
    }

    /// Returns false if the session is over, or the request that caused the question.
    fn is_awaited(&self, inner: &Inner) -> bool {
        let pending = &inner.dispatcher.pending;
        inner.state.state_of(self.state.handshake).is_ok()
            && self.caused_by.is_none_or(|id| pending.is_waiting(id))
    }

    /// Fails the request that waits for the lost answer of a user or a model, in place of its timeout.
    fn fail_cause(&self, inner: &Inner, error: ClientError) {
        let Some(id) = self.caused_by.filter(|_| self.may_ask_user) else {
            return;
        };
        let reason = match error {
            ClientError::SessionExpired => "the session has ended before the answer".to_owned(),
            error => format!("the answer to a question of the server could not be sent: {error}"),
        };
        inner
            .dispatcher
            .pending
            .fail(id, ClientError::closed(reason));
    }
}

/// Returns true if the same message may be accepted later.
fn may_pass(error: &ClientError) -> bool {
    match error {
        ClientError::Unreachable(_) | ClientError::Closed(_) => true,
        ClientError::Http { status, .. } => StatusCode::from_u16(*status).is_ok_and(is_transient),
        _ => false,
    }
}

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
        let mut failures = Failures::default();
        let sent = timeout(
            inner.limits.request_timeout,
            self.send_repeatedly(&inner, &body, &mut failures),
        );
        let sent = in_background_if(!self.may_ask_user, sent);
        let Some(outcome) = inner.state.while_open(sent).await else {
            return;
        };
        let is_lost = failures.is_lost();
        if let Some(error) = failures.last {
            let warning = "an answer could not be sent to the server";
            inner.dispatcher.warn_of_error(&error, warning);
            if is_lost {
                self.fail_cause(&inner, error);
            }
        } else if outcome.is_err() {
            let warning = "the server did not accept an answer in time";
            inner.dispatcher.warn(warning);
        }
        drop(self.permit);
    }

    /// Sends an answer, and sends it again after failures that may pass. A server that has it already ignores or refuses it: it never
    /// uses an id again within a session.
    ///
    /// Only what a user or a model has answered is worth that. A server may send any number of pings.
    async fn send_repeatedly(&self, inner: &Inner, body: &[u8], failures: &mut Failures) {
        for attempt in 1.. {
            failures.last = None;
            let sent = inner.deliver(&self.state, self.state.subject(), body).await;
            let Err(error) = sent else {
                return;
            };
            let is_exhausted = attempt > inner.limits.http.resume_attempts;
            let is_last = !self.may_ask_user || is_exhausted || !may_pass(&error);
            let delay = backoff::delay(error.retry_after(), attempt);
            failures.add(error);
            if is_last {
                return;
            }
            sleep(delay).await;
            if !self.is_awaited(inner) {
                return;
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

/// Failed attempts to send an answer.
#[derive(Default)]
struct Failures {
    /// Error of the last attempt, unless another one has started, which may reach the server.
    last: Option<ClientError>,
    /// True if the server may have the answer, or no longer wants it.
    may_be_settled: bool,
}

impl Failures {
    fn add(&mut self, error: ClientError) {
        self.may_be_settled |= may_settle(&error);
        self.last = Some(error);
    }

    /// Returns true if the server waits for an answer that it will not receive.
    fn is_lost(&self) -> bool {
        !self.may_be_settled || matches!(self.last, Some(ClientError::SessionExpired))
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

/// Returns true if the server may go on with its work after this error. Its response is lost or unreadable, so the answer may have arrived.
/// Or it refuses one that it has already, or one to a question that it has given up.
fn may_settle(error: &ClientError) -> bool {
    match error {
        ClientError::Closed(_) | ClientError::Protocol(_) | ClientError::Refused(_) => true,
        ClientError::Http { status, .. } => matches!(status, 400 | 408 | 409 | 500 | 502 | 504),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use http::{HeaderMap, Uri};
    use tokio::io::{AsyncReadExt, AsyncWriteExt, copy, duplex, sink};
    use tokio::sync::oneshot::error::TryRecvError;
    use treenail_http_client::{ByteStream, Dial, DialFuture, Pool};
    use treenail_runtime::client::ClientLimits;

    use super::*;
    use crate::sender::Sender;

    const OVERLOADED: &[u8] = b"HTTP/1.1 503 X\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

    /// Server that refuses this number of requests, and does not respond to more.
    #[derive(Debug)]
    struct Server(AtomicU32);

    impl Dial for Server {
        fn dial(&self) -> DialFuture {
            let (client, mut server) = duplex(4096);
            let left = self.0.load(Ordering::Relaxed);
            self.0.store(left.saturating_sub(1), Ordering::Relaxed);
            tokio::spawn(async move {
                server.read_u8().await?;
                if left > 0 {
                    server.write_all(OVERLOADED).await?;
                }
                copy(&mut server, &mut sink()).await
            });
            Box::pin(async { io::Result::Ok(Box::new(client) as Box<dyn ByteStream>) })
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_not_accepted_in_time_fails_its_call_if_it_has_not_arrived() {
        for (refusals, fails) in [(u32::MAX, true), (0, false), (1, false)] {
            let limits = ClientLimits::default();
            let server = Arc::new(Server(refusals.into()));
            let pool = Pool::dialed(&limits.http, server);
            let inner = Inner::new(Sender {
                url: Uri::from_static("http://x.example/mcp"),
                only_revision: None,
                headers: HeaderMap::new(),
                authorization: None,
                pool,
                limits,
            });
            let mut call = inner.dispatcher.pending.insert(1);
            let route = ReplyRoute {
                id: "7".into(),
                caused_by: Some(1),
                state: inner.state.current(),
                inner: Arc::downgrade(&inner),
                may_ask_user: true,
                permit: None,
            };
            route.send(Ok("{}".to_owned())).await;
            let outcome = call.try_recv();
            let matches = match &outcome {
                Ok(Err(ClientError::Closed(reason))) => fails && reason.contains("503"),
                Err(TryRecvError::Empty) => !fails,
                _ => false,
            };
            assert!(matches, "{refusals} refusals: {outcome:?}");
        }
    }
}

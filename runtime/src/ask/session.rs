//! Requests to a client of the legacy era that belong to no call.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio::time::timeout;
use treenail_schema::InputRequest;

use super::Sent;
use crate::ask::AskError;
use crate::context::Context;
use crate::outbox::Outbox;

/// Client of the legacy era, on a stream that outlives its calls.
#[doc(hidden)]
#[derive(Debug)]
pub struct SessionPeer {
    outbox: Outbox,
    timeout: Duration,
}

impl SessionPeer {
    /// Returns the client of a call. `None` in the modern era, and for a client that reads no stream beside those of its calls.
    #[inline]
    pub fn of(context: &Context) -> Option<Self> {
        let state = context.state();
        if state.peer.revision().is_modern() {
            return None;
        }
        Some(Self {
            outbox: state.outbox().of_session()?,
            timeout: state.server.elicit_config().timeout(),
        })
    }

    /// Sends a request, and waits for its response. Dropping the future withdraws the request.
    ///
    /// # Errors
    ///
    /// [`AskError::Refused`] with the error of the client, [`AskError::Closed`] at the end of the connection, and
    /// [`AskError::TimedOut`].
    pub async fn ask(&self, request: &InputRequest) -> Result<Box<str>, AskError> {
        let mut sent = Sent {
            outbox: &self.outbox,
            reply: self.outbox.requests().open().await?,
            in_outbox: false,
        };
        let message = sent.reply.message(request)?;
        let room = self.outbox.reserve().await.ok_or(AskError::Closed)?;
        room.send(message);
        sent.in_outbox = true;
        let mut answered = pin!(timeout(self.timeout, sent.reply.response()));
        let mut closed = pin!(self.outbox.closed());
        poll_fn(|context| match answered.as_mut().poll(context) {
            Poll::Ready(answer) => Poll::Ready(answer.unwrap_or(Err(AskError::TimedOut))),
            Poll::Pending => closed
                .as_mut()
                .poll(context)
                .map(|()| Err(AskError::Closed)),
        })
        .await
    }
}

/// Returns a number that identifies the session of a call, among those of the running connections of this process.
#[doc(hidden)]
pub fn session_number(context: &Context) -> usize {
    Arc::as_ptr(context.state().outbox().requests()) as usize
}

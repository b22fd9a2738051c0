//! What calls send to their peer beside their answers.

use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::{Semaphore, mpsc};
use treenail_schema::Notification;

use crate::ask::Requests;
use crate::limits::Limits;

/// A bounded queue of messages for one peer. A full queue holds its senders up until the transport has taken some.
#[derive(Clone, Debug)]
pub(crate) struct Outbox {
    sender: mpsc::Sender<Vec<u8>>,
    requests: Arc<Requests>,
}

impl Outbox {
    /// Waits for room for one message; `None` if the connection has ended.
    pub(crate) async fn reserve(&self) -> Option<mpsc::Permit<'_, Vec<u8>>> {
        self.sender.reserve().await.ok()
    }

    /// Sends a message if there is room for it now.
    pub(crate) fn offer(&self, message: Vec<u8>) {
        if self.sender.try_send(message).is_err() {
            tracing::debug!("a message found no room and was dropped");
        }
    }

    /// The requests to the peer that it has not answered yet.
    pub(crate) fn requests(&self) -> &Requests {
        &self.requests
    }
}

impl Outbox {
    /// A queue for the next session of the same peer. No request of it has the id of one before, whose answer may be late.
    pub(crate) fn successor(&self, limits: &Limits) -> (Self, Outgoing) {
        let (sender, receiver) = mpsc::channel(limits.queued_messages.max(1));
        let requests = Arc::new(self.requests.successor(limits.pending_client_requests));
        (Self { sender, requests }, Outgoing { receiver })
    }
}

impl Outbox {
    /// Another queue for the same peer, which has all open requests in common with this one.
    #[cfg(feature = "http-server")]
    pub(crate) fn sibling(&self, limits: &Limits) -> (Self, Outgoing) {
        let (sender, receiver) = mpsc::channel(room(limits));
        let requests = Arc::clone(&self.requests);
        (Self { sender, requests }, Outgoing { receiver })
    }
}

/// The other end of an [`Outbox`].
#[derive(Debug)]
pub(crate) struct Outgoing {
    receiver: mpsc::Receiver<Vec<u8>>,
}

impl Outgoing {
    /// The next message, if one is waiting.
    pub(crate) fn next(&mut self) -> Option<Vec<u8>> {
        self.receiver.try_recv().ok()
    }

    /// The next message. It never ends: the connection itself keeps an [`Outbox`].
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Vec<u8>> {
        match self.receiver.poll_recv(context) {
            Poll::Ready(Some(message)) => Poll::Ready(message),
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }
}

/// A queue for one peer, within the bounds of the server.
pub(crate) fn outbox(limits: &Limits) -> (Outbox, Outgoing) {
    let (sender, receiver) = mpsc::channel(room(limits));
    let requests = Arc::new(Requests::new(limits.pending_client_requests));
    (Outbox { sender, requests }, Outgoing { receiver })
}

/// The messages that a queue takes, within the range of the channel.
fn room(limits: &Limits) -> usize {
    limits.queued_messages.clamp(1, Semaphore::MAX_PERMITS)
}

/// A notification as a message.
pub(crate) fn notification<N: Notification>(params: &N::Params) -> Vec<u8> {
    let mut message =
        format!(r#"{{"jsonrpc":"2.0","method":"{}","params":"#, N::METHOD).into_bytes();
    if let Err(error) = serde_json::to_writer(&mut message, params) {
        tracing::error!(%error, method = N::METHOD, "a notification could not be written");
        return Vec::new();
    }
    message.push(b'}');
    message
}

//! Queue of messages to one peer beside the responses to its requests.

use std::sync::Arc;

use treenail_schema::Notification;

use crate::ask::Requests;
use crate::limits::Limits;
use crate::queue::{QueuePermit, QueueReceiver, QueueSender, UnansweredCall, queue};

/// Bounded queue of outgoing messages for one peer. Senders wait while it is full (back-pressure). That of a call is a clone with
/// its number.
#[derive(Clone, Debug)]
pub(crate) struct Outbox {
    sender: QueueSender,
    /// Sender of the queue whose messages belong to no request, if the peer reads it.
    session: Option<QueueSender>,
    requests: Arc<Requests>,
}

impl Outbox {
    /// Reserves room for one message; `None` if the connection has ended.
    pub(crate) async fn reserve(&self) -> Option<QueuePermit<'_>> {
        self.sender.reserve().await
    }

    /// Starts the next call of the connection, whose clones of the queue have its number.
    #[inline]
    pub(crate) fn start_call(&mut self) {
        self.sender.start_call();
    }

    /// Returns the guard of the call while it has no response.
    pub(crate) fn unanswered_call(&self) -> UnansweredCall {
        UnansweredCall::new(self.sender.clone())
    }

    /// Returns `true` if the client has cancelled the call, although its function may still run.
    #[inline]
    pub(crate) fn is_cancelled(&self) -> bool {
        self.sender.is_cancelled()
    }

    /// Sends a message of no call unless the queue is full.
    #[inline]
    pub(crate) fn try_send(&self, message: Vec<u8>) {
        if !self.sender.try_send(message) {
            tracing::debug!("a message was dropped because the queue is full");
        }
    }

    /// Returns the pending requests to the peer.
    pub(crate) fn requests(&self) -> &Arc<Requests> {
        &self.requests
    }

    /// Makes a queue for the next session of the same peer. Ids of requests are not reused, because a response to an earlier one may
    /// be late.
    pub(crate) fn successor(&self, limits: &Limits) -> (Self, QueueReceiver) {
        let (sender, receiver) = queue(limits.queued_messages);
        let requests = Arc::new(self.requests.successor(limits.pending_client_requests));
        (Self::of_peer(sender, requests), receiver)
    }

    /// Makes another queue for the same peer, which shares the pending requests with this one.
    #[cfg(feature = "http-server")]
    pub(crate) fn sibling(&self, limits: &Limits) -> (Self, QueueReceiver) {
        let (sender, receiver) = queue(limits.queued_messages);
        let outbox = Self {
            sender,
            session: None,
            requests: Arc::clone(&self.requests),
        };
        (outbox, receiver)
    }

    /// Sets the queue of the session, which its peer reads.
    #[cfg(feature = "http-server")]
    pub(crate) fn join_session(&mut self, session: &Self) {
        self.session = Some(session.sender.clone());
    }

    fn of_peer(sender: QueueSender, requests: Arc<Requests>) -> Self {
        Self {
            session: Some(sender.clone()),
            sender,
            requests,
        }
    }

    /// Returns the queue whose messages belong to no request, if the peer reads it.
    pub(crate) fn of_session(&self) -> Option<Self> {
        let sender = self.session.clone()?.of_no_call();
        Some(Self::of_peer(sender, Arc::clone(&self.requests)))
    }

    /// Waits for the end of the connection.
    pub(crate) async fn closed(&self) {
        self.sender.closed().await;
    }
}

/// Makes a queue for one peer.
pub(crate) fn outbox(limits: &Limits) -> (Outbox, QueueReceiver) {
    let (sender, receiver) = queue(limits.queued_messages);
    let requests = Arc::new(Requests::new(limits.pending_client_requests));
    (Outbox::of_peer(sender, requests), receiver)
}

/// Writes a notification as a message.
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

//! Broadcast of notifications to all listeners, with bounded queues.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};

use futures_core::Stream;
use serde::de::DeserializeOwned;
use treenail_schema::Notification;

use crate::client::ClientLimits;
use crate::client::protocol::queue::{ByteSize, Queue};
use crate::wire::read_json;

/// A notification of a server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerNotification {
    /// The method, as in `notifications/message`.
    pub method: String,
    /// The parameters: JSON text of an object.
    pub params: String,
}

impl ServerNotification {
    /// Decodes the parameters; `None` if this is not a valid notification `N`.
    pub fn decode<N: Notification>(&self) -> Option<N::Params> {
        let params = (self.method == N::METHOD).then(|| read_json(&self.params))?;
        params.ok()
    }
}

impl ServerNotification {
    /// Decodes the parameters of a notification `method` of an extension; `None` if this is another one, or they do not fit.
    pub fn decode_as<P: DeserializeOwned>(&self, method: &str) -> Option<P> {
        let params = (self.method == method).then(|| read_json(&self.params))?;
        params.ok()
    }
}

impl ByteSize for Arc<ServerNotification> {
    fn bytes(&self) -> usize {
        self.method.len() + self.params.len()
    }
}

/// Broadcast channel for the notifications of one server.
#[derive(Debug, Default)]
pub(super) struct Broadcast {
    listeners: Mutex<Listeners>,
}

#[derive(Debug, Default)]
struct Listeners {
    queues: Vec<Weak<Queue<Arc<ServerNotification>>>>,
    /// True after the end of the connection.
    is_closed: bool,
}

impl Broadcast {
    pub(super) fn subscribe(&self, limits: &ClientLimits) -> Notifications {
        let queue = Queue::new(limits);
        let mut listeners = self.listeners();
        if listeners.is_closed {
            queue.close();
        } else {
            let queues = &mut listeners.queues;
            queues.retain(|listener| listener.strong_count() > 0);
            queues.push(Arc::downgrade(&queue));
        }
        drop(listeners);
        Notifications { queue }
    }

    pub(super) fn has_listeners(&self) -> bool {
        !self.listeners().queues.is_empty()
    }

    pub(super) fn send(&self, notification: &Arc<ServerNotification>) {
        let mut queues = Vec::new();
        self.listeners().queues.retain(|listener| {
            let queue = listener.upgrade();
            let is_open = queue.is_some();
            queues.extend(queue);
            is_open
        });
        // Without the lock, because a waker may own the client.
        for queue in queues {
            queue.push(Arc::clone(notification));
        }
    }

    pub(super) fn close(&self) {
        let mut listeners = self.listeners();
        listeners.is_closed = true;
        let queues = std::mem::take(&mut listeners.queues);
        drop(listeners);
        for queue in queues.iter().filter_map(Weak::upgrade) {
            queue.close();
        }
    }

    fn listeners(&self) -> MutexGuard<'_, Listeners> {
        self.listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stream of the notifications of a server, until the connection ends. One that is opened later ends at once.
///
/// It buffers at most [`ClientLimits::queued_notifications`]; after that, the oldest are dropped.
#[derive(Debug)]
#[must_use = "streams do nothing unless polled"]
pub struct Notifications {
    queue: Arc<Queue<Arc<ServerNotification>>>,
}

impl Notifications {
    /// Waits for the next notification. Returns `None` at the end of the connection. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<ServerNotification> {
        let next = poll_fn(|context| self.queue.poll_next(context)).await;
        next.map(Arc::unwrap_or_clone)
    }

    /// Number of notifications that were dropped because the buffer was full.
    pub fn lost(&self) -> u64 {
        self.queue.lost()
    }
}

impl Stream for Notifications {
    type Item = ServerNotification;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = self.queue.poll_next(context);
        next.map(|next| next.map(Arc::unwrap_or_clone))
    }
}

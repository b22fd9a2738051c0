//! Notifications on their way to those who listen, within bounds.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};

use futures_core::Stream;
use treenail_schema::Notification;

use crate::client::ClientLimits;
use crate::client::protocol::queue::{Queue, Weighed};

/// A notification of a server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerNotification {
    /// The method, as in `notifications/message`.
    pub method: String,
    /// The parameters: the text of an object.
    pub params: String,
}

impl ServerNotification {
    /// The parameters, if it is a notification `N` that can be read.
    pub fn decode<N: Notification>(&self) -> Option<N::Params> {
        let params = (self.method == N::METHOD).then(|| serde_json::from_str(&self.params))?;
        params.ok()
    }
}

impl Weighed for Arc<ServerNotification> {
    fn bytes(&self) -> usize {
        self.method.len() + self.params.len()
    }
}

/// All who listen to one server.
#[derive(Debug, Default)]
pub(super) struct Feed {
    listeners: Mutex<Vec<Weak<Queue<Arc<ServerNotification>>>>>,
}

impl Feed {
    pub(super) fn listen(&self, limits: &ClientLimits) -> Notifications {
        let queue = Queue::new(limits);
        let mut listeners = self.listeners();
        listeners.retain(|listener| listener.strong_count() > 0);
        listeners.push(Arc::downgrade(&queue));
        Notifications { queue }
    }

    pub(super) fn is_heard(&self) -> bool {
        !self.listeners().is_empty()
    }

    pub(super) fn push(&self, notification: &Arc<ServerNotification>) {
        self.listeners().retain(|listener| {
            let listener = listener.upgrade();
            listener.is_some_and(|queue| {
                queue.push(Arc::clone(notification));
                true
            })
        });
    }

    pub(super) fn end(&self) {
        for listener in self.listeners().drain(..) {
            if let Some(queue) = listener.upgrade() {
                queue.end();
            }
        }
    }

    fn listeners(&self) -> MutexGuard<'_, Vec<Weak<Queue<Arc<ServerNotification>>>>> {
        self.listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The notifications of a server, from now on until the connection ends.
///
/// So many wait as [`ClientLimits::queued_notifications`] allows; when more come, the oldest are lost.
#[derive(Debug)]
pub struct Notifications {
    queue: Arc<Queue<Arc<ServerNotification>>>,
}

impl Notifications {
    /// How many have been lost because they were not taken in time.
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

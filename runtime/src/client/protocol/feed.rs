//! Notifications on their way to those who listen, within bounds.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use treenail_schema::Notification;

use crate::client::ClientLimits;

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

    fn bytes(&self) -> usize {
        self.method.len() + self.params.len()
    }
}

/// What waits for one who listens.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    most: usize,
    most_bytes: usize,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Arc<ServerNotification>>,
    bytes: usize,
    lost: u64,
    ended: bool,
    waker: Option<Waker>,
}

impl Queue {
    pub(super) fn new(limits: &ClientLimits) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            most: limits.queued_notifications.max(1),
            most_bytes: limits.queued_notification_bytes,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a notification; the oldest make room for it.
    pub(super) fn push(&self, notification: &Arc<ServerNotification>) {
        let mut state = self.state();
        state.bytes += notification.bytes();
        state.waiting.push_back(Arc::clone(notification));
        while state.waiting.len() > self.most || state.bytes > self.most_bytes {
            let Some(oldest) = state.waiting.pop_front() else {
                break;
            };
            state.bytes -= oldest.bytes();
            state.lost += 1;
        }
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
    }

    /// Lets the one who listens know that nothing more will come.
    pub(super) fn end(&self) {
        let mut state = self.state();
        state.ended = true;
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
    }

    pub(super) fn poll_next(
        &self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Arc<ServerNotification>>> {
        let mut state = self.state();
        match state.waiting.pop_front() {
            Some(next) => {
                state.bytes -= next.bytes();
                Poll::Ready(Some(next))
            }
            None if state.ended => Poll::Ready(None),
            None => {
                state.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }

    pub(super) fn lost(&self) -> u64 {
        self.state().lost
    }
}

/// All who listen to one server.
#[derive(Debug, Default)]
pub(super) struct Feed {
    listeners: Mutex<Vec<Weak<Queue>>>,
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
                queue.push(notification);
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

    fn listeners(&self) -> MutexGuard<'_, Vec<Weak<Queue>>> {
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
    queue: Arc<Queue>,
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

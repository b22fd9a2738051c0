//! Stream of the states of one task.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use treenail_runtime::internal::poll_within_budget;

use crate::client::snapshot::TaskUpdate;

/// Maximum number of states that a reader has not taken.
const MAX_QUEUED: usize = 64;

/// Stream of the states of one task, until its end. Returned by [`TaskHandle::updates`](crate::TaskHandle::updates).
///
/// It buffers 64 states; after that, the oldest are dropped. Texts of a state are cut to 4 KiB.
#[cfg(feature = "client")]
#[derive(Debug)]
#[must_use = "streams do nothing unless polled"]
pub struct TaskUpdates(Arc<Mutex<Queue>>);

#[derive(Debug, Default)]
struct Queue {
    updates: VecDeque<TaskUpdate>,
    is_closed: bool,
    waker: Option<Waker>,
}

impl TaskUpdates {
    /// Waits for the next state. Returns `None` after the last one. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<TaskUpdate> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }
}

/// Distributor of states to streams.
#[derive(Debug, Default)]
pub(super) struct Publisher {
    streams: Mutex<Vec<Weak<Mutex<Queue>>>>,
    state: Mutex<Published>,
}

#[derive(Debug, Default)]
struct Published {
    latest: Option<TaskUpdate>,
    is_closed: bool,
}

impl Publisher {
    /// Returns a stream that starts with the latest state.
    pub(super) fn subscribe(&self) -> TaskUpdates {
        // Locked until the stream is known: it misses neither a state nor the end.
        let state = lock(&self.state);
        let queue = Arc::new(Mutex::new(Queue {
            updates: state.latest.iter().cloned().collect(),
            is_closed: state.is_closed,
            waker: None,
        }));
        lock(&self.streams).push(Arc::downgrade(&queue));
        TaskUpdates(queue)
    }

    /// Returns the latest state.
    pub(super) fn latest(&self) -> Option<TaskUpdate> {
        lock(&self.state).latest.clone()
    }

    pub(super) fn publish(&self, update: &TaskUpdate) {
        let mut state = lock(&self.state);
        state.latest = Some(update.clone());
        self.change(state, |queue| {
            queue.updates.push_back(update.clone());
            if queue.updates.len() > MAX_QUEUED {
                queue.updates.pop_front();
            }
        });
    }

    /// Ends all streams, and those that are still to be opened after the latest state.
    pub(super) fn close(&self) {
        let mut state = lock(&self.state);
        state.is_closed = true;
        self.change(state, |queue| queue.is_closed = true);
    }

    /// Changes all streams before the state is unlocked, and wakes their readers after it.
    fn change(&self, state: MutexGuard<'_, Published>, change: impl Fn(&mut Queue)) {
        let mut wakers = Vec::new();
        lock(&self.streams).retain(|stream| {
            let Some(queue) = stream.upgrade() else {
                return false;
            };
            let mut queue = lock(&queue);
            change(&mut queue);
            wakers.extend(queue.waker.take());
            true
        });
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl Stream for TaskUpdates {
    type Item = TaskUpdate;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<TaskUpdate>> {
        poll_within_budget(context, |context| {
            let mut queue = lock(&self.0);
            match queue.updates.pop_front() {
                Some(update) => Poll::Ready(Some(update)),
                None if queue.is_closed => Poll::Ready(None),
                None => {
                    let former = queue.waker.replace(context.waker().clone());
                    drop(queue);
                    drop(former);
                    Poll::Pending
                }
            }
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;

    use treenail_schema::TaskStatus;

    use super::*;

    #[tokio::test]
    async fn a_reader_yields_to_other_tasks() {
        let publisher = Publisher::default();
        let mut updates = publisher.subscribe();
        let update = TaskUpdate {
            status: TaskStatus::Working,
            message: None,
            created_at: None,
            last_updated_at: None,
            ttl: None,
            poll_interval: None,
        };
        let mut reading = pin!(async {
            for _ in 0..10_000 {
                publisher.publish(&update);
                updates.next().await;
            }
        });
        let yields = poll_fn(|context| Poll::Ready(reading.as_mut().poll(context).is_pending()));
        assert!(yields.await);
    }
}

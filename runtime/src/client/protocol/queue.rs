//! Bounded queue of notifications for one listener.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::client::ClientLimits;
use crate::client::cooperative::poll_within_budget;

/// Approximate size of an item.
pub(super) trait ByteSize {
    /// Returns the approximate size in bytes.
    fn bytes(&self) -> usize;
}

/// Bounded queue of notifications for one listener. When it is full, the oldest item is dropped, except for a first one that is kept.
#[derive(Debug)]
pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    max_items: usize,
    max_bytes: usize,
}

#[derive(Debug)]
struct State<T> {
    /// The first item of a queue that keeps it, beside the bounds.
    first: Option<T>,
    /// True until the first item of such a queue has arrived.
    awaits_first: bool,
    items: VecDeque<T>,
    bytes: usize,
    lost: u64,
    closed: bool,
    cancelled: bool,
    waker: Option<Waker>,
}

impl<T: ByteSize> Queue<T> {
    pub(super) fn new(limits: &ClientLimits) -> Arc<Self> {
        Self::build(limits, false)
    }

    /// Creates a queue whose first item is not dropped, such as the acknowledgement of a subscription.
    pub(super) fn keeping_first(limits: &ClientLimits) -> Arc<Self> {
        Self::build(limits, true)
    }

    fn build(limits: &ClientLimits, keeps_first: bool) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                first: None,
                awaits_first: keeps_first,
                items: VecDeque::new(),
                bytes: 0,
                lost: 0,
                closed: false,
                cancelled: false,
                waker: None,
            }),
            max_items: limits.queued_notifications.max(1),
            max_bytes: limits.queued_notification_bytes,
        })
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an item, and drops the oldest ones if the queue is full.
    pub(super) fn push(&self, item: T) {
        let mut state = self.state();
        if std::mem::take(&mut state.awaits_first) {
            state.first = Some(item);
            return Self::wake(state);
        }
        state.bytes += item.bytes();
        state.items.push_back(item);
        while state.items.len() > self.max_items || state.bytes > self.max_bytes {
            let Some(oldest) = state.items.pop_front() else {
                break;
            };
            state.bytes -= oldest.bytes();
            state.lost += 1;
        }
        Self::wake(state);
    }

    /// Ends the queue after the items that are in it.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        Self::wake(state);
    }

    /// Ends the queue as [`close`](Self::close), because the server has ended the subscription.
    pub(super) fn cancel(&self) {
        self.state().cancelled = true;
        self.close();
    }

    /// Returns true if the server has ended the subscription.
    pub(super) fn is_cancelled(&self) -> bool {
        self.state().cancelled
    }

    /// Returns the next item to a reader, as part of the budget of its task.
    pub(super) fn poll_next(&self, context: &mut Context<'_>) -> Poll<Option<T>> {
        poll_within_budget(context, |context| self.poll_item(context))
    }

    /// As [`poll_next`](Self::poll_next), for one part of a larger poll.
    pub(super) fn poll_item(&self, context: &mut Context<'_>) -> Poll<Option<T>> {
        let mut state = self.state();
        if let Some(first) = state.first.take() {
            return Poll::Ready(Some(first));
        }
        match state.items.pop_front() {
            Some(next) => {
                state.bytes -= next.bytes();
                Poll::Ready(Some(next))
            }
            None if state.closed => Poll::Ready(None),
            None => {
                let former = state.waker.replace(context.waker().clone());
                drop(state);
                drop(former);
                Poll::Pending
            }
        }
    }

    /// Wakes the listener. Without the lock, because a waker may own the request that ends this queue.
    fn wake(mut state: MutexGuard<'_, State<T>>) {
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(super) fn lost(&self) -> u64 {
        self.state().lost
    }
}

#[cfg(test)]
mod tests {
    use std::task::Wake;

    use super::*;

    struct Item;

    impl ByteSize for Item {
        fn bytes(&self) -> usize {
            1
        }
    }

    /// Waker that owns the sender of a queue, as a waker of an executor may.
    struct Owner(Arc<Queue<Item>>);

    impl Wake for Owner {
        fn wake(self: Arc<Self>) {}
    }

    impl Drop for Owner {
        fn drop(&mut self) {
            self.0.close();
        }
    }

    #[test]
    fn a_waker_may_own_the_sender() {
        let changes: [fn(&Queue<Item>); 4] = [
            |queue| queue.push(Item),
            |queue| queue.close(),
            |queue| queue.cancel(),
            |queue| {
                let polled = queue.poll_next(&mut Context::from_waker(Waker::noop()));
                assert!(polled.is_pending());
            },
        ];
        for change in changes {
            let queue = Queue::new(&ClientLimits::default());
            let waker = Waker::from(Arc::new(Owner(Arc::clone(&queue))));
            let polled = queue.poll_next(&mut Context::from_waker(&waker));
            assert!(polled.is_pending());
            drop(waker);
            change(&queue);
            assert!(queue.state().closed);
        }
    }

    #[tokio::test]
    async fn a_reader_yields_while_items_are_left() {
        let queue = Queue::new(&ClientLimits::default());
        (0..1_000).for_each(|_| queue.push(Item));
        let mut reads = Vec::new();
        std::future::poll_fn(|context| {
            let before = reads.iter().sum::<usize>();
            let read = std::iter::from_fn(|| queue.poll_next(context).is_ready().then_some(()));
            reads.push(read.take(1_000 - before).count());
            let is_done = before + reads[reads.len() - 1] == 1_000;
            if is_done {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
        assert!(reads.len() > 1, "{reads:?}");
    }
}

//! Bounded queue of notifications for one listener.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::client::ClientLimits;

/// Approximate size of an item.
pub(super) trait ByteSize {
    /// Returns the approximate size in bytes.
    fn bytes(&self) -> usize;
}

/// Bounded queue of notifications for one listener. When it is full, the oldest item is dropped.
#[derive(Debug)]
pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    max_items: usize,
    max_bytes: usize,
}

#[derive(Debug)]
struct State<T> {
    items: VecDeque<T>,
    bytes: usize,
    lost: u64,
    closed: bool,
    cancelled: bool,
    waker: Option<Waker>,
}

impl<T: ByteSize> Queue<T> {
    pub(super) fn new(limits: &ClientLimits) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
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
        state.bytes += item.bytes();
        state.items.push_back(item);
        while state.items.len() > self.max_items || state.bytes > self.max_bytes {
            let Some(oldest) = state.items.pop_front() else {
                break;
            };
            state.bytes -= oldest.bytes();
            state.lost += 1;
        }
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
    }

    /// Ends the queue after the items that are in it.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
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

    pub(super) fn poll_next(&self, context: &mut Context<'_>) -> Poll<Option<T>> {
        let mut state = self.state();
        match state.items.pop_front() {
            Some(next) => {
                state.bytes -= next.bytes();
                Poll::Ready(Some(next))
            }
            None if state.closed => Poll::Ready(None),
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

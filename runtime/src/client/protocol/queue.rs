//! What waits for one who listens, within bounds.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::client::ClientLimits;

/// What can wait.
pub(super) trait Weighed {
    /// About how many bytes it takes.
    fn bytes(&self) -> usize;
}

/// What waits for one who listens.
#[derive(Debug)]
pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    most: usize,
    most_bytes: usize,
}

#[derive(Debug)]
struct State<T> {
    waiting: VecDeque<T>,
    bytes: usize,
    lost: u64,
    ended: bool,
    waker: Option<Waker>,
}

impl<T: Weighed> Queue<T> {
    pub(super) fn new(limits: &ClientLimits) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                waiting: VecDeque::new(),
                bytes: 0,
                lost: 0,
                ended: false,
                waker: None,
            }),
            most: limits.queued_notifications.max(1),
            most_bytes: limits.queued_notification_bytes,
        })
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an item; the oldest make room for it.
    pub(super) fn push(&self, item: T) {
        let mut state = self.state();
        state.bytes += item.bytes();
        state.waiting.push_back(item);
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

    pub(super) fn poll_next(&self, context: &mut Context<'_>) -> Poll<Option<T>> {
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

//! Numbers of the calls of a connection, and those of its cancelled calls.

use std::collections::{HashSet, VecDeque};
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Number of a call, unique on its connection. In contrast to an id, no peer can use it twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CallNumber(NonZeroU64);

impl CallNumber {
    /// Returns the number after `last`.
    pub(crate) fn after(last: Option<Self>) -> Self {
        let next = |Self(last): Self| last.saturating_add(1);
        Self(last.map_or(NonZeroU64::MIN, next))
    }
}

/// Cancelled calls that may still run, because an abort takes effect only when the current poll of a function ends, and dropped
/// calls whose messages may still be queued. None of their messages is sent.
#[derive(Debug, Default)]
pub(crate) struct CancelledCalls {
    /// Set while there are any, so that messages need no lock otherwise.
    any: AtomicBool,
    calls: Mutex<Calls>,
}

#[derive(Debug, Default)]
struct Calls {
    /// Only calls in flight are added, and the end of a call removes it, so
    /// [`Limits::calls_in_flight`](crate::Limits::calls_in_flight) bounds them.
    running: HashSet<CallNumber>,
    /// Dropped calls, the first one first. An empty queue removes them all.
    dropped: VecDeque<CallNumber>,
}

impl CancelledCalls {
    pub(crate) fn insert(&self, call: CallNumber) {
        let mut calls = self.calls();
        calls.running.insert(call);
        self.any.store(true, Ordering::Release);
    }

    /// Inserts a call that has been dropped. Of more than `most` of these, the first is forgotten: as many messages are queued at
    /// most, so it rarely has one of them.
    pub(crate) fn insert_dropped(&self, call: CallNumber, most: usize) {
        let mut calls = self.calls();
        if calls.running.contains(&call) {
            return;
        }
        if calls.dropped.len() >= most {
            calls.dropped.pop_front();
        }
        calls.dropped.push_back(call);
        self.any.store(true, Ordering::Release);
    }

    pub(crate) fn remove(&self, call: CallNumber) {
        let mut calls = self.calls();
        calls.running.remove(&call);
        calls.dropped.retain(|dropped| *dropped != call);
        self.any.store(!calls.is_empty(), Ordering::Release);
    }

    /// Removes the dropped calls if no message is queued. A call sends nothing after it has been inserted, so `is_empty` is called
    /// under the lock.
    #[inline]
    pub(crate) fn remove_dropped(&self, is_empty: impl FnOnce() -> bool) {
        if self.any.load(Ordering::Acquire) {
            let mut calls = self.calls();
            if is_empty() {
                calls.dropped.clear();
                self.any.store(!calls.is_empty(), Ordering::Release);
            }
        }
    }

    /// Returns `true` if `call` is one of them.
    #[inline]
    pub(crate) fn contains(&self, call: Option<CallNumber>) -> bool {
        self.any.load(Ordering::Acquire) && call.is_some_and(|call| self.calls().contains(call))
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Calls {
    fn is_empty(&self) -> bool {
        self.running.is_empty() && self.dropped.is_empty()
    }

    fn contains(&self, call: CallNumber) -> bool {
        self.running.contains(&call) || self.dropped.contains(&call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_calls_are_bounded_until_the_queue_is_empty() {
        let (calls, mut last) = (CancelledCalls::default(), None);
        let running = CallNumber::after(last);
        calls.insert(running);
        for _ in 0..100 {
            let call = CallNumber::after(last);
            calls.insert_dropped(call, 4);
            assert!(calls.contains(Some(call)));
            assert!(calls.calls().dropped.len() <= 4);
            last = Some(call);
        }
        calls.remove_dropped(|| false);
        assert!(calls.contains(last));
        calls.remove_dropped(|| true);
        assert!(!calls.contains(last) && calls.contains(Some(running)));
        calls.remove(running);
        assert!(!calls.any.load(Ordering::Acquire));
    }
}

//! Numbers of the calls of a connection, and those of its cancelled calls.

use std::collections::HashSet;
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

/// Cancelled calls that may still run, because an abort takes effect only when the current poll of a function ends. None of their
/// messages is sent.
#[derive(Debug, Default)]
pub(crate) struct CancelledCalls {
    /// Set while there are any, so that messages need no lock otherwise.
    any: AtomicBool,
    /// Only calls in flight are added, and the end of a call removes it, so
    /// [`Limits::calls_in_flight`](crate::Limits::calls_in_flight) bounds them.
    calls: Mutex<HashSet<CallNumber>>,
}

impl CancelledCalls {
    pub(crate) fn insert(&self, call: CallNumber) {
        let mut calls = self.calls();
        calls.insert(call);
        self.any.store(true, Ordering::Release);
    }

    pub(crate) fn remove(&self, call: CallNumber) {
        let mut calls = self.calls();
        calls.remove(&call);
        self.any.store(!calls.is_empty(), Ordering::Release);
    }

    /// Returns `true` if `call` is one of them.
    #[inline]
    pub(crate) fn contains(&self, call: Option<CallNumber>) -> bool {
        self.any.load(Ordering::Acquire) && call.is_some_and(|call| self.calls().contains(&call))
    }

    fn calls(&self) -> MutexGuard<'_, HashSet<CallNumber>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

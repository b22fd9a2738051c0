//! The ids of the peer's requests, and the numbers that stand for them inside of `jsoncall`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The peer's requests that have no answer yet. The guard lets in no more of them than the backlog and the limits of
/// those who answer allow.
#[derive(Debug, Default)]
pub(super) struct RequestIds {
    state: Mutex<IdTable>,
}

#[derive(Debug, Default)]
struct IdTable {
    open: HashMap<u64, Arc<str>>,
    last: u64,
}

impl RequestIds {
    /// A number for a request whose id has this text.
    pub(super) fn open(&self, id: &str) -> u64 {
        let mut state = self.state();
        state.last += 1;
        let number = state.last;
        state.open.insert(number, id.into());
        number
    }

    /// The text of the id that a number stands for, which `jsoncall` gives back as a text too.
    pub(super) fn text(&self, number: &str) -> Option<Arc<str>> {
        let number = number.parse().ok()?;
        self.state().open.get(&number).cloned()
    }

    /// As [`RequestIds::text`], when the request has its answer or will not have one.
    pub(super) fn close(&self, number: &str) -> Option<Arc<str>> {
        let number = number.parse().ok()?;
        self.state().open.remove(&number)
    }

    fn state(&self) -> MutexGuard<'_, IdTable> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! Mapping between the peer's request ids and the numbers used within `jsoncall`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Pending requests of the peer. The guard bounds their number with the backlog and the limits of the receiver.
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
    /// Assigns a number to a request with this raw id.
    pub(super) fn open(&self, id: &str) -> u64 {
        let mut state = self.state();
        state.last += 1;
        let number = state.last;
        state.open.insert(number, id.into());
        number
    }

    /// Returns the raw id for a number, which `jsoncall` passes as text.
    pub(super) fn text(&self, number: &str) -> Option<Arc<str>> {
        let number = number.parse().ok()?;
        self.state().open.get(&number).cloned()
    }

    /// As [`RequestIds::text`], and removes the request.
    pub(super) fn close(&self, number: &str) -> Option<Arc<str>> {
        let number = number.parse().ok()?;
        self.state().open.remove(&number)
    }

    fn state(&self) -> MutexGuard<'_, IdTable> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

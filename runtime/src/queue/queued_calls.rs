//! Calls that have messages in a queue.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::cancelled_calls::CallNumber;

/// Count of the queued messages of each call that has any. Calls without messages have no entry, so there are never more entries
/// than messages, and none of a dropped call has to be evicted.
#[derive(Debug, Default)]
pub(super) struct QueuedCalls(Mutex<HashMap<CallNumber, QueuedCall>>);

#[derive(Debug, Default)]
struct QueuedCall {
    messages: usize,
    /// Set if the messages must not be sent.
    dropped: bool,
}

impl QueuedCalls {
    /// Counts a message of a call, before it is queued.
    pub(super) fn add_message(&self, call: CallNumber) {
        self.calls().entry(call).or_default().messages += 1;
    }

    /// Removes a received message of a call from its count. Returns `true` if the message must not be sent.
    pub(super) fn remove_message(&self, call: CallNumber) -> bool {
        let mut calls = self.calls();
        let Some(queued) = calls.get_mut(&call) else {
            return false;
        };
        let dropped = queued.dropped;
        queued.messages -= 1;
        if queued.messages == 0 {
            calls.remove(&call);
        }
        dropped
    }

    /// Drops the messages of a call that are queued now.
    pub(super) fn drop_messages(&self, call: CallNumber) {
        if let Some(queued) = self.calls().get_mut(&call) {
            queued.dropped = true;
        }
    }

    /// Returns the number of calls that have messages.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.calls().len()
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<CallNumber, QueuedCall>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! The end of a call in its state: what remains of it, and who waits for it.

use std::mem;
use std::sync::{Arc, PoisonError};

use super::CallState;
use crate::call::Faults;

impl CallState {
    /// Ends the call after its function, and returns the errors that may replace its failure.
    pub(in crate::call) fn end(self: &mut Arc<Self>) -> Faults {
        // If the function has dropped its context, nothing can be sent or waited for.
        let Some(state) = Arc::get_mut(self) else {
            return self.finish();
        };
        let Some(rest) = state.rest.get_mut() else {
            return Faults::default();
        };
        let live = rest.live.get_mut();
        mem::take(&mut live.unwrap_or_else(PoisonError::into_inner).faults)
    }

    /// Returns the faults at the end of a function that has layers around it.
    pub(in crate::call) fn function_faults(&self) -> Faults {
        self.live().faults.of_function()
    }

    pub(in crate::call) fn finish(&self) -> Faults {
        let mut live = self.live();
        live.finished = true;
        let (faults, awaited) = (mem::take(&mut live.faults), live.awaited);
        drop(live);
        if awaited {
            self.rest().finished.notify_waiters();
        }
        faults
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.live().finished
    }

    /// Waits for the end of the call.
    pub(crate) async fn finished(&self) {
        loop {
            let changed = self.rest().finished.notified();
            if self.note_wait() {
                return;
            }
            changed.await;
        }
    }

    /// Waits until the call has ended, or has become a task.
    pub(crate) async fn finished_or_task(&self) {
        let changed = self.rest().finished.notified();
        if !self.note_wait() && !self.is_task() {
            changed.await;
        }
    }

    /// Makes the end of the call wake its waiters. Returns `true` if the call has ended already.
    fn note_wait(&self) -> bool {
        let mut live = self.live();
        live.awaited = true;
        live.finished
    }
}

//! The end of a call.

use std::sync::Arc;
use std::task::Waker;

use crate::ask::{Level, Questions};
use crate::call::{CallState, Faults};
use crate::wire::RpcError;

/// Ends a call when it is dropped: nothing more is sent for the call, and the tasks that wait for its end are woken.
#[derive(Debug)]
pub struct Lifetime {
    state: Option<Arc<CallState>>,
    /// Set unless the call continues in the layers around its function.
    ends_call: bool,
}

impl Lifetime {
    /// Returns the guard for the function of a call, which has a state only if something needs it.
    pub(crate) fn of(state: Option<&Arc<CallState>>) -> Self {
        Self {
            state: state.cloned(),
            ends_call: state.is_some_and(|state| !state.has_layers),
        }
    }

    /// Returns the guard for the layers around the function of a call.
    #[cfg(feature = "tower")]
    pub(super) fn of_layers(state: &Arc<CallState>) -> Self {
        Self {
            state: Some(Arc::clone(state)),
            ends_call: true,
        }
    }

    /// Returns the questions that a pending function has asked its caller, as the result of this round. Without questions,
    /// `waker` is woken by the first one.
    pub(crate) fn take_questions(&self, waker: &Waker) -> Option<Result<Questions, RpcError>> {
        let state = self.state.as_ref().filter(|state| !state.is_task())?;
        state.round()?.take_questions(Level::FUNCTION, waker)
    }

    /// Ends the call. If its function has failed, one of the returned errors may replace the failure.
    pub(crate) fn end(mut self) -> Faults {
        let Some(mut state) = self.state.take() else {
            return Faults::default();
        };
        if self.ends_call {
            state.end()
        } else {
            state.function_faults()
        }
    }
}

impl Drop for Lifetime {
    fn drop(&mut self) {
        if let Some(state) = self.state.as_ref().filter(|_| self.ends_call) {
            state.finish();
        }
    }
}

//! Calls in flight, each with a task of its own.

use std::collections::HashMap;
use std::task::{Context, Poll, ready};

use tokio::task::{AbortHandle, Id, JoinSet};
use treenail_schema::RequestId;

use crate::request_id::IdKey;
use crate::server::PendingResponse;

/// Calls of a connection that did not finish in their first poll. Dropping it ends them.
#[derive(Default)]
pub(super) struct CallTasks {
    tasks: JoinSet<Vec<u8>>,
    running: HashMap<Id, RunningCall>,
    /// Handles of the calls that can be cancelled.
    handles: HashMap<IdKey, AbortHandle>,
    in_flight: usize,
}

/// Task of a call, or of the calls of a batch.
struct RunningCall {
    id: Option<IdKey>,
    calls: usize,
    /// Set if a cancelled call must have no response, although its task may have ended already.
    cancelled: bool,
}

impl CallTasks {
    /// Returns the number of calls in flight.
    pub(super) fn in_flight(&self) -> usize {
        self.in_flight
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    pub(super) fn spawn_call(&mut self, response: PendingResponse) {
        let (id, calls) = (response.key(), response.calls());
        let handle = self.tasks.spawn(response);
        self.in_flight += calls;
        self.running.insert(
            handle.id(),
            RunningCall {
                id: id.clone(),
                calls,
                cancelled: false,
            },
        );
        if let Some(id) = id {
            self.handles.insert(id, handle);
        }
    }

    /// Aborts the call with this id, if there is one.
    pub(super) fn cancel(&mut self, id: &RequestId) {
        if let Some(handle) = self.handles.remove(&IdKey::from(id)) {
            if let Some(call) = self.running.get_mut(&handle.id()) {
                call.cancelled = true;
            }
            handle.abort();
        }
    }

    /// Returns the response of the next call that finishes, or `None` if no calls are in flight.
    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Vec<u8>>> {
        loop {
            match ready!(self.tasks.poll_join_next_with_id(context)) {
                None => return Poll::Ready(None),
                Some(Ok((task, response))) => {
                    if !self.remove_call(task) {
                        return Poll::Ready(Some(response));
                    }
                }
                Some(Err(error)) => {
                    self.remove_call(error.id());
                    if !error.is_cancelled() {
                        tracing::error!(%error, "a call ended without a response");
                    }
                }
            }
        }
    }

    /// Removes a call that has ended. Returns true if it was cancelled.
    fn remove_call(&mut self, task: Id) -> bool {
        let Some(call) = self.running.remove(&task) else {
            return false;
        };
        let RunningCall {
            id,
            calls,
            cancelled,
        } = call;
        self.in_flight -= calls;
        // The handle may belong to a later call with the same id.
        let is_same_task = |id: &IdKey| self.handles.get(id).is_some_and(|it| it.id() == task);
        if let Some(id) = id.filter(is_same_task) {
            self.handles.remove(&id);
        }
        cancelled
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::task::Waker;

    use super::*;

    #[tokio::test]
    async fn a_call_that_ends_while_it_is_cancelled_has_no_response() {
        let mut calls = CallTasks::default();
        let id = RequestId::Number(1);
        let handle = calls.tasks.spawn(async { b"response".to_vec() });
        let call = RunningCall {
            id: Some(IdKey::from(&id)),
            calls: 1,
            cancelled: false,
        };
        calls.running.insert(handle.id(), call);
        calls.handles.insert(IdKey::from(&id), handle.clone());
        calls.in_flight = 1;
        while !handle.is_finished() {
            tokio::task::yield_now().await;
        }
        calls.cancel(&id);
        let next = poll_fn(|context| calls.poll_next(context)).await;
        assert_eq!(next, None, "SRV-STDIO-05");
        assert_eq!(calls.in_flight(), 0);
        let mut context = Context::from_waker(Waker::noop());
        assert!(calls.poll_next(&mut context).is_ready());
    }
}

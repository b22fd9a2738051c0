//! Calls in flight, each with a task of its own.

use std::collections::HashMap;
use std::task::{Context, Poll, ready};

use tokio::task::{AbortHandle, Id, JoinSet};
use treenail_schema::RequestId;

use crate::cancelled_calls::CallNumber;
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
    number: Option<CallNumber>,
    calls: usize,
    /// Set if a cancelled call must have no response, although its task may have ended already.
    cancelled: bool,
}

/// End of a task.
#[derive(Debug, PartialEq)]
pub(super) enum EndedCall {
    Response(Vec<u8>),
    /// The call was cancelled, so it has no response.
    Cancelled(Option<CallNumber>),
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
        let number = response.call_number();
        let handle = self.tasks.spawn(response);
        self.in_flight += calls;
        self.running.insert(
            handle.id(),
            RunningCall {
                id: id.clone(),
                number,
                calls,
                cancelled: false,
            },
        );
        if let Some(id) = id {
            self.handles.insert(id, handle);
        }
    }

    /// Aborts the call with this id, if there is one, and returns its number. A function that is being polled runs on until the end
    /// of the poll.
    pub(super) fn cancel(&mut self, id: &RequestId) -> Option<CallNumber> {
        let handle = self.handles.remove(&IdKey::from(id))?;
        handle.abort();
        let call = self.running.get_mut(&handle.id())?;
        call.cancelled = true;
        call.number
    }

    /// Returns the next call that ends, or `None` if no calls are in flight.
    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<EndedCall>> {
        loop {
            let (task, response) = match ready!(self.tasks.poll_join_next_with_id(context)) {
                None => return Poll::Ready(None),
                Some(Ok((task, response))) => (task, Some(response)),
                Some(Err(error)) => {
                    if !error.is_cancelled() {
                        tracing::error!(%error, "a call ended without a response");
                    }
                    (error.id(), None)
                }
            };
            let ended = match self.remove_call(task).filter(|call| call.cancelled) {
                Some(call) => Some(EndedCall::Cancelled(call.number)),
                None => response.map(EndedCall::Response),
            };
            if ended.is_some() {
                return Poll::Ready(ended);
            }
        }
    }

    /// Removes a call that has ended.
    fn remove_call(&mut self, task: Id) -> Option<RunningCall> {
        let call = self.running.remove(&task)?;
        self.in_flight -= call.calls;
        // The handle may belong to a later call with the same id.
        let is_same_task = |id: &IdKey| self.handles.get(id).is_some_and(|it| it.id() == task);
        if let Some(id) = call.id.as_ref().filter(|id| is_same_task(id)) {
            self.handles.remove(id);
        }
        Some(call)
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
            number: Some(CallNumber::after(None)),
            calls: 1,
            cancelled: false,
        };
        calls.running.insert(handle.id(), call);
        calls.handles.insert(IdKey::from(&id), handle.clone());
        calls.in_flight = 1;
        while !handle.is_finished() {
            tokio::task::yield_now().await;
        }
        let number = calls.cancel(&id);
        assert!(number.is_some());
        let next = poll_fn(|context| calls.poll_next(context)).await;
        assert_eq!(next, Some(EndedCall::Cancelled(number)), "SRV-STDIO-05");
        assert_eq!(calls.in_flight(), 0);
        let mut context = Context::from_waker(Waker::noop());
        assert!(calls.poll_next(&mut context).is_ready());
    }
}

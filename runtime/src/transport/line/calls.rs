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
            },
        );
        if let Some(id) = id {
            self.handles.insert(id, handle);
        }
    }

    /// Aborts the call with this id, if there is one.
    pub(super) fn cancel(&mut self, id: &RequestId) {
        if let Some(handle) = self.handles.remove(&IdKey::from(id)) {
            handle.abort();
        }
    }

    /// Returns the response of the next call that finishes, or `None` if no calls are in flight.
    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Vec<u8>>> {
        loop {
            match ready!(self.tasks.poll_join_next_with_id(context)) {
                None => return Poll::Ready(None),
                Some(Ok((task, response))) => {
                    self.remove_call(task);
                    return Poll::Ready(Some(response));
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

    fn remove_call(&mut self, task: Id) {
        let Some(RunningCall { id, calls }) = self.running.remove(&task) else {
            return;
        };
        self.in_flight -= calls;
        // The handle may belong to a later call with the same id.
        let is_same_task = |id: &IdKey| self.handles.get(id).is_some_and(|it| it.id() == task);
        if let Some(id) = id.filter(is_same_task) {
            self.handles.remove(&id);
        }
    }
}

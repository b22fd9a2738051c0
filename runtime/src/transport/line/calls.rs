//! The calls in flight that have a task of their own.

use std::collections::HashMap;
use std::task::{Context, Poll, ready};

use tokio::task::{AbortHandle, Id, JoinSet};
use treenail_schema::RequestId;

use crate::request_id::IdKey;
use crate::server::PendingResponse;

/// The calls of a session that were not ready at once. Dropping it ends them.
#[derive(Default)]
pub(super) struct Calls {
    tasks: JoinSet<Vec<u8>>,
    running: HashMap<Id, Running>,
    /// Those that can be cancelled.
    handles: HashMap<IdKey, AbortHandle>,
    in_flight: usize,
}

struct Running {
    id: Option<IdKey>,
    calls: usize,
}

impl Calls {
    /// How many calls are in flight.
    pub(super) fn in_flight(&self) -> usize {
        self.in_flight
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    pub(super) fn start(&mut self, answer: PendingResponse) {
        let (id, calls) = (answer.key(), answer.calls());
        let handle = self.tasks.spawn(answer);
        self.in_flight += calls;
        self.running.insert(
            handle.id(),
            Running {
                id: id.clone(),
                calls,
            },
        );
        if let Some(id) = id {
            self.handles.insert(id, handle);
        }
    }

    /// Ends a call, if there is one of this id.
    pub(super) fn cancel(&mut self, id: &RequestId) {
        if let Some(handle) = self.handles.remove(&IdKey::from(id)) {
            handle.abort();
        }
    }

    /// The answer of the next call that is finished.
    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Vec<u8>>> {
        loop {
            match ready!(self.tasks.poll_join_next_with_id(context)) {
                None => return Poll::Ready(None),
                Some(Ok((task, answer))) => {
                    self.forget(task);
                    return Poll::Ready(Some(answer));
                }
                Some(Err(error)) => {
                    self.forget(error.id());
                    if !error.is_cancelled() {
                        tracing::error!(%error, "a call was lost");
                    }
                }
            }
        }
    }

    fn forget(&mut self, task: Id) {
        let Some(Running { id, calls }) = self.running.remove(&task) else {
            return;
        };
        self.in_flight -= calls;
        // A later call may have the same id.
        if let Some(id) = id.filter(|id| self.handles.get(id).is_some_and(|it| it.id() == task)) {
            self.handles.remove(&id);
        }
    }
}

//! Result of a task in revision 2025-11-25.

use std::task::{Context, Poll, ready};

use treenail_runtime::client::ClientError;

use crate::client::remote::{Owned, RemoteTask};
use crate::client::snapshot::TaskUpdate;

/// Request of `tasks/result` of revision 2025-11-25, which the server answers at the end of the task. Over HTTP, its stream
/// carries the questions of the task.
pub(super) enum Payload {
    /// The revision has no such request.
    None,
    Waiting(Request),
    /// The request failed. The state of the task decides whether with the error of the task.
    Failed(Failure),
}

pub(super) struct Request {
    response: Owned<Result<String, ClientError>>,
    /// True if the task was known to have ended before.
    after_end: bool,
}

pub(super) struct Failure {
    error: ClientError,
    /// True if the task was known to have ended before the request.
    after_end: bool,
    /// True if a poll has failed since.
    is_old: bool,
}

impl Payload {
    /// Requests the result, if the revision requires it.
    pub(super) fn new(task: &RemoteTask) -> Self {
        if task.is_modern() {
            return Self::None;
        }
        Self::request(task, false)
    }

    fn request(task: &RemoteTask, after_end: bool) -> Self {
        let response = task.result();
        Self::Waiting(Request {
            response,
            after_end,
        })
    }

    /// Returns the result, or the error of the request.
    pub(super) fn poll(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<String, ClientError>>> {
        let Self::Waiting(request) = self else {
            return Poll::Pending;
        };
        let result = ready!(request.response.as_mut().poll(context));
        if let Err(error) = &result {
            *self = Self::Failed(Failure {
                error: error.clone(),
                after_end: request.after_end,
                is_old: false,
            });
        }
        Poll::Ready(Some(result))
    }

    /// Returns true if a request was refused that was sent after the end of the task.
    pub(super) fn is_refused_after_end(&self) -> bool {
        matches!(self, Self::Failed(failure) if failure.after_end && failure.is_refused())
    }

    /// Notes a failed poll.
    pub(super) fn note_failed_poll(&mut self) {
        if let Self::Failed(failure) = self {
            failure.is_old = true;
        }
    }

    /// Returns the error of the task, if it has ended with one. Requests the result again if the request has failed. The error
    /// of a request before the end may be one of the server, such as a store that was away.
    pub(super) fn note_state(
        &mut self,
        task: &RemoteTask,
        update: &TaskUpdate,
    ) -> Option<ClientError> {
        let Self::Failed(failure) = self else {
            return None;
        };
        let has_ended = update.is_final();
        if has_ended && failure.after_end && failure.is_refused() {
            return Some(failure.error.clone());
        }
        *self = Self::request(task, has_ended);
        None
    }

    /// Returns the error of a task that the server no longer knows: some forget a task whose result they have sent.
    pub(super) fn take_error(&self) -> Option<ClientError> {
        let Self::Failed(failure) = self else {
            return None;
        };
        let is_of_task = failure.after_end || !failure.is_old;
        (is_of_task && failure.is_refused()).then(|| failure.error.clone())
    }
}

impl Failure {
    fn is_refused(&self) -> bool {
        self.error.as_refused().is_some()
    }
}

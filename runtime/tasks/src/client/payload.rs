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
    /// The request was refused, and no poll has been answered since. The error may be that of the task or one of the server, such
    /// as a store that was away.
    Refused(ClientError),
    /// A request that was sent after the end of the task was refused, with the error of the task.
    RefusedAfterEnd(ClientError),
    /// The request failed, with an error that is not that of the task.
    Failed,
}

pub(super) struct Request {
    response: Owned<Result<String, ClientError>>,
    /// True if the task was known to have ended before.
    after_end: bool,
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
            *self = match error.as_refused() {
                None => Self::Failed,
                Some(_) if request.after_end => Self::RefusedAfterEnd(error.clone()),
                Some(_) => Self::Refused(error.clone()),
            };
        }
        Poll::Ready(Some(result))
    }

    /// Returns true if a request was refused that was sent after the end of the task.
    pub(super) fn is_refused_after_end(&self) -> bool {
        matches!(self, Self::RefusedAfterEnd(_))
    }

    /// Notes a failed poll: the server fails, so an error before may be its own.
    pub(super) fn note_failed_poll(&mut self) {
        if matches!(self, Self::Refused(_)) {
            *self = Self::Failed;
        }
    }

    /// Returns the error of the task, if it has ended with one. Requests the result again if the request has failed.
    pub(super) fn note_state(
        &mut self,
        task: &RemoteTask,
        update: &TaskUpdate,
    ) -> Option<ClientError> {
        let has_ended = update.is_final();
        match self {
            Self::None | Self::Waiting(_) => return None,
            Self::RefusedAfterEnd(error) if has_ended => return Some(error.clone()),
            Self::Refused(_) | Self::RefusedAfterEnd(_) | Self::Failed => {}
        }
        *self = Self::request(task, has_ended);
        None
    }

    /// Returns the error of a task that the server no longer knows: some forget a task whose result they have sent.
    pub(super) fn error(&self) -> Option<ClientError> {
        match self {
            Self::Refused(error) | Self::RefusedAfterEnd(error) => Some(error.clone()),
            Self::None | Self::Waiting(_) | Self::Failed => None,
        }
    }
}

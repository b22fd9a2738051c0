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
    Waiting(Owned<Result<String, ClientError>>),
    /// The request failed. The state of the task decides whether with the error of the task.
    Failed(ClientError),
}

impl Payload {
    /// Requests the result, if the revision requires it.
    pub(super) fn new(task: &RemoteTask) -> Self {
        if task.is_modern() {
            return Self::None;
        }
        Self::Waiting(task.result())
    }

    /// Returns the result, or the error of the request.
    pub(super) fn poll(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<String, ClientError>>> {
        let Self::Waiting(request) = self else {
            return Poll::Pending;
        };
        let result = ready!(request.as_mut().poll(context));
        if let Err(error) = &result {
            *self = Self::Failed(error.clone());
        }
        Poll::Ready(Some(result))
    }

    /// Returns the error of the task, if it has ended with one. Requests the result again if the request has failed.
    pub(super) fn note_state(
        &mut self,
        task: &RemoteTask,
        update: &TaskUpdate,
    ) -> Option<ClientError> {
        let Self::Failed(error) = self else {
            return None;
        };
        if update.is_final() && error.as_refused().is_some() {
            return Some(error.clone());
        }
        *self = Self::Waiting(task.result());
        None
    }

    /// Returns the error of a refused request.
    pub(super) fn take_error(&self) -> Option<ClientError> {
        match self {
            Self::Failed(error @ ClientError::Refused(_)) => Some(error.clone()),
            _ => None,
        }
    }
}

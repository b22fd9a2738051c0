//! Cancellation of a task whose caller has dropped its call.

use tokio::runtime::Handle;
use treenail_runtime::internal::in_background;

use crate::client::remote::RemoteTask;

/// Guard that cancels a task in the background when it is dropped.
#[derive(Debug)]
pub(super) struct CancelOnDrop(Option<RemoteTask>);

impl CancelOnDrop {
    pub(super) fn new(task: RemoteTask) -> Self {
        Self(Some(task))
    }

    /// Lets the task be.
    pub(super) fn disarm(&mut self) {
        self.0 = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let (Some(task), Ok(runtime)) = (self.0.take(), Handle::try_current()) else {
            return;
        };
        runtime.spawn(in_background(async move {
            if let Err(error) = task.cancel().await {
                tracing::debug!(%error, "a task could not be cancelled");
            }
        }));
    }
}

//! Waits for the tasks that plain calls have become.

use std::future::ready;
use std::sync::{Arc, OnceLock};

use tokio::sync::Semaphore;
use treenail_runtime::client::{ClientError, McpClientSession};
use treenail_runtime::internal::{
    CreatedTask, StatusSink, TaskDriver, TaskFuture, TaskSession as _,
};

use crate::client::cancel::CancelOnDrop;
use crate::client::observer::{Observer, Publish};
use crate::client::remote::RemoteTask;
use crate::client::snapshot::Snapshot;

/// Driver of one client. Its permits are created with the first task, when the limits of the client are known.
#[derive(Debug, Default)]
pub(super) struct Driver {
    permits: OnceLock<Arc<Semaphore>>,
}

impl TaskDriver for Driver {
    fn outcome(&self, created: CreatedTask) -> TaskFuture {
        let (task, first) = match read_created(&created) {
            Ok(created) => created,
            Err(error) => return Box::pin(ready(Err(error))),
        };
        let mut guard = CancelOnDrop::new(task.clone());
        let publish = report_to(created.on_status);
        let observer = Observer::created(task, &first, publish);
        Box::pin(async move {
            let outcome = observer.run().await;
            if outcome.has_ended {
                guard.disarm();
            }
            outcome.result
        })
    }

    fn subscription_permits(&self, max: usize) -> Arc<Semaphore> {
        let permits = self
            .permits
            .get_or_init(|| Arc::new(Semaphore::new(max.min(Semaphore::MAX_PERMITS))));
        Arc::clone(permits)
    }
}

/// Returns the task of a result that created it, and its first state.
pub(super) fn read_created(created: &CreatedTask) -> Result<(RemoteTask, Snapshot), ClientError> {
    let is_modern = created.session().protocol_version().is_modern();
    let first = Snapshot::read_created(&created.text, is_modern)?;
    Ok((RemoteTask::new(&created.session(), &first.id)?, first))
}

/// Returns the permits for subscriptions of a session.
pub(super) fn permits(session: &McpClientSession) -> Option<Arc<Semaphore>> {
    let max = session.client_limits().tasks.subscriptions;
    Some(session.driver()?.subscription_permits(max))
}

/// Returns a callback that reports each new status message.
pub(super) fn report_to(on_status: Option<StatusSink>) -> Publish {
    let mut last = None;
    Box::new(move |update| {
        let (Some(report), Some(message)) = (&on_status, &update.message) else {
            return;
        };
        if last.as_ref() != Some(message) {
            report(message);
            last = Some(message.clone());
        }
    })
}

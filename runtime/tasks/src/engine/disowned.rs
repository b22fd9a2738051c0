//! Tasks that may be stored although no client knows them: their calls have remained plain ones, and no process may run them again.

use std::sync::{MutexGuard, PoisonError};

use tokio::time::Instant;
use treenail_runtime::internal::deadline;

use super::Engine;
use crate::run::Run;
use crate::store::TaskId;

/// Maximum number of these tasks. Those beyond it are left to their leases.
const MOST: usize = 16_384;

/// Task that is removed if it is found.
#[derive(Debug)]
pub(super) struct Disowned {
    id: TaskId,
    version: u64,
    /// After this time, an insertion is not on its way any more.
    until: Instant,
}

impl Engine {
    /// Lets the sweeper remove the task of a run that has not begun.
    pub(crate) fn disown(&self, run: &Run) {
        self.add_disowned([Disowned {
            id: run.key.id.clone(),
            version: run.version(),
            until: deadline::after(self.limits.lease.saturating_mul(2)),
        }]);
    }

    /// Removes those tasks that are stored.
    pub(crate) async fn remove_disowned(&self) {
        let mut left = std::mem::take(&mut *self.disowned());
        let mut checked = Vec::new();
        while let Some(task) = left.pop() {
            match self.remove(&task.id, task.version).await {
                Ok(true) => tracing::debug!(id = ?task.id, "an unused task was removed"),
                Ok(false) if task.until <= Instant::now() => {}
                Ok(false) => checked.push(task),
                Err(error) => {
                    tracing::warn!(id = ?task.id, %error, "an unused task could not be removed");
                    checked.push(task);
                    break;
                }
            }
        }
        checked.append(&mut left);
        self.add_disowned(checked);
    }

    fn add_disowned(&self, tasks: impl IntoIterator<Item = Disowned>) {
        let mut disowned = self.disowned();
        disowned.extend(tasks);
        disowned.truncate(MOST);
    }

    fn disowned(&self) -> MutexGuard<'_, Vec<Disowned>> {
        let disowned = self.disowned.lock();
        disowned.unwrap_or_else(PoisonError::into_inner)
    }
}

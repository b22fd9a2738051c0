//! Changes of tasks by requests, from any process.

use treenail_runtime::RpcError;

use super::Engine;
use super::access::Loaded;
use super::stores::store_failed;
use crate::record::Damaged;

/// Maximum number of attempts to change a task that others change at the same time.
const ATTEMPTS: usize = 32;

impl Engine {
    /// Changes a task of `owner`. `edit` returns `false` if nothing is to be stored; it runs again if another change was first.
    pub(crate) async fn edit(
        &self,
        id: &str,
        owner: &str,
        mut edit: impl FnMut(&mut Loaded) -> Result<bool, RpcError>,
    ) -> Result<Loaded, RpcError> {
        for _ in 0..ATTEMPTS {
            let mut loaded = self.load(id, owner).await?;
            if !edit(&mut loaded)? {
                return Ok(loaded);
            }
            if self.store_edited(&mut loaded).await? {
                return Ok(loaded);
            }
            tokio::task::yield_now().await;
        }
        Err(RpcError::internal("the task changes too often; try again"))
    }

    /// Stores a changed task, unless it has been changed meanwhile.
    async fn store_edited(&self, loaded: &mut Loaded) -> Result<bool, RpcError> {
        let Loaded {
            key,
            version,
            record,
        } = loaded;
        let wake = record.wake(key.created_ms);
        let stored = record.store(key, *version + 1).map_err(not_written)?;
        let replaced = self.replace(stored, wake).await;
        let replaced = replaced.map_err(|error| store_failed(&error))?;
        if replaced {
            *version += 1;
            self.on_change(key, *version, record);
        }
        Ok(replaced)
    }
}

/// Returns the error for a record that cannot be written.
pub(crate) fn not_written(damaged: Damaged) -> RpcError {
    let problem = damaged.problem;
    tracing::error!(%problem, "the record of a task could not be written");
    RpcError::internal("the task could not be stored")
}

//! Access of clients to tasks: a task of another owner does not exist for them.

use treenail_runtime::{Context, RpcError};

use super::Engine;
use super::stores::store_failed;
use crate::record::{Newer, Record, TaskKey};
use crate::store::{StoreError, StoredTask};

/// Task that has been read for a client.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) key: TaskKey,
    pub(crate) version: u64,
    pub(crate) record: Record,
}

impl Loaded {
    /// Reads a stored task. A damaged one reads as a failed one.
    pub(crate) fn read(stored: &StoredTask) -> Result<Self, Newer> {
        let record = match Record::read(stored) {
            Ok(record) => record,
            Err(error) => {
                Newer::check(&[&stored.body, &stored.state])?;
                let (id, problem) = (&stored.id, &error.problem);
                tracing::error!(?id, %problem, "a stored task is damaged");
                Record::damaged(stored.created_ms)
            }
        };
        Ok(Self {
            key: stored.into(),
            version: stored.version,
            record,
        })
    }
}

/// Returns the owner of the tasks of a caller: its principal, or the empty text.
pub(crate) fn owner(context: &Context) -> &str {
    context
        .principal()
        .map_or("", |principal| principal.as_str())
}

/// Returns the error for a task that does not exist for the caller.
fn unknown_task() -> RpcError {
    RpcError::invalid_params("there is no task with this `taskId`; it may have expired")
}

impl Engine {
    /// Returns a task of `owner`.
    pub(crate) async fn load(&self, id: &str, owner: &str) -> Result<Loaded, RpcError> {
        let found = self.find(id, owner).await;
        let found = found.map_err(|error| store_failed(&error))?;
        Loaded::read(&found.ok_or_else(unknown_task)?).map_err(|newer| newer.to_rpc_error())
    }

    /// Returns the record of a task of `owner`, or `None` if it has none with this id.
    pub(crate) async fn find(
        &self,
        id: &str,
        owner: &str,
    ) -> Result<Option<StoredTask>, StoreError> {
        let Ok(id) = id.parse() else {
            return Ok(None);
        };
        let stored = self.get(&id).await?;
        Ok(stored.filter(|task| task.owner == owner))
    }

    /// Returns the state of a task of `owner`, without its body and without decoding it.
    pub(crate) async fn poll(&self, id: &str, owner: &str) -> Result<StoredTask, RpcError> {
        let id = id.parse().map_err(|_| unknown_task())?;
        let stored = self.state(&id).await;
        let stored = stored.map_err(|error| store_failed(&error))?;
        let stored = stored.filter(|task| task.owner == owner);
        stored.ok_or_else(unknown_task)
    }
}

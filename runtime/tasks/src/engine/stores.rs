//! Operations of the store, with a timeout and the errors that clients see.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::time::timeout;
use treenail_runtime::RpcError;

use super::Engine;
use crate::store::{StoreError, StoreUsage, StoredTask, TaskId};

impl Engine {
    pub(crate) async fn insert(&self, task: StoredTask, wake: Duration) -> Result<(), StoreError> {
        self.timed(self.store.insert(task, wake)).await
    }

    pub(crate) async fn get(&self, id: &TaskId) -> Result<Option<StoredTask>, StoreError> {
        self.timed(self.store.get(id)).await
    }

    pub(crate) async fn state(&self, id: &TaskId) -> Result<Option<StoredTask>, StoreError> {
        self.timed(self.store.state(id)).await
    }

    pub(crate) async fn replace(
        &self,
        task: StoredTask,
        wake: Duration,
    ) -> Result<bool, StoreError> {
        self.timed(self.store.replace(task, wake)).await
    }

    pub(crate) async fn remove(&self, id: &TaskId, version: u64) -> Result<bool, StoreError> {
        self.timed(self.store.remove(id, version)).await
    }

    pub(crate) async fn due(&self, limit: usize) -> Result<Vec<StoredTask>, StoreError> {
        self.timed(self.store.due(limit)).await
    }

    pub(crate) async fn list(
        &self,
        owner: &str,
        after: Option<&TaskId>,
        limit: usize,
    ) -> Result<Vec<StoredTask>, StoreError> {
        self.timed(self.store.list(owner, after, limit)).await
    }

    pub(crate) async fn usage(&self, owner: &str) -> Result<StoreUsage, StoreError> {
        self.timed(self.store.usage(owner)).await
    }

    async fn timed<T>(
        &self,
        operation: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let mut operation = pin!(operation);
        // Some operations are ready at once, and cost no timer.
        let at_once = poll_fn(|context| Poll::Ready(operation.as_mut().poll(context)));
        if let Poll::Ready(done) = at_once.await {
            return done;
        }
        let within = self.limits.store_timeout;
        timeout(within, operation).await.unwrap_or_else(|_| {
            Err(StoreError::Unavailable(format!(
                "no response within {within:?}"
            )))
        })
    }
}

/// Returns the error for a client whose request needs the store.
pub(crate) fn store_failed(error: &StoreError) -> RpcError {
    tracing::warn!(%error, "the task store failed a request");
    // The text of the error may name hosts or files.
    RpcError::internal(match error {
        StoreError::Full(_) => "the task store is full",
        StoreError::Unavailable(_) => "the task store is unavailable; try again later",
        _ => "the task store failed",
    })
}

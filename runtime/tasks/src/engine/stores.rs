//! Operations of the store, with a timeout and the errors that clients see.

use std::future::{Future as _, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::time::timeout;
use treenail_runtime::RpcError;

use super::Engine;
use crate::store::{StoreError, StoreFuture, StoreUsage, StoredTask, TaskId, TaskStore};

impl Engine {
    pub(crate) async fn insert(&self, task: StoredTask, wake: Duration) -> Result<(), StoreError> {
        self.timed(|store| store.insert(task, wake)).await
    }

    pub(crate) async fn get(&self, id: &TaskId) -> Result<Option<StoredTask>, StoreError> {
        self.timed(|store| store.get(id)).await
    }

    pub(crate) async fn state(&self, id: &TaskId) -> Result<Option<StoredTask>, StoreError> {
        self.timed(|store| store.state(id)).await
    }

    pub(crate) async fn replace(
        &self,
        task: StoredTask,
        wake: Duration,
    ) -> Result<bool, StoreError> {
        self.timed(|store| store.replace(task, wake)).await
    }

    pub(crate) async fn remove(&self, id: &TaskId, version: u64) -> Result<bool, StoreError> {
        self.timed(|store| store.remove(id, version)).await
    }

    pub(crate) async fn due(&self, limit: usize) -> Result<Vec<StoredTask>, StoreError> {
        self.timed(|store| store.due(limit)).await
    }

    pub(crate) async fn list(
        &self,
        owner: &str,
        after: Option<&TaskId>,
        limit: usize,
    ) -> Result<Vec<StoredTask>, StoreError> {
        self.timed(|store| store.list(owner, after, limit)).await
    }

    pub(crate) async fn usage(&self, owner: &str) -> Result<StoreUsage, StoreError> {
        self.timed(|store| store.usage(owner)).await
    }

    pub(crate) fn is_durable(&self) -> bool {
        self.store.is_durable()
    }

    /// Runs an operation of the store. A panic of the store, which the user may have written, is an error.
    async fn timed<'a, T>(
        &'a self,
        operation: impl FnOnce(&'a dyn TaskStore) -> StoreFuture<'a, T>,
    ) -> Result<T, StoreError> {
        let mut started = caught(|| operation(&*self.store))?;
        let mut operation = pin!(poll_fn(|context| {
            caught(|| started.as_mut().poll(context))
                .unwrap_or_else(|error| Poll::Ready(Err(error)))
        }));
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

/// Runs a part of the store.
fn caught<T>(part: impl FnOnce() -> T) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(part))
        .map_err(|_| StoreError::Other("the store panicked".to_owned()))
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

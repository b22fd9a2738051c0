//! Stores of tasks: the trait, and the stores of this crate.

mod error;
mod id;
mod memory;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "redis")]
mod redis;
mod shared;
#[cfg(feature = "durable-tasks")]
mod sqlite;
mod stored_task;

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

pub use self::error::StoreError;
pub use self::id::{ParseTaskIdError, TaskId};
pub use self::memory::MemoryStore;
#[cfg(feature = "postgres")]
pub use self::postgres::{PostgresStore, PostgresStoreBuilder};
#[cfg(feature = "redis")]
pub use self::redis::RedisStore;
#[cfg(feature = "durable-tasks")]
pub use self::sqlite::{SqliteStore, SqliteStoreBuilder};
pub use self::stored_task::{StoreUsage, StoredTask};

/// Future of a [`TaskStore`].
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Place where tasks are stored.
///
/// A store is a table of [`StoredTask`]s with two orders: the wake time, and the time of creation for each owner. It knows
/// nothing of the contents. Every change of a stored task is a compare-and-swap on its version, so that of several processes
/// that change one task only one succeeds.
///
/// A change is durable once its future resolves: it survives as much as the store promises. A future that is dropped leaves
/// open whether the change was made. So does an error other than [`Duplicate`](StoreError::Duplicate) and
/// [`Full`](StoreError::Full).
///
/// Wake times are relative to the clock of the store, which all processes share. A process with a wrong clock therefore takes
/// no task from another.
///
/// The feature `test-tasks` has tests for stores of your own.
pub trait TaskStore: Debug + Send + Sync + 'static {
    /// Stores a new task, which is due after `wake`.
    ///
    /// # Errors
    ///
    /// [`StoreError::Duplicate`] if the store has a task with this id.
    fn insert(&self, task: StoredTask, wake: Duration) -> StoreFuture<'_, ()>;

    /// Returns a task, or `None` if the store has none with this id.
    fn get<'a>(&'a self, id: &'a TaskId) -> StoreFuture<'a, Option<StoredTask>>;

    /// Returns a task as [`get`](Self::get) does, with an empty body. Clients poll tasks while they run, and a body may be much
    /// larger than a state. The default reads the body.
    fn state<'a>(&'a self, id: &'a TaskId) -> StoreFuture<'a, Option<StoredTask>> {
        let found = self.get(id);
        Box::pin(async move {
            let mut found = found.await?;
            if let Some(task) = &mut found {
                task.body.clear();
            }
            Ok(found)
        })
    }

    /// Replaces a task whose stored version is `task.version - 1`, and makes it due after `wake`. Returns `false` if the stored
    /// version differs or the store has no such task. `owner` and `created_ms` of a stored task do not change.
    fn replace(&self, task: StoredTask, wake: Duration) -> StoreFuture<'_, bool>;

    /// Removes a task whose stored version is `version`. Returns `false` if the stored version differs or the store has no such
    /// task.
    fn remove<'a>(&'a self, id: &'a TaskId, version: u64) -> StoreFuture<'a, bool>;

    /// Returns at most `limit` tasks whose wake time has passed, the longest due first. They remain due until they are replaced
    /// or removed.
    fn due(&self, limit: usize) -> StoreFuture<'_, Vec<StoredTask>>;

    /// Returns at most `limit` tasks of an owner in order of `created_ms`, then id. With `after`, the list starts behind that
    /// task.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownTask`] if the owner has no task `after`, such as after its removal.
    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<&'a TaskId>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<StoredTask>>;

    /// Returns the number and size of the tasks of an owner.
    fn usage<'a>(&'a self, owner: &'a str) -> StoreFuture<'a, StoreUsage>;

    /// Returns `true` if tasks outlive the process. Otherwise a server that [closes](treenail_runtime::Server::close) creates no
    /// more tasks, because their clients would wait in vain. Default `true`.
    fn is_durable(&self) -> bool {
        true
    }
}

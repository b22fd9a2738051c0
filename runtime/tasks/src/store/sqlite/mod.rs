//! Store in a file of SQLite.

mod builder;
mod failure;
mod read;
mod readers;
mod schema;
mod writer;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;

pub use self::builder::SqliteStoreBuilder;
use self::failure::store_error;
use self::readers::Readers;
use self::writer::{Change, Writer};
use super::{StoreError, StoreFuture, StoreUsage, StoredTask, TaskId, TaskStore};
use crate::clock;

/// [`TaskStore`] in a file of SQLite. Requires the feature `durable-tasks`.
///
/// A change is on the disk before its future resolves: it survives a killed process and the loss of power, if the disk does what it
/// reports. Changes that wait at the same time share one write to the disk.
///
/// Several processes on one computer may share the file, with the clock of that computer. The file must be on a local disk:
/// SQLite cannot share files over a network. Beside it are two more, with the endings `-wal` and `-shm`, which belong to it. New
/// files are accessible to their user only.
///
/// While the store is open, the program must not open or copy the file by other means: on Unix, this would end the locks of SQLite.
///
/// Each server needs a file of its own.
///
/// ```
/// use treenail::tasks::SqliteStore;
///
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("tasks.db");
/// let store = SqliteStore::open(path)?;
/// # let _ = store;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(feature = "durable-tasks")]
#[derive(Clone)]
pub struct SqliteStore {
    writer: Writer,
    readers: Arc<Readers>,
}

impl SqliteStore {
    /// Opens the file at `path`, or creates it. Blocks while the disk is accessed.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] if the file cannot be opened or written. [`StoreError::Other`] if it is not a file of this
    /// store, or of a newer version of it.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::builder().open(path)
    }

    /// Creates a builder for a store with other settings.
    pub fn builder() -> SqliteStoreBuilder {
        SqliteStoreBuilder::default()
    }
}

impl SqliteStore {
    /// Reads one small row.
    async fn row<T: Send + 'static>(
        &self,
        query: impl Fn(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        if let Some(read) = self.readers.read_here(&query) {
            return read;
        }
        let query =
            move |connection: &Connection| query(connection).map_err(|error| store_error(&error));
        self.readers.read(query).await
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SqliteStore")
            .field("path", &self.readers.path())
            .finish_non_exhaustive()
    }
}

impl TaskStore for SqliteStore {
    fn insert(&self, task: StoredTask, wake: Duration) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            if self.writer.change(Change::Insert(task, wake)).await? {
                Ok(())
            } else {
                Err(StoreError::Duplicate)
            }
        })
    }

    fn get<'a>(&'a self, id: &'a TaskId) -> StoreFuture<'a, Option<StoredTask>> {
        let id = id.clone();
        Box::pin(self.readers.read(move |connection| {
            read::get(connection, &id).map_err(|error| store_error(&error))
        }))
    }

    fn state<'a>(&'a self, id: &'a TaskId) -> StoreFuture<'a, Option<StoredTask>> {
        Box::pin(async move {
            let id = id.clone();
            self.row(move |connection| read::state(connection, &id))
                .await
        })
    }

    fn replace(&self, task: StoredTask, wake: Duration) -> StoreFuture<'_, bool> {
        Box::pin(self.writer.change(Change::Replace(task, wake)))
    }

    fn remove<'a>(&'a self, id: &'a TaskId, version: u64) -> StoreFuture<'a, bool> {
        Box::pin(self.writer.change(Change::Remove(id.clone(), version)))
    }

    fn due(&self, limit: usize) -> StoreFuture<'_, Vec<StoredTask>> {
        Box::pin(
            self.readers
                .read(move |connection| read::due(connection, limit)),
        )
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<&'a TaskId>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<StoredTask>> {
        let (owner, after) = (owner.to_owned(), after.cloned());
        let page =
            move |connection: &Connection| read::list(connection, &owner, after.as_ref(), limit);
        Box::pin(self.readers.read(page))
    }

    fn usage<'a>(&'a self, owner: &'a str) -> StoreFuture<'a, StoreUsage> {
        Box::pin(async move {
            let owner = owner.to_owned();
            self.row(move |connection| read::usage(connection, &owner))
                .await
        })
    }
}

/// Returns the time of the system in milliseconds since 1970.
fn now_ms() -> i64 {
    i64::try_from(clock::now_ms()).unwrap_or(i64::MAX)
}

/// Returns the time in `wake`.
fn wake_ms(now_ms: i64, wake: Duration) -> i64 {
    now_ms.saturating_add(i64::try_from(wake.as_millis()).unwrap_or(i64::MAX))
}

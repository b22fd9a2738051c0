//! Settings of a store in a file.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::SqliteStore;
use super::failure;
use super::readers::Readers;
use super::schema::{self, Settings};
use super::writer::Writer;
use crate::store::StoreError;

/// Longest timeout of SQLite: 2³¹ - 1 ms.
const MAX_LOCK_TIMEOUT: Duration = Duration::from_millis(2_147_483_647);

/// Settings of a [`SqliteStore`].
///
/// ```
/// use std::time::Duration;
///
/// use treenail::tasks::SqliteStore;
///
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("tasks.db");
/// let store = SqliteStore::builder()
///     .max_bytes(100 << 20)
///     .lock_timeout(Duration::from_secs(2))
///     .open(path)?;
/// # let _ = store;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(feature = "durable-tasks")]
#[derive(Debug, Clone)]
pub struct SqliteStoreBuilder {
    settings: Settings,
    readers: usize,
}

impl Default for SqliteStoreBuilder {
    fn default() -> Self {
        Self {
            settings: Settings {
                max_bytes: 1 << 30,
                lock_timeout: Duration::from_secs(5),
            },
            readers: 4,
        }
    }
}

impl SqliteStoreBuilder {
    /// Sets the maximum size of the file in bytes, without the file `-wal`. A change beyond it fails with
    /// [`StoreError::Full`]. The last eighth is a reserve for changes that make no task longer: in a full file, leases are renewed
    /// and tasks can be cancelled. Default 1 GiB.
    #[must_use]
    pub fn max_bytes(mut self, max_bytes: u64) -> Self {
        self.settings.max_bytes = max_bytes;
        self
    }

    /// Sets the timeout for changes of other processes. Default 5 s, at most 24 days.
    #[must_use]
    pub fn lock_timeout(mut self, lock_timeout: Duration) -> Self {
        self.settings.lock_timeout = lock_timeout.min(MAX_LOCK_TIMEOUT);
        self
    }

    /// Sets the maximum number of concurrent reads, at least 1. Each takes up to 2 MiB of memory. Default 4.
    #[must_use]
    pub fn max_readers(mut self, max_readers: usize) -> Self {
        self.readers = max_readers.max(1);
        self
    }

    /// Opens the file at `path`, or creates it. Blocks while the disk is accessed.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] if the file cannot be opened or written. [`StoreError::Other`] if it is not a file of this
    /// store, or of a newer version of it.
    pub fn open(self, path: impl AsRef<Path>) -> Result<SqliteStore, StoreError> {
        let path = path.as_ref();
        let connection = schema::open_writer(path, &self.settings)?;
        let writer = Writer::spawn(connection)?;
        // Readers open it later, when the process may have another working directory.
        let path = std::path::absolute(path).map_err(|error| {
            failure::with_path(path, StoreError::Unavailable(error.to_string()))
        })?;
        let readers = Arc::new(Readers::new(path, self.settings, self.readers));
        Ok(SqliteStore { writer, readers })
    }
}

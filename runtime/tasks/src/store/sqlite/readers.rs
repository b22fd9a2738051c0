//! Connections for queries: on threads for blocking work, apart from those that are short.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::failure::{is_busy, store_error};
use super::schema::{Settings, open_reader};
use crate::store::StoreError;

/// Pool of connections for queries.
pub(super) struct Readers {
    path: PathBuf,
    settings: Settings,
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
}

impl Readers {
    /// Creates a pool of at most `max` connections.
    pub(super) fn new(path: PathBuf, settings: Settings, max: usize) -> Self {
        Self {
            path,
            settings,
            idle: Mutex::default(),
            permits: Arc::new(Semaphore::new(max.min(Semaphore::MAX_PERMITS))),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Runs a query for one small row on this thread, which takes less time than to pass it to another one. Returns `None` if no
    /// connection is idle, or another process locks the file, as few and rare operations do.
    pub(super) fn read_here<T>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Option<Result<T, StoreError>> {
        let _permit = self.permits.try_acquire().ok()?;
        let connection = self.idle().pop()?;
        // A wait for the lock would block other calls.
        let read = connection
            .busy_timeout(Duration::ZERO)
            .and_then(|()| query(&connection));
        let restored = connection.busy_timeout(self.settings.lock_timeout);
        if restored.is_ok() {
            self.idle().push(connection);
        }
        match read {
            Err(error) if is_busy(&error) => None,
            read => Some(read.map_err(|error| store_error(&error))),
        }
    }

    /// Runs a query.
    pub(super) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        query: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let failed = || StoreError::Unavailable("the query was aborted".to_owned());
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let (permit, readers) = (permit.map_err(|_| failed())?, Arc::clone(self));
        let reading = spawn_blocking(move || {
            // A query whose future is dropped holds its permit until its end.
            let _permit = permit;
            readers.run(query)
        });
        reading.await.map_err(|_| failed())?
    }

    fn run<T>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let reused = self.idle().pop();
        let connection = match reused {
            Some(connection) => connection,
            None => open_reader(&self.path, &self.settings).map_err(|error| store_error(&error))?,
        };
        let result = query(&connection);
        self.idle().push(connection);
        result
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

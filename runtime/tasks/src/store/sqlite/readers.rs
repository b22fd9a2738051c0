//! Connections for queries, on threads for blocking work.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::failure::store_error;
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
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let reused = idle().pop();
        let connection = match reused {
            Some(connection) => connection,
            None => open_reader(&self.path, &self.settings).map_err(|error| store_error(&error))?,
        };
        let result = query(&connection);
        idle().push(connection);
        result
    }
}

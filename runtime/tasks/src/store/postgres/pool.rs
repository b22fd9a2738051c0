//! Connections of a store, which are opened when they are needed.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};

use tokio::sync::{Mutex, Semaphore};
use tokio::time::{Duration, Instant, timeout};
use tokio_postgres::Row;

use super::failure::{Failure, late};
use super::query::{Query, Value};
use super::session::{Session, Settings};
use crate::store::StoreError;

/// Interval of warnings about damaged records.
const WARNING_INTERVAL: Duration = Duration::from_secs(60);

/// Bounded pool of connections.
pub(super) struct Pool {
    settings: Settings,
    idle: std::sync::Mutex<Vec<Session>>,
    permits: Semaphore,
    /// Error of the last attempt to connect. One operation connects at a time.
    failure: Mutex<Option<Failure>>,
    /// Number of attempts to connect.
    attempts: AtomicU64,
    checked: AtomicBool,
    warned: std::sync::Mutex<Option<Instant>>,
}

impl Pool {
    /// Creates a pool of at most `max` connections.
    pub(super) fn new(settings: Settings, max: usize) -> Self {
        Self {
            settings,
            idle: std::sync::Mutex::default(),
            permits: Semaphore::new(max.min(Semaphore::MAX_PERMITS)),
            failure: Mutex::default(),
            attempts: AtomicU64::new(0),
            checked: AtomicBool::new(false),
            warned: std::sync::Mutex::default(),
        }
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Runs a statement that changes nothing. It is repeated once on another connection.
    pub(super) async fn read(
        self: &Arc<Self>,
        query: Query,
        values: Vec<Value>,
    ) -> Result<Vec<Row>, StoreError> {
        let values = Arc::new(values);
        match self.run(query, Arc::clone(&values)).await {
            Err(failure) if failure.is_lost => self.run(query, values).await,
            first => first,
        }
        .map_err(|failure| failure.error)
    }

    /// Runs a statement that changes a task, and returns whether it did. After an error of the connection, PostgreSQL may have
    /// run it.
    pub(super) async fn change(
        self: &Arc<Self>,
        query: Query,
        values: Vec<Value>,
    ) -> Result<bool, StoreError> {
        let rows = self.run(query, Arc::new(values)).await;
        let rows = rows.map_err(|failure| failure.error)?;
        Ok(!rows.is_empty())
    }

    /// Runs a statement to its end, even if the caller does not wait for it: an abandoned statement would cost a connection.
    async fn run(
        self: &Arc<Self>,
        query: Query,
        values: Arc<Vec<Value>>,
    ) -> Result<Vec<Row>, Failure> {
        let pool = Arc::clone(self);
        let running = tokio::spawn(async move {
            let completed = timeout(pool.settings.timeout, pool.execute(query, &values)).await;
            completed.unwrap_or_else(|_| {
                // The host of the server may be gone. Each idle connection to it would cost another timeout.
                pool.idle().clear();
                Err(Failure::from(late()))
            })
        });
        let ended = || StoreError::Unavailable("its runtime has ended".to_owned());
        let completed = running.await;
        completed.unwrap_or_else(|_| Err(Failure::from(ended())))
    }

    async fn execute(&self, query: Query, values: &[Value]) -> Result<Vec<Row>, Failure> {
        let _permit = self.permits.acquire().await;
        let mut session = match self.take() {
            Some(session) => session,
            None => self.open().await?,
        };
        let rows = session.run(query, values, &self.settings.names).await;
        let rows = rows.map_err(Failure::from);
        match &rows {
            // Those of a server that has ended are lost, too.
            Err(failure) if failure.is_lost => self.idle().clear(),
            _ => self.idle().push(session),
        }
        rows
    }

    /// Connects, or returns the error of an attempt for which this operation has waited. Otherwise the last one would wait for
    /// the attempts of all.
    async fn open(&self) -> Result<Session, Failure> {
        let attempts = self.attempts.load(Ordering::Relaxed);
        let mut failure = self.failure.lock().await;
        if self.attempts.load(Ordering::Relaxed) != attempts {
            if let Some(session) = self.take() {
                return Ok(session);
            }
            if let Some(failure) = &*failure {
                return Err(failure.clone());
            }
        }
        let opened = Session::open(&self.settings).await;
        self.attempts.fetch_add(1, Ordering::Relaxed);
        *failure = opened.as_ref().err().cloned();
        drop(failure);
        let mut session = opened?;
        if !self.checked.swap(true, Ordering::Relaxed) {
            session.check_durability().await;
        }
        Ok(session)
    }

    /// Takes an idle connection.
    fn take(&self) -> Option<Session> {
        let mut idle = self.idle();
        idle.retain(|session| !session.is_closed());
        idle.pop()
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Session>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Warns about damaged records, at most once per interval: due tasks are read all the time.
    pub(super) fn warn_of_damage(&self) {
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.is_none_or(|last| last.elapsed() >= WARNING_INTERVAL) {
            *warned = Some(Instant::now());
            drop(warned);
            tracing::warn!(
                "the task store in PostgreSQL has damaged records, which are ignored; restore them from a backup, or remove them"
            );
        }
    }
}

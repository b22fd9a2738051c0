//! Connections of a store, which are opened when they are needed.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};

use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Duration, Instant, sleep, timeout, timeout_at};
use tokio_postgres::Row;
use treenail_runtime::internal::{Backoff, LogThrottle, deadline};

use super::failure::{Failure, busy, late};
use super::query::{Query, Value};
use super::session::{Session, Settings};
use crate::store::StoreError;

/// Delays until the place of a connection that could not be opened is used again, while the pool has other connections.
const VACANCY: Backoff = Backoff {
    initial: Duration::from_millis(100),
    max: Duration::from_secs(5),
};

/// Bounded pool of connections.
pub(super) struct Pool {
    settings: Settings,
    idle: std::sync::Mutex<Vec<Session>>,
    /// Places of connections, and the queue for them.
    places: Arc<Semaphore>,
    /// Queue before that one. Replacements renew leases, and skip it.
    lobby: Arc<Semaphore>,
    /// Cloned by each connection, to count them.
    connections: Arc<()>,
    /// Error of the last attempt to connect. One operation connects at a time.
    failure: Mutex<Option<Failure>>,
    /// Number of attempts to connect.
    attempts: AtomicU64,
    /// Number of those that have failed since the last success.
    failures: AtomicU32,
    checked: AtomicBool,
    /// Warnings about missing connections.
    missing: LogThrottle,
    /// Warnings about damaged records: due tasks are read all the time.
    damaged: LogThrottle,
}

/// Right of an operation to use one connection.
struct Turn {
    place: Option<OwnedSemaphorePermit>,
    _lobby: Option<OwnedSemaphorePermit>,
    /// Time until which it may wait for a place.
    queue_end: Instant,
}

impl Pool {
    /// Creates a pool of at most `max` connections.
    pub(super) fn new(settings: Settings, max: usize) -> Self {
        let max = max.min(Semaphore::MAX_PERMITS);
        Self {
            settings,
            idle: std::sync::Mutex::default(),
            places: Arc::new(Semaphore::new(max)),
            lobby: Arc::new(Semaphore::new(max)),
            connections: Arc::default(),
            failure: Mutex::default(),
            attempts: AtomicU64::new(0),
            failures: AtomicU32::new(0),
            checked: AtomicBool::new(false),
            missing: LogThrottle::default(),
            damaged: LogThrottle::default(),
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

    /// Runs a statement to its end, even if the caller does not wait for it: an abandoned statement would cost a connection. A
    /// caller that stops waiting earlier leaves the queue.
    async fn run(
        self: &Arc<Self>,
        query: Query,
        values: Arc<Vec<Value>>,
    ) -> Result<Vec<Row>, Failure> {
        let end = deadline::after(self.settings.timeout);
        let turn = self.turn(query).await?;
        let pool = Arc::clone(self);
        let running = tokio::spawn(async move { pool.execute(turn, end, query, &values).await });
        let ended = || StoreError::Unavailable("its runtime has ended".to_owned());
        let completed = running.await;
        completed.unwrap_or_else(|_| Err(Failure::from(ended())))
    }

    /// Waits for a place, up to half of the timeout. The rest is for the statement: under overload, operations that get their
    /// place at the last moment would all be cut off in their statement.
    async fn turn(&self, query: Query) -> Result<Turn, Failure> {
        let queue_end = deadline::after(self.settings.timeout / 2);
        let waiting = async {
            let lobby = match query {
                Query::Replace => None,
                _ => acquire(&self.lobby).await,
            };
            Turn {
                place: acquire(&self.places).await,
                _lobby: lobby,
                queue_end,
            }
        };
        let turn = timeout_at(queue_end, waiting).await;
        turn.map_err(|_| Failure::from(self.reason_to_wait()))
    }

    /// Returns why no place was free: the pool lacks connections that could not be opened, or all of them are busy.
    fn reason_to_wait(&self) -> StoreError {
        let failure = self.failure.try_lock();
        let failure = failure.ok().and_then(|failure| failure.clone());
        failure.map_or_else(busy, |failure| failure.error)
    }

    async fn execute(
        &self,
        turn: Turn,
        end: Instant,
        query: Query,
        values: &[Value],
    ) -> Result<Vec<Row>, Failure> {
        let connected = timeout_at(end, self.connect(turn)).await;
        let (_turn, mut session) = connected.unwrap_or_else(|_| Err(Failure::from(late())))?;
        let running = session.run(query, values, &self.settings.names);
        let Ok(rows) = timeout_at(end, running).await else {
            // The host of the server may be gone. Each idle connection to it would cost another timeout.
            self.close_idle();
            return Err(Failure::from(late()));
        };
        let rows = rows.map_err(Failure::from);
        match &rows {
            // Those of a server that has ended are lost, too.
            Err(failure) if failure.is_lost => self.close_idle(),
            _ => self.idle().push(session),
        }
        rows
    }

    /// Takes an idle connection, or opens one. If that fails while the pool has others, waits for one of those.
    async fn connect(&self, mut turn: Turn) -> Result<(Turn, Session), Failure> {
        loop {
            let failure = match self.take() {
                Some(session) => return Ok((turn, session)),
                None => match self.open().await {
                    Ok(session) => return Ok((turn, session)),
                    Err(failure) => failure,
                },
            };
            if self.is_empty() {
                return Err(failure);
            }
            if self.missing.is_due() {
                let (error, open) = (&failure.error, self.open_connections());
                tracing::warn!(%error, open, "the task store lacks connections to PostgreSQL, and works with those that are open");
            }
            // Its place stays vacant for a while, so there are as many places as connections.
            let (place, failures) = (turn.place.take(), self.failures.load(Ordering::Relaxed));
            tokio::spawn(async move {
                sleep(VACANCY.delay(failures)).await;
                drop(place);
            });
            let place = timeout_at(turn.queue_end, acquire(&self.places)).await;
            // Without a connection, there is none that was lost: a repetition would wait again.
            turn.place = place.map_err(|_| Failure::from(failure.error))?;
        }
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
        let opened = self.attempt().await;
        self.attempts.fetch_add(1, Ordering::Relaxed);
        match &opened {
            Ok(_) => self.failures.store(0, Ordering::Relaxed),
            Err(_) => _ = self.failures.fetch_add(1, Ordering::Relaxed),
        }
        *failure = opened.as_ref().err().cloned();
        drop(failure);
        let mut session = opened?;
        if !self.checked.swap(true, Ordering::Relaxed) {
            session.check_durability().await;
        }
        Ok(session)
    }

    /// Connects once. While the pool has other connections, the time is short: a pooler may make this one wait for their end.
    async fn attempt(&self) -> Result<Session, Failure> {
        let parts = if self.is_empty() { 1 } else { 3 };
        let opening = Session::open(&self.settings, &self.connections);
        let opened = timeout(self.settings.timeout / parts, opening).await;
        opened.unwrap_or_else(|_| Err(Failure::from(late())))
    }

    /// Returns whether there is no connection.
    fn is_empty(&self) -> bool {
        self.open_connections() == 0
    }

    fn open_connections(&self) -> usize {
        Arc::strong_count(&self.connections) - 1
    }

    /// Takes an idle connection.
    fn take(&self) -> Option<Session> {
        let mut idle = self.idle();
        idle.retain(|session| !session.is_closed());
        idle.pop()
    }

    fn close_idle(&self) {
        let closed = std::mem::take(&mut *self.idle());
        // Without the lock, which the statement above releases.
        drop(closed);
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Session>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Warns about damaged records.
    pub(super) fn warn_of_damage(&self) {
        if self.damaged.is_due() {
            tracing::warn!(
                "the task store in PostgreSQL has damaged records, which are ignored; restore them from a backup, or remove them"
            );
        }
    }
}

/// Waits for a permit. No semaphore of the pool is closed.
async fn acquire(semaphore: &Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
    Arc::clone(semaphore).acquire_owned().await.ok()
}

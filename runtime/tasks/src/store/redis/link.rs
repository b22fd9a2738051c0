//! Connection to Redis, which is opened when it is needed.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};

use tokio::sync::Mutex;
use tokio::time::{Duration, Instant};
use treenail_redis::internal::redis::aio::{MultiplexedConnection, SendError};
use treenail_redis::internal::redis::{
    AsyncConnectionConfig, Client, Cmd, PushInfo, PushKind, RedisError, RedisResult, Value, cmd,
};
use treenail_redis::internal::{Driver, RESPONSE_TIMEOUT, open_connection};

use super::failure::{is_broken, store_error};
use crate::store::StoreError;

/// Lower bound on the longest accepted string, in bytes. Longer than entries, which contain an owner.
const MIN_STRING_BOUND: usize = 64 << 10;
/// Interval of warnings about damaged records.
const WARNING_INTERVAL: Duration = Duration::from_secs(60);

/// Connection of a store.
pub(super) struct Link {
    client: Client,
    max_string: usize,
    state: Mutex<State>,
    /// Number of attempts to connect.
    attempts: AtomicU64,
    checked: AtomicBool,
    warned: std::sync::Mutex<Option<Instant>>,
}

#[derive(Default)]
struct State {
    open: Option<Arc<Open>>,
    /// Error of the last attempt to connect.
    failure: Option<RedisError>,
}

/// Open connection.
struct Open {
    connection: MultiplexedConnection,
    _driver: Option<Driver>,
    /// Set once the connection is lost.
    lost: Arc<AtomicBool>,
    /// Time of the first command since the last reply. A caller may be gone before the timeout of its command.
    waiting_since: std::sync::Mutex<Option<Instant>>,
}

impl Open {
    /// Runs a command. Replies are in the order of the commands, so any of them ends the wait for those before.
    async fn run(&self, command: &Cmd) -> RedisResult<Value> {
        let mut connection = self.connection.clone();
        self.waiting_since().get_or_insert_with(Instant::now);
        let reply = command.query_async(&mut connection).await;
        *self.waiting_since() = None;
        if reply.as_ref().is_err_and(is_broken) {
            self.lost.store(true, Ordering::Relaxed);
        }
        reply
    }

    fn is_lost(&self) -> bool {
        let is_silent = |since: Instant| since.elapsed() >= RESPONSE_TIMEOUT;
        self.lost.load(Ordering::Relaxed) || self.waiting_since().is_some_and(is_silent)
    }

    fn waiting_since(&self) -> MutexGuard<'_, Option<Instant>> {
        self.waiting_since
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Link {
    pub(super) fn new(client: Client, max_string: usize) -> Self {
        Self {
            client,
            max_string: max_string.max(MIN_STRING_BOUND),
            state: Mutex::default(),
            attempts: AtomicU64::new(0),
            checked: AtomicBool::new(false),
            warned: std::sync::Mutex::default(),
        }
    }

    /// Returns an unconnected copy with another bound on strings.
    pub(super) fn with_max_string(&self, max_string: usize) -> Self {
        Self::new(self.client.clone(), max_string)
    }

    /// Runs a command that changes nothing. It is repeated once on another connection.
    pub(super) async fn read(&self, command: &Cmd) -> Result<Value, StoreError> {
        let first = self.run(command).await;
        match first {
            Err(error) if is_broken(&error) && !error.is_timeout() => self.write(command).await,
            first => first.map_err(|error| store_error(&error)),
        }
    }

    /// Runs a command. After an error of the connection, Redis may have run it.
    pub(super) async fn write(&self, command: &Cmd) -> Result<Value, StoreError> {
        let reply = self.run(command).await;
        reply.map_err(|error| store_error(&error))
    }

    async fn run(&self, command: &Cmd) -> RedisResult<Value> {
        self.connect().await?.run(command).await
    }

    /// Returns the connection, and opens one if there is none.
    async fn connect(&self) -> RedisResult<Arc<Open>> {
        let attempts = self.attempts.load(Ordering::Relaxed);
        let mut state = self.state.lock().await;
        let open = state.open.take();
        if let Some(open) = open.filter(|open| !open.is_lost()) {
            state.open = Some(Arc::clone(&open));
            return Ok(open);
        }
        // Those that waited for an attempt share its error. Otherwise the last one would wait for the timeouts of all.
        if self.attempts.load(Ordering::Relaxed) != attempts {
            if let Some(failure) = &state.failure {
                return Err(failure.clone());
            }
        }
        let opened = self.open().await;
        self.attempts.fetch_add(1, Ordering::Relaxed);
        let open = opened.map(Arc::new);
        state.failure = open.as_ref().err().cloned();
        state.open = open.as_ref().ok().cloned();
        drop(state);
        let open = open?;
        if !self.checked.swap(true, Ordering::Relaxed) {
            check_persistence(&open).await;
        }
        Ok(open)
    }

    async fn open(&self) -> RedisResult<Open> {
        let lost = Arc::new(AtomicBool::new(false));
        let notice = Arc::clone(&lost);
        let on_push = move |push: PushInfo| -> Result<(), SendError> {
            if push.kind == PushKind::Disconnection {
                notice.store(true, Ordering::Relaxed);
            }
            Ok(())
        };
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(RESPONSE_TIMEOUT))
            .set_response_timeout(Some(RESPONSE_TIMEOUT))
            .set_push_sender(on_push);
        let (connection, driver) = open_connection(&self.client, config, self.max_string).await?;
        Ok(Open {
            connection,
            _driver: driver,
            lost,
            waiting_since: std::sync::Mutex::default(),
        })
    }

    /// Warns about damaged records, at most once per interval: due tasks are read all the time.
    pub(super) fn warn_of_damage(&self) {
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.is_none_or(|last| last.elapsed() >= WARNING_INTERVAL) {
            *warned = Some(Instant::now());
            drop(warned);
            tracing::warn!("the task store in Redis has damaged records, which are ignored");
        }
    }
}

/// Warns if Redis loses tasks. A Redis without the command, or that does not allow it, is not checked.
async fn check_persistence(open: &Open) {
    let mut connection = open.connection.clone();
    let mut setting = async |name: &str| -> Option<String> {
        let mut command = cmd("CONFIG");
        command.arg("GET").arg(name);
        let reply: RedisResult<Vec<(String, String)>> = command.query_async(&mut connection).await;
        let (_, value) = reply.ok()?.pop()?;
        Some(value)
    };
    let append_only = setting("appendonly").await;
    if append_only.as_deref() == Some("no") {
        match setting("save").await.as_deref() {
            Some("") => tracing::warn!(
                "Redis stores nothing on its disk, so tasks end with it; set `appendonly yes`"
            ),
            Some(_) => tracing::warn!(
                "Redis has no append-only file, so its end loses the tasks since its last snapshot; set `appendonly yes`"
            ),
            None => {}
        }
    }
    // The other policies evict only keys with a time to live, which tasks do not have.
    let evicts = setting("maxmemory-policy")
        .await
        .is_some_and(|policy| policy.starts_with("allkeys-"));
    if evicts && setting("maxmemory").await.is_some_and(|limit| limit != "0") {
        tracing::warn!(
            "Redis may evict tasks when its memory is full; set `maxmemory-policy noeviction`"
        );
    }
}

//! Store in PostgreSQL.

mod builder;
mod failure;
mod names;
mod pool;
mod query;
mod record;
mod schema;
mod session;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::Row;

pub use self::builder::PostgresStoreBuilder;
use self::failure::damaged;
use self::pool::Pool;
use self::query::{Query, Value};
use self::record::{parse_task, parse_usage};
use super::{StoreError, StoreFuture, StoreUsage, StoredTask, TaskId, TaskStore};

/// Largest wake time in microseconds, about 3,000 years.
const MAX_WAKE_US: i64 = 100_000_000_000_000_000;
/// Number of records in one response.
const READ_TASKS: usize = 16;
/// Lower bound on the longest accepted value, in bytes. Owners are accepted up to this size.
const MIN_VALUE_BOUND: usize = 64 << 10;

/// [`TaskStore`] in PostgreSQL 12 or later. Requires the feature `postgres`.
///
/// All replicas of a server share the tasks, and the clock of PostgreSQL. A change is on its disk before the future of the change
/// resolves, unless `synchronous_commit` or `fsync` is `off`, which the log reports. Failover to an asynchronous standby may lose
/// the last changes; `synchronous_standby_names` prevents this.
///
/// Each process has up to four connections, which are opened when they are needed. After they are lost, the next operation opens
/// another. With several hosts in the URL and `target_session_attrs=read-write`, it is one to the primary server. An operation has
/// ten seconds, at most half of them in the queue for a connection; renewals of leases go first. If PostgreSQL accepts no further
/// connection, the store works with those that it has. A pooler such as PgBouncer must be in session mode. Its transaction mode
/// works for the first process, and fails for later ones.
///
/// The tables are created on first use: `treenail_tasks`, and two beside it with the endings `_usage` and `_format`, with a function
/// of triggers with the ending `_count`. Their user needs the right to connect, and `CREATE` on the schema for the first use. Without it, a database administrator starts the
/// program once as a user with that right, and then grants `SELECT`, `INSERT`, `UPDATE` and `DELETE` on the first two tables,
/// and `SELECT` on the third. Rows that other programs remove are counted, too.
///
/// A party with access to the tables has access to all tasks. The URL contains the password,
/// `postgres://name:password@host:5432/database`, and is not logged. The directory of a Unix socket is a host in percent
/// encoding, `postgres://name@%2Frun%2Fpostgresql/database`. For TLS, see [`PostgresStoreBuilder::tls`].
///
/// Each server needs a table of its own.
///
/// ```
/// use treenail::tasks::PostgresStore;
///
/// let store = PostgresStore::new("postgres://hotel:secret@127.0.0.1/hotel")?;
/// # let _ = store;
/// # Ok::<(), treenail::Error>(())
/// ```
#[cfg(feature = "postgres")]
#[derive(Clone)]
pub struct PostgresStore {
    pool: Arc<Pool>,
    max_body_bytes: usize,
}

impl PostgresStore {
    /// Creates a store in the database at `url`: `postgres://user:password@host:port/database`. It does not connect yet.
    ///
    /// # Errors
    ///
    /// [`treenail_runtime::Error::Build`] if `url` is not valid, or requires TLS.
    pub fn new(url: impl AsRef<str>) -> treenail_runtime::Result<Self> {
        Self::builder().build(url)
    }

    /// Creates a builder for a store with other settings.
    pub fn builder() -> PostgresStoreBuilder {
        PostgresStoreBuilder::default()
    }
}

impl PostgresStore {
    fn check_size(&self, task: &StoredTask) -> Result<(), StoreError> {
        let max = self.max_body_bytes;
        if task.state.len().max(task.body.len()) > max {
            let reason = format!("the state or the body of a task has more than {max} bytes");
            return Err(StoreError::Full(reason));
        }
        let max = max.max(MIN_VALUE_BOUND);
        if task.owner.len() > max {
            let reason = format!("the owner of a task has more than {max} bytes");
            return Err(StoreError::Full(reason));
        }
        Ok(())
    }

    /// Size beyond which a value is not read.
    fn max_value(&self) -> Value {
        Value::size(self.max_body_bytes.max(MIN_VALUE_BOUND))
    }

    async fn find(&self, query: Query, id: &TaskId) -> Result<Option<StoredTask>, StoreError> {
        let rows = self.pool.read(query, vec![self.max_value(), text(id)]);
        match rows.await?.first() {
            Some(row) => parse_task(row, query == Query::Get)
                .map(Some)
                .ok_or_else(damaged),
            None => Ok(None),
        }
    }

    /// Reads at most `limit` tasks in pages, of which each continues behind a time and an id.
    async fn read_pages(
        &self,
        query: Query,
        limit: usize,
        mut position: (i64, String),
        parameters: impl Fn((i64, String), Value) -> Vec<Value> + Send + Sync,
    ) -> Result<Vec<StoredTask>, StoreError> {
        let (mut tasks, mut is_damaged) = (Vec::new(), false);
        while tasks.len() < limit {
            let count = (limit - tasks.len()).min(READ_TASKS);
            let page = self
                .pool
                .read(query, parameters(position, Value::size(count)));
            let page: Vec<Row> = page.await?;
            for task in page.iter().map(|row| parse_task(row, true)) {
                is_damaged |= task.is_none();
                tasks.extend(task);
            }
            match page.last() {
                Some(last) if page.len() == count => position = record::position(last, query)?,
                _ => break,
            }
        }
        if is_damaged {
            self.pool.warn_of_damage();
        }
        Ok(tasks)
    }

    /// Returns the position of a task of an owner in its list.
    async fn position_of(&self, owner: &str, id: &TaskId) -> Result<(i64, String), StoreError> {
        let values = vec![text(id), Value::Bytes(owner.into())];
        let rows = self.pool.read(Query::Created, values).await?;
        let row = rows.first().ok_or(StoreError::UnknownTask)?;
        let created_ms = row.try_get(0).map_err(|_| damaged())?;
        Ok((created_ms, id.as_str().to_owned()))
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PostgresStore")
            .field("table", &self.pool.settings().names.table())
            .finish_non_exhaustive()
    }
}

impl TaskStore for PostgresStore {
    fn insert(&self, task: StoredTask, wake: Duration) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            self.check_size(&task)?;
            let values = vec![
                text(&task.id),
                Value::Bytes(task.owner.into_bytes()),
                Value::number(task.created_ms)?,
                Value::number(task.version)?,
                microseconds(wake),
                Value::Bytes(task.state),
                Value::Bytes(task.body),
            ];
            if self.pool.change(Query::Insert, values).await? {
                Ok(())
            } else {
                Err(StoreError::Duplicate)
            }
        })
    }

    fn get<'a>(&'a self, id: &'a TaskId) -> StoreFuture<'a, Option<StoredTask>> {
        Box::pin(self.find(Query::Get, id))
    }

    fn state<'a>(&'a self, id: &'a TaskId) -> StoreFuture<'a, Option<StoredTask>> {
        Box::pin(self.find(Query::State, id))
    }

    fn replace(&self, task: StoredTask, wake: Duration) -> StoreFuture<'_, bool> {
        Box::pin(async move {
            self.check_size(&task)?;
            let values = vec![
                text(&task.id),
                Value::number(task.version)?,
                microseconds(wake),
                Value::Bytes(task.state),
                Value::Bytes(task.body),
            ];
            self.pool.change(Query::Replace, values).await
        })
    }

    fn remove<'a>(&'a self, id: &'a TaskId, version: u64) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            let values = vec![text(id), Value::number(version)?];
            self.pool.change(Query::Remove, values).await
        })
    }

    fn due(&self, limit: usize) -> StoreFuture<'_, Vec<StoredTask>> {
        let parameters = |(wake_us, id), count| {
            vec![
                self.max_value(),
                Value::Number(wake_us),
                Value::Text(id),
                count,
            ]
        };
        let start = (i64::MIN, String::new());
        Box::pin(self.read_pages(Query::Due, limit, start, parameters))
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<&'a TaskId>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<StoredTask>> {
        Box::pin(async move {
            let start = match after {
                Some(after) => self.position_of(owner, after).await?,
                None => (i64::MIN, String::new()),
            };
            let parameters = |(created_ms, id), count| {
                vec![
                    self.max_value(),
                    Value::Bytes(owner.into()),
                    Value::Number(created_ms),
                    Value::Text(id),
                    count,
                ]
            };
            self.read_pages(Query::List, limit, start, parameters).await
        })
    }

    fn usage<'a>(&'a self, owner: &'a str) -> StoreFuture<'a, StoreUsage> {
        Box::pin(async move {
            let values = vec![Value::Bytes(owner.into())];
            let rows = self.pool.read(Query::Usage, values).await?;
            rows.first().and_then(parse_usage).ok_or_else(damaged)
        })
    }
}

fn text(id: &TaskId) -> Value {
    Value::Text(id.as_str().to_owned())
}

fn microseconds(wake: Duration) -> Value {
    let wake = i64::try_from(wake.as_micros()).unwrap_or(MAX_WAKE_US);
    Value::Number(wake.min(MAX_WAKE_US))
}

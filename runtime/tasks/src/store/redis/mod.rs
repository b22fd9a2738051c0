//! Store in Redis.

mod failure;
mod keys;
mod link;
mod record;
mod scripts;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use treenail_redis::internal::open_client;
use treenail_redis::internal::redis::{Cmd, Value};

use self::keys::Keys;
use self::link::Link;
use self::record::{Found, decimal, parse_task};
use super::{StoreError, StoreFuture, StoreUsage, StoredTask, TaskId, TaskStore};

/// Largest wake time in milliseconds, about 3,000 years: Redis stores times as floating-point numbers.
const MAX_WAKE_MS: u128 = 100_000_000_000_000;
/// Longest owner of a task in bytes. Its entry in the order of all tasks is a string that Redis returns.
const MAX_OWNER_BYTES: usize = 60 << 10;
/// Number of records in one reply.
const READ_TASKS: usize = 16;

/// [`TaskStore`] in Redis 6 or later, Valkey, and other engines with the RESP3 protocol and Lua scripts. Requires the features
/// `tasks` and `redis`.
///
/// All replicas of a server share the tasks, and the clock of Redis. Tasks survive as much as Redis survives: for tasks that
/// survive the loss of power, set `appendonly yes` and `appendfsync always`; with `everysec`, the last second may be lost. The
/// log contains a warning if Redis has no append-only file, or may evict keys. Failover to an asynchronous copy of Redis may
/// lose the last changes. At `maxmemory`, tasks are neither created nor made longer, but those that run retain their leases.
///
/// Each process has one connection, which is opened when it is needed. After it is lost, the next operation opens another.
/// Redis has ten seconds for each response. The owner of a task has at most 60 KiB.
///
/// A party with access to Redis has access to all tasks, so protect it with a password. The URL contains it,
/// `redis://name:password@host:6379`, and is not logged. The user needs the commands `EVAL`, `EXISTS`, `HDEL`, `HGET`,
/// `HINCRBY`, `HMGET`, `HSET`, `HSTRLEN`, `TIME`, `UNLINK`, `ZADD`, `ZRANGEBYLEX`, `ZRANGEBYSCORE` and `ZREM` on the keys
/// `{treenail:weather}:*`, braces included, with the name from [`server`](Self::server) in place of `weather`, `CONFIG|GET` for the
/// warnings, and `SELECT` if the URL has a database number.
///
/// TLS (`rediss://`) requires the feature `redis-tls`. The certificate of Redis is verified against the roots of the system, or those in
/// the file that the environment variable `SSL_CERT_FILE` names.
/// The first connection sets `ring` as the default provider of rustls for the process. A program that sets another provider does so
/// before the server starts.
///
/// ```
/// use treenail::tasks::RedisStore;
///
/// let store = RedisStore::new("redis://127.0.0.1:6379")?.server("weather");
/// # let _ = store;
/// # Ok::<(), treenail::Error>(())
/// ```
#[cfg(feature = "redis")]
#[derive(Clone)]
pub struct RedisStore {
    link: Arc<Link>,
    keys: Keys,
    max_body_bytes: usize,
}

impl RedisStore {
    /// Creates a store in the Redis at `url`: `redis://host:port`, `rediss://host:port` or `redis+unix:///path`. It does not connect yet.
    ///
    /// # Errors
    ///
    /// [`treenail_runtime::Error::Build`] if `url` is not a valid Redis URL, requires TLS without the feature `redis-tls`, or turns its
    /// checks off (`#insecure`).
    pub fn new(url: impl AsRef<str>) -> treenail_runtime::Result<Self> {
        let client = open_client(url.as_ref())?;
        let max_body_bytes = 64 << 20;
        Ok(Self {
            link: Arc::new(Link::new(client, max_body_bytes)),
            keys: Keys::new("treenail"),
            max_body_bytes,
        })
    }

    /// Sets the name that is a part of all keys. Default `treenail`. Servers that share a Redis need different names, replicas of
    /// one server the same.
    #[must_use]
    pub fn server(mut self, name: impl AsRef<str>) -> Self {
        self.keys = Keys::new(name.as_ref());
        self
    }

    /// Sets the maximum size of the body of a task in bytes, and that of its state. A longer one is refused with [`StoreError::Full`]. Default 64 MiB.
    #[must_use]
    pub fn max_body_bytes(mut self, max_body_bytes: usize) -> Self {
        self.max_body_bytes = max_body_bytes;
        self.link = Arc::new(self.link.with_max_string(max_body_bytes));
        self
    }

    fn check_size(&self, task: &StoredTask) -> Result<(), StoreError> {
        let max = self.max_body_bytes;
        let reason = if task.owner.len() > MAX_OWNER_BYTES {
            format!("the owner of a task has more than {MAX_OWNER_BYTES} bytes")
        } else if task.state.len().max(task.body.len()) > max {
            format!("the state or the body of a task has more than {max} bytes")
        } else {
            return Ok(());
        };
        Err(StoreError::Full(reason))
    }

    /// Runs a script that changes a task, and returns whether it did.
    async fn change(&self, script: &Cmd) -> Result<bool, StoreError> {
        match self.link.write(script).await? {
            Value::Int(changed) => Ok(changed == 1),
            _ => Err(failure::unexpected()),
        }
    }

    /// Reads records, of which some may be absent.
    async fn read(&self, ids: &[TaskId]) -> Result<Vec<Found>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let reply = self.link.read(&scripts::read(&self.keys, ids)).await?;
        let Value::Array(records) = reply else {
            return Err(failure::unexpected());
        };
        let found = ids.iter().zip(records);
        Ok(found
            .map(|(id, record)| parse_task(id, record, true))
            .collect())
    }

    /// Reads at most `limit` of the tasks that `page` lists. It gets the offset, the last entry before, and the number.
    async fn read_page(
        &self,
        limit: usize,
        page: impl Fn(usize, Option<&[u8]>, usize) -> Cmd + Send + Sync,
    ) -> Result<Vec<StoredTask>, StoreError> {
        let (mut tasks, mut damaged) = (Vec::new(), false);
        let (mut offset, mut last) = (0, None);
        while tasks.len() < limit {
            let count = (limit - tasks.len()).min(READ_TASKS);
            let entries = self
                .link
                .read(&page(offset, last.as_deref(), count))
                .await?;
            let entries = record::texts(entries).ok_or_else(failure::unexpected)?;
            offset += entries.len();
            let named = entries
                .iter()
                .filter_map(|entry| Some((entry, keys::id_of(entry)?)));
            let (named, ids): (Vec<_>, Vec<_>) = named.unzip();
            damaged |= ids.len() < entries.len();
            for (index, found) in self.read(&ids).await?.into_iter().enumerate() {
                match found {
                    Found::Task(task) => tasks.push(task),
                    Found::Damaged => damaged = true,
                    // Evicted, or removed after its id was read.
                    Found::Absent => {
                        let forget = scripts::forget(&self.keys, &ids[index], named[index]);
                        self.link.write(&forget).await?;
                        offset -= 1;
                    }
                }
            }
            if entries.len() < count {
                break;
            }
            // The position behind an entry that is too long to be read is not known.
            last = entries
                .last()
                .filter(|entry| keys::id_of(entry).is_some())
                .cloned();
            if last.is_none() {
                break;
            }
        }
        if damaged {
            self.link.warn_of_damage();
        }
        Ok(tasks)
    }
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RedisStore")
            .field("keys", &self.keys.prefix())
            .finish_non_exhaustive()
    }
}

impl TaskStore for RedisStore {
    fn insert(&self, task: StoredTask, wake: Duration) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            self.check_size(&task)?;
            let script = scripts::insert(&self.keys, &task, milliseconds(wake));
            if self.change(&script).await? {
                Ok(())
            } else {
                Err(StoreError::Duplicate)
            }
        })
    }

    fn get<'a>(&'a self, id: &'a TaskId) -> StoreFuture<'a, Option<StoredTask>> {
        Box::pin(async move {
            let mut found = self.read(std::slice::from_ref(id)).await?;
            found.pop().unwrap_or(Found::Damaged).into_task()
        })
    }

    fn state<'a>(&'a self, id: &'a TaskId) -> StoreFuture<'a, Option<StoredTask>> {
        Box::pin(async move {
            let reply = self.link.read(&scripts::state(&self.keys, id)).await?;
            parse_task(id, reply, false).into_task()
        })
    }

    fn replace(&self, task: StoredTask, wake: Duration) -> StoreFuture<'_, bool> {
        Box::pin(async move {
            self.check_size(&task)?;
            let Some(expected) = task.version.checked_sub(1) else {
                return Ok(false);
            };
            let script = scripts::replace(&self.keys, &task, expected, milliseconds(wake));
            self.change(&script).await
        })
    }

    fn remove<'a>(&'a self, id: &'a TaskId, version: u64) -> StoreFuture<'a, bool> {
        Box::pin(async move { self.change(&scripts::remove(&self.keys, id, version)).await })
    }

    fn due(&self, limit: usize) -> StoreFuture<'_, Vec<StoredTask>> {
        let page = |offset, _: Option<&[u8]>, count| scripts::due(&self.keys, offset, count);
        Box::pin(self.read_page(limit, page))
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<&'a TaskId>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<StoredTask>> {
        Box::pin(async move {
            let start_of_page = match after {
                None => keys::first_member(owner),
                Some(after) => match self.get(after).await? {
                    Some(task) if task.owner == owner => keys::member_after(&task),
                    _ => return Err(StoreError::UnknownTask),
                },
            };
            let page = |_, last: Option<&[u8]>, count| {
                let start = last.map(keys::behind);
                let start = start.as_deref().unwrap_or(start_of_page.as_bytes());
                scripts::list(&self.keys, owner, start, count)
            };
            self.read_page(limit, page).await
        })
    }

    fn usage<'a>(&'a self, owner: &'a str) -> StoreFuture<'a, StoreUsage> {
        Box::pin(async move {
            let reply = self.link.read(&scripts::usage(&self.keys, owner)).await?;
            match reply {
                Value::Array(fields) => match &*fields {
                    [tasks, bytes] => decimal(tasks)
                        .zip(decimal(bytes))
                        .map(|(tasks, bytes)| StoreUsage::new(tasks, bytes))
                        .ok_or_else(failure::damaged),
                    _ => Err(failure::unexpected()),
                },
                _ => Err(failure::unexpected()),
            }
        })
    }
}

fn milliseconds(wake: Duration) -> u64 {
    // At most `MAX_WAKE_MS`, which fits.
    u64::try_from(wake.as_millis().min(MAX_WAKE_MS)).unwrap_or(u64::MAX)
}

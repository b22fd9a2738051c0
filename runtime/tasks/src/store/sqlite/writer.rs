//! Thread that makes all changes of a process, and commits those that wait together.

use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use tokio::sync::{mpsc, oneshot};

use super::failure::{full, is_busy, is_duplicate, is_full, store_error};
use super::{now_ms, wake_ms};
use crate::store::{StoreError, StoredTask, TaskId};

/// Maximum number of changes in a commit.
const GROUP_CHANGES: usize = 256;
/// Size of states and bodies in a commit after which no further change is added, in bytes.
const GROUP_BYTES: usize = 8 << 20;
/// Divisor of the part of the file that is reserved for changes that make no task longer. Such a change may need pages for a time:
/// SQLite splits an index, or writes a record before it frees the former one.
const RESERVE: i64 = 8;

/// Change of a task. Each has a boolean result: whether it was made.
pub(super) enum Change {
    Insert(StoredTask, Duration),
    Replace(StoredTask, Duration),
    Remove(TaskId, u64),
}

struct Request {
    change: Change,
    reply: oneshot::Sender<Result<bool, StoreError>>,
}

/// Handle to the writing thread, which ends with the last one.
#[derive(Clone)]
pub(super) struct Writer {
    requests: mpsc::Sender<Request>,
}

impl Writer {
    pub(super) fn spawn(connection: Connection) -> Result<Self, StoreError> {
        let pages = connection.pragma_query_value(None, "max_page_count", |row| row.get(0));
        let pages: i64 = pages.map_err(|error| store_error(&error))?;
        let changes = Changes {
            connection,
            max_pages: pages - pages / RESERVE,
        };
        let (requests, queue) = mpsc::channel(GROUP_CHANGES);
        let thread = std::thread::Builder::new().name("treenail-tasks".to_owned());
        let spawned = thread.spawn(move || changes.write_all(queue));
        spawned.map_err(|error| StoreError::Unavailable(format!("no thread for it: {error}")))?;
        Ok(Self { requests })
    }

    /// Makes a change. It is durable when the future resolves.
    pub(super) async fn change(&self, change: Change) -> Result<bool, StoreError> {
        let ended = || StoreError::Unavailable("its thread has ended".to_owned());
        let (reply, result) = oneshot::channel();
        let request = Request { change, reply };
        let sent = self.requests.send(request).await;
        sent.map_err(|_| ended())?;
        result.await.map_err(|_| ended())?
    }
}

/// Connection of the writing thread.
struct Changes {
    connection: Connection,
    /// Maximum number of pages that are in use after a task was added or made longer.
    max_pages: i64,
}

impl Changes {
    fn write_all(mut self, mut queue: mpsc::Receiver<Request>) {
        while let Some(first) = queue.blocking_recv() {
            let mut bytes = first.change.bytes();
            let mut group = vec![first];
            while group.len() < GROUP_CHANGES && bytes < GROUP_BYTES {
                let Ok(request) = queue.try_recv() else { break };
                bytes += request.change.bytes();
                group.push(request);
            }
            // Changes whose callers are gone need not be made.
            group.retain(|request| !request.reply.is_closed());
            self.write_group(group);
        }
    }

    /// Makes the changes of a group in one transaction. If it fails, each is tried alone, so that each has its own result.
    fn write_group(&mut self, group: Vec<Request>) {
        match self.commit(&group) {
            Ok(results) => {
                for (request, result) in group.into_iter().zip(results) {
                    // The receiver may be gone.
                    let _ = request.reply.send(Ok(result));
                }
            }
            Err(error) if group.len() == 1 || is_busy(&error) => {
                let error = store_error(&error);
                for request in group {
                    let _ = request.reply.send(Err(error.clone()));
                }
            }
            Err(_) => {
                for request in group {
                    self.write_group(vec![request]);
                }
            }
        }
    }

    /// Makes changes in one transaction, and returns which of them were made.
    fn commit(&mut self, group: &[Request]) -> rusqlite::Result<Vec<bool>> {
        let committed = commit(&mut self.connection, self.max_pages, group);
        if committed.as_ref().is_err_and(is_full) && self.may_use_reserve(group)? {
            return commit(&mut self.connection, i64::MAX, group);
        }
        committed
    }

    fn may_use_reserve(&self, group: &[Request]) -> rusqlite::Result<bool> {
        for request in group {
            if request.change.adds_bytes(&self.connection)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Makes changes in one transaction, unless the file has more than `max_pages` in use then.
fn commit(
    connection: &mut Connection,
    max_pages: i64,
    group: &[Request],
) -> rusqlite::Result<Vec<bool>> {
    // A transaction that writes from its start cannot fail because of changes by others in between.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let now = now_ms();
    let changes = group.iter();
    let made: rusqlite::Result<Vec<bool>> = changes
        .map(|request| request.change.apply(&transaction, now))
        .collect();
    let made = made?;
    if made.contains(&true) && used_pages(&transaction)? > max_pages {
        return Err(full());
    }
    transaction.commit()?;
    Ok(made)
}

/// Returns the number of pages with contents. The file keeps those that are free.
fn used_pages(transaction: &Transaction<'_>) -> rusqlite::Result<i64> {
    let number = |pragma: &str| -> rusqlite::Result<i64> {
        let mut statement = transaction.prepare_cached(pragma)?;
        statement.query_row([], |row| row.get(0))
    };
    Ok(number("PRAGMA page_count")? - number("PRAGMA freelist_count")?)
}

impl Change {
    /// Returns the size of the contents in bytes.
    fn bytes(&self) -> usize {
        match self {
            Self::Insert(task, _) | Self::Replace(task, _) => task.bytes(),
            Self::Remove(..) => 0,
        }
    }

    /// Returns whether the change adds a task, or makes one longer.
    fn adds_bytes(&self, connection: &Connection) -> rusqlite::Result<bool> {
        let task = match self {
            Self::Insert(..) => return Ok(true),
            Self::Remove(..) => return Ok(false),
            Self::Replace(task, _) => task,
        };
        let bytes = i64::try_from(task.bytes()).unwrap_or(i64::MAX);
        let mut shorter = connection.prepare_cached(
            "SELECT 1 FROM task WHERE id = ?1 AND version = ?2 - 1 AND length(state) + length(body) < ?3",
        )?;
        shorter.exists(params![task.id.as_str(), to_integer(task.version)?, bytes])
    }

    fn apply(&self, transaction: &Transaction<'_>, now: i64) -> rusqlite::Result<bool> {
        let changed = match self {
            Self::Insert(task, wake) => insert(transaction, task, wake_ms(now, *wake)),
            Self::Replace(task, wake) => replace(transaction, task, wake_ms(now, *wake)),
            Self::Remove(id, version) => transaction
                .prepare_cached("DELETE FROM task WHERE id = ?1 AND version = ?2")?
                .execute(params![id.as_str(), to_integer(*version)?]),
        };
        Ok(changed? == 1)
    }
}

fn insert(transaction: &Transaction<'_>, task: &StoredTask, wake: i64) -> rusqlite::Result<usize> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO task (id, owner, created_ms, version, wake_ms, state, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    let inserted = statement.execute(params![
        task.id.as_str(),
        task.owner,
        to_integer(task.created_ms)?,
        to_integer(task.version)?,
        wake,
        task.state,
        task.body,
    ]);
    match inserted {
        // The statement alone is undone; the transaction continues.
        Err(error) if is_duplicate(&error) => Ok(0),
        inserted => inserted,
    }
}

fn replace(transaction: &Transaction<'_>, task: &StoredTask, wake: i64) -> rusqlite::Result<usize> {
    let version = to_integer(task.version)?;
    let mut statement = transaction.prepare_cached(
        "UPDATE task SET version = ?1, wake_ms = ?2, state = ?3, body = ?4 WHERE id = ?5 AND version = ?1 - 1",
    )?;
    statement.execute(params![
        version,
        wake,
        task.state,
        task.body,
        task.id.as_str()
    ])
}

/// Converts a number to the type of SQLite.
fn to_integer(number: u64) -> rusqlite::Result<i64> {
    i64::try_from(number).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

//! Thread that makes all changes of a process, and commits those that wait together.

use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use tokio::sync::{mpsc, oneshot};

use super::failure::{is_busy, is_duplicate, store_error};
use super::{now_ms, wake_ms};
use crate::store::{StoreError, StoredTask, TaskId};

/// Maximum number of changes in a commit.
const GROUP_CHANGES: usize = 256;
/// Size of states and bodies in a commit after which no further change is added, in bytes.
const GROUP_BYTES: usize = 8 << 20;

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
        let (requests, queue) = mpsc::channel(GROUP_CHANGES);
        let thread = std::thread::Builder::new().name("treenail-tasks".to_owned());
        let spawned = thread.spawn(move || write_all(connection, queue));
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

fn write_all(mut connection: Connection, mut queue: mpsc::Receiver<Request>) {
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
        write_group(&mut connection, group);
    }
}

/// Makes the changes of a group in one transaction. If it fails, each is tried alone, so that each has its own result.
fn write_group(connection: &mut Connection, group: Vec<Request>) {
    let changes = group.iter().map(|request| &request.change);
    match commit(connection, changes) {
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
                write_group(connection, vec![request]);
            }
        }
    }
}

/// Makes changes in one transaction, and returns which of them were made.
fn commit<'a>(
    connection: &mut Connection,
    changes: impl IntoIterator<Item = &'a Change>,
) -> rusqlite::Result<Vec<bool>> {
    // A transaction that writes from its start cannot fail because of changes by others in between.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let now = now_ms();
    let changes = changes.into_iter();
    let made: rusqlite::Result<_> = changes
        .map(|change| change.apply(&transaction, now))
        .collect();
    let made = made?;
    transaction.commit()?;
    Ok(made)
}

impl Change {
    /// Returns the size of the contents in bytes.
    fn bytes(&self) -> usize {
        match self {
            Self::Insert(task, _) | Self::Replace(task, _) => task.bytes(),
            Self::Remove(..) => 0,
        }
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

//! Queries.

use std::sync::atomic::{AtomicI64, Ordering};

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Params, Row, params};

use super::failure::{is_damage, store_error};
use super::now_ms;
use crate::store::{StoreError, StoreUsage, StoredTask, TaskId};

/// Interval of warnings about damaged records.
const WARNING_INTERVAL_MS: i64 = 60_000;

pub(super) fn get(connection: &Connection, id: &TaskId) -> rusqlite::Result<Option<StoredTask>> {
    let query = "SELECT id, owner, created_ms, version, state, body FROM task WHERE id = ?1";
    let mut statement = connection.prepare_cached(query)?;
    statement.query_row([id.as_str()], read_task).optional()
}

/// Returns a task without its body. It comes before the body in a row, so a long body is not read.
pub(super) fn state(connection: &Connection, id: &TaskId) -> rusqlite::Result<Option<StoredTask>> {
    let query = "SELECT owner, created_ms, version, state FROM task WHERE id = ?1";
    let read = |row: &Row<'_>| {
        Ok(StoredTask {
            id: id.clone(),
            owner: row.get(0)?,
            created_ms: natural(row, 1)?,
            version: natural(row, 2)?,
            state: row.get(3)?,
            body: Vec::new(),
        })
    };
    let mut statement = connection.prepare_cached(query)?;
    statement.query_row([id.as_str()], read).optional()
}

pub(super) fn due(connection: &Connection, limit: usize) -> Result<Vec<StoredTask>, StoreError> {
    // Without a limit, since damaged records must not hide others.
    let query = "SELECT id, owner, created_ms, version, state, body FROM task WHERE wake_ms <= ?1 ORDER BY wake_ms, id";
    read_tasks(connection, query, [now_ms()], limit)
}

pub(super) fn list(
    connection: &Connection,
    owner: &str,
    after: Option<&TaskId>,
    limit: usize,
) -> Result<Vec<StoredTask>, StoreError> {
    let Some(after) = after else {
        let query = "SELECT id, owner, created_ms, version, state, body FROM task WHERE owner = ?1 ORDER BY created_ms, id";
        return read_tasks(connection, query, [owner], limit);
    };
    let created = connection
        .prepare_cached("SELECT created_ms FROM task WHERE id = ?1 AND owner = ?2")
        .and_then(|mut statement| {
            let key = params![after.as_str(), owner];
            statement
                .query_row(key, |row| row.get::<_, i64>(0))
                .optional()
        });
    let created = created.map_err(|error| store_error(&error))?;
    let created = created.ok_or(StoreError::UnknownTask)?;
    let query = "SELECT id, owner, created_ms, version, state, body FROM task \
                 WHERE owner = ?1 AND (created_ms, id) > (?2, ?3) ORDER BY created_ms, id";
    read_tasks(
        connection,
        query,
        params![owner, created, after.as_str()],
        limit,
    )
}

pub(super) fn usage(connection: &Connection, owner: &str) -> rusqlite::Result<StoreUsage> {
    let read = |row: &Row<'_>| Ok(StoreUsage::new(natural(row, 0)?, natural(row, 1)?));
    let query = "SELECT tasks, bytes FROM owner WHERE owner = ?1";
    let mut statement = connection.prepare_cached(query)?;
    let found = statement.query_row([owner], read).optional()?;
    Ok(found.unwrap_or_default())
}

/// Reads at most `limit` tasks. Damaged records are skipped, and reported in the log.
fn read_tasks(
    connection: &Connection,
    query: &str,
    parameters: impl Params,
    limit: usize,
) -> Result<Vec<StoredTask>, StoreError> {
    let failed = |error: rusqlite::Error| store_error(&error);
    let mut statement = connection.prepare_cached(query).map_err(failed)?;
    let mut rows = statement.query(parameters).map_err(failed)?;
    let (mut tasks, mut damaged) = (Vec::new(), 0_u64);
    while tasks.len() < limit {
        let Some(row) = rows.next().map_err(failed)? else {
            break;
        };
        match read_task(row) {
            Ok(task) => tasks.push(task),
            Err(error) if is_damage(&error) => damaged += 1,
            Err(error) => return Err(failed(error)),
        }
    }
    if damaged > 0 {
        warn_of_damage(damaged);
    }
    Ok(tasks)
}

fn read_task(row: &Row<'_>) -> rusqlite::Result<StoredTask> {
    let id: String = row.get(0)?;
    let id: TaskId = id.parse().map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(error))
    })?;
    Ok(StoredTask {
        id,
        owner: row.get(1)?,
        created_ms: natural(row, 2)?,
        version: natural(row, 3)?,
        state: row.get(4)?,
        body: row.get(5)?,
    })
}

/// Reads a number that cannot be negative.
fn natural(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    let out_of_range = |_| rusqlite::Error::IntegralValueOutOfRange(column, number);
    u64::try_from(number).map_err(out_of_range)
}

/// Warns about damaged records, at most once per interval: due tasks are read all the time.
fn warn_of_damage(records: u64) {
    static LAST: AtomicI64 = AtomicI64::new(i64::MIN);
    let (now, last) = (now_ms(), LAST.load(Ordering::Relaxed));
    let elapsed = now.saturating_sub(last) >= WARNING_INTERVAL_MS;
    if elapsed
        && LAST
            .compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    {
        tracing::warn!(
            records,
            "the task store has damaged records, which are ignored; restore its file from a backup, or remove them"
        );
    }
}

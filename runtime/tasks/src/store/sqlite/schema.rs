//! Connections to a file: permissions, settings and tables.

use std::fs::OpenOptions;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use super::failure::{self, store_error};
use crate::store::StoreError;

/// Mark of a file of this store, `tnTk` in ASCII.
const APPLICATION_ID: i64 = 0x746e_546b;
/// Version of the tables.
const SCHEMA_VERSION: i64 = 1;
/// Size of a page, the unit of the file, in bytes.
const PAGE_BYTES: u64 = 4_096;
/// Size that the file `-wal` is reduced to after it was larger, in bytes.
const WAL_BYTES: u32 = 16 << 20;

/// Tables of version 1. The triggers count the tasks of owners, whose number each new task needs.
const TABLES: &str = "
CREATE TABLE task (
  id TEXT NOT NULL PRIMARY KEY,
  owner TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  version INTEGER NOT NULL,
  wake_ms INTEGER NOT NULL,
  state BLOB NOT NULL,
  body BLOB NOT NULL
) STRICT;
CREATE INDEX task_wake ON task (wake_ms, id);
CREATE INDEX task_owner ON task (owner, created_ms, id);
CREATE TABLE owner (
  owner TEXT NOT NULL PRIMARY KEY,
  tasks INTEGER NOT NULL,
  bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER task_inserted AFTER INSERT ON task BEGIN
  INSERT INTO owner (owner, tasks, bytes) VALUES (new.owner, 1, length(new.state) + length(new.body))
    ON CONFLICT (owner) DO UPDATE SET tasks = tasks + 1, bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER task_replaced AFTER UPDATE OF state, body ON task
WHEN length(new.state) + length(new.body) <> length(old.state) + length(old.body) BEGIN
  UPDATE owner SET bytes = bytes + length(new.state) + length(new.body) - length(old.state) - length(old.body)
    WHERE owner = new.owner;
END;
CREATE TRIGGER task_removed AFTER DELETE ON task BEGIN
  UPDATE owner SET tasks = tasks - 1, bytes = bytes - length(old.state) - length(old.body)
    WHERE owner = old.owner;
  DELETE FROM owner WHERE owner = old.owner AND tasks <= 0;
END;
";

/// Settings of all connections of a store.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) max_bytes: u64,
    pub(super) lock_timeout: Duration,
}

/// Opens the connection for changes, and creates file and tables if they are missing.
pub(super) fn open_writer(path: &Path, settings: &Settings) -> Result<Connection, StoreError> {
    if path.as_os_str() == ":memory:" || path.as_os_str().is_empty() {
        let reason = "the store needs the path of a file; `MemoryStore` stores tasks in memory";
        return Err(StoreError::Other(reason.to_owned()));
    }
    create_file(path)?;
    let with_path = |error| failure::with_path(path, error);
    let mut connection = open(path, settings).map_err(|error| with_path(store_error(&error)))?;
    // A file that is refused stays as it is.
    let prepared = check_file(&mut connection)
        .and_then(|()| use_wal(&connection, settings.lock_timeout))
        .and_then(|()| set_up_writer(&connection, settings).map_err(|error| store_error(&error)))
        .and_then(|()| create_tables(&mut connection));
    prepared.map_err(with_path)?;
    Ok(connection)
}

/// Opens a connection for queries.
pub(super) fn open_reader(path: &Path, settings: &Settings) -> rusqlite::Result<Connection> {
    let connection = open(path, settings)?;
    // The file cannot be opened as read-only: readers write to the index of the file `-wal`.
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

fn open(path: &Path, settings: &Settings) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(settings.lock_timeout)?;
    // A file may have been edited by another program: its schema runs no functions with effects.
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(connection)
}

/// Creates a missing file for its user only. SQLite would make it readable for others. The files beside it get its permissions.
///
/// A file that exists is left to SQLite: on Unix, closing it here would end the locks that other stores of the process have on it.
fn create_file(path: &Path) -> Result<(), StoreError> {
    /// Held so that no other store of the process opens the file between the two steps.
    static CREATING: Mutex<()> = Mutex::new(());
    let _creating = CREATING.lock().unwrap_or_else(PoisonError::into_inner);
    if path.exists() {
        return Ok(());
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let opened = options.open(path);
    opened.map(drop).map_err(|error| {
        let error = StoreError::Unavailable(error.to_string());
        failure::with_path(path, error)
    })
}

/// Switches the file to a write-ahead log, where readers and the writer do not wait for each other.
fn use_wal(connection: &Connection, timeout: Duration) -> Result<(), StoreError> {
    let deadline = Instant::now() + timeout;
    loop {
        let mode = connection
            .pragma_update_and_check(None, "journal_mode", "wal", |row| row.get::<_, String>(0));
        match mode {
            // SQLite does not wait for other processes that switch the same new file.
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && Instant::now() < deadline =>
            {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(error) => return Err(store_error(&error)),
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(_) => {
                let reason =
                    "SQLite cannot use a write-ahead log there; use a file on a local disk";
                return Err(StoreError::Other(reason.to_owned()));
            }
        }
    }
}

fn set_up_writer(connection: &Connection, settings: &Settings) -> rusqlite::Result<()> {
    // Each commit waits until the log is on the disk. `NORMAL` would lose the last commits with the power.
    connection.pragma_update(None, "synchronous", "FULL")?;
    // On macOS, `fsync` alone leaves data in the cache of the disk.
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "checkpoint_fullfsync", true)?;
    set_without_result(connection, "journal_size_limit", i64::from(WAL_BYTES))?;
    let page_bytes: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let page_bytes = u64::try_from(page_bytes).unwrap_or(PAGE_BYTES).max(1);
    let pages = settings.max_bytes.div_ceil(page_bytes);
    // The limit of SQLite is 2³² - 2 pages.
    let pages = i64::from(u32::try_from(pages).unwrap_or(u32::MAX - 1));
    set_without_result(connection, "max_page_count", pages)
}

/// Sets a pragma that returns its new value.
fn set_without_result(connection: &Connection, name: &str, value: i64) -> rusqlite::Result<()> {
    connection.pragma_update_and_check(None, name, value, |_| Ok(()))
}

/// Checks that the file has the tables of this version, or is new.
fn check_file(connection: &mut Connection) -> Result<(), StoreError> {
    // Another process may create the tables between two queries.
    let snapshot = connection.transaction();
    let snapshot = snapshot.map_err(|error| store_error(&error))?;
    has_tables(&snapshot).map(drop)
}

/// Creates the tables in a new file.
fn create_tables(connection: &mut Connection) -> Result<(), StoreError> {
    let failed = |error: rusqlite::Error| store_error(&error);
    // Other processes may create the tables at the same time.
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(failed)?;
    if has_tables(&transaction)? {
        return Ok(());
    }
    transaction
        .execute_batch(TABLES)
        .and_then(|()| transaction.pragma_update(None, "application_id", APPLICATION_ID))
        .and_then(|()| transaction.pragma_update(None, "user_version", SCHEMA_VERSION))
        .and_then(|()| transaction.commit())
        .map_err(failed)
}

/// Returns `true` if the file has the tables of this version, and `false` if it is new.
fn has_tables(transaction: &Transaction<'_>) -> Result<bool, StoreError> {
    let number = |pragma: &str| -> Result<i64, StoreError> {
        let value = transaction.pragma_query_value(None, pragma, |row| row.get(0));
        value.map_err(|error| store_error(&error))
    };
    match (number("application_id")?, number("user_version")?) {
        (APPLICATION_ID, SCHEMA_VERSION) => Ok(true),
        (APPLICATION_ID, version) => Err(StoreError::Other(format!(
            "the file has version {version} of the task store, and this program supports version {SCHEMA_VERSION}; use a \
             newer program or another file"
        ))),
        (0, 0) if number("schema_version")? == 0 => Ok(false),
        _ => Err(StoreError::Other(
            "the file is a database of another program; use another file".to_owned(),
        )),
    }
}

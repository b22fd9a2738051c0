//! The same rows, written by hand.

use std::path::Path;
use std::time::Instant;

use rusqlite::{Connection, TransactionBehavior, params};
use treenail::tasks::TaskId;

use crate::{BODY, Outcome, ROWS, STATE, rate};

const TABLES: &str = "
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
CREATE TABLE task (id TEXT NOT NULL PRIMARY KEY, owner TEXT NOT NULL, created_ms INTEGER NOT NULL,
  version INTEGER NOT NULL, wake_ms INTEGER NOT NULL, state BLOB NOT NULL, body BLOB NOT NULL) STRICT;
CREATE INDEX task_wake ON task (wake_ms, id);
CREATE INDEX task_owner ON task (owner, created_ms, id);
";

/// Returns the rows that are written per second, with `group` rows in each transaction.
pub(crate) fn write(path: &Path, group: u64) -> Outcome<f64> {
    let mut connection = Connection::open(path)?;
    connection.execute_batch(TABLES)?;
    let start = Instant::now();
    let mut number = 0;
    while number < ROWS {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for number in number..(number + group).min(ROWS) {
            let id = TaskId::random()?;
            let created_ms = i64::try_from(number)?;
            transaction
                .prepare_cached("INSERT INTO task VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6)")?
                .execute(params![
                    id.as_str(),
                    "owner",
                    created_ms,
                    created_ms,
                    [b'1'; STATE],
                    [b'1'; BODY]
                ])?;
        }
        transaction.commit()?;
        number += group;
    }
    Ok(rate(start))
}

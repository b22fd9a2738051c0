//! Rows.

use tokio_postgres::Row;

use super::failure::damaged;
use super::query::Query;
use crate::store::{StoreError, StoreUsage, StoredTask};

/// Reads a record. Its body is the last column, or was not read. Returns `None` if a value is invalid, or too long to be read.
pub(super) fn parse_task(row: &Row, has_body: bool) -> Option<StoredTask> {
    let id: &str = row.try_get(0).ok()?;
    let owner: Option<Vec<u8>> = row.try_get(3).ok()?;
    let state: Option<Vec<u8>> = row.try_get(4).ok()?;
    let body: Option<Vec<u8>> = if has_body {
        row.try_get(5).ok()?
    } else {
        Some(Vec::new())
    };
    Some(StoredTask {
        id: id.parse().ok()?,
        owner: String::from_utf8(owner?).ok()?,
        created_ms: natural(row, 1)?,
        version: natural(row, 2)?,
        state: state?,
        body: body?,
    })
}

/// Reads the position of a record in the order of a query: wake time or time of creation, and id.
pub(super) fn position(row: &Row, query: Query) -> Result<(i64, String), StoreError> {
    let column = if query == Query::Due { 6 } else { 1 };
    let time = row.try_get(column).map_err(|_| damaged())?;
    let id = row.try_get(0).map_err(|_| damaged())?;
    Ok((time, id))
}

pub(super) fn parse_usage(row: &Row) -> Option<StoreUsage> {
    Some(StoreUsage::new(natural(row, 0)?, natural(row, 1)?))
}

/// Reads a number that cannot be negative.
fn natural(row: &Row, column: usize) -> Option<u64> {
    let number: i64 = row.try_get(column).ok()?;
    u64::try_from(number).ok()
}

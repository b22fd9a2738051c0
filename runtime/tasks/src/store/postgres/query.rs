//! Statements and their parameters.

use std::error::Error;
use std::fmt;

use bytes::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use super::names::Names;
use crate::store::StoreError;

/// Time of the server in microseconds since 1970.
const NOW: &str = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

/// Statement of the store. Each connection prepares it once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Query {
    Insert,
    Replace,
    Remove,
    Get,
    State,
    Due,
    Created,
    List,
    Usage,
}

/// Number of statements.
pub(super) const QUERIES: usize = Query::Usage as usize + 1;

impl Query {
    /// Returns the text of the statement. A change returns a row if it was made.
    pub(super) fn text(self, names: &Names) -> String {
        let table = names.table();
        match self {
            Self::Insert => format!(
                "INSERT INTO {table} (id, owner, created_ms, version, wake_us, state, body) \
                 VALUES ($1, $2, $3, $4, {NOW} + $5::bigint, $6, $7) ON CONFLICT (id) DO NOTHING RETURNING 1"
            ),
            Self::Replace => format!(
                "UPDATE {table} SET version = $2::bigint, wake_us = {NOW} + $3::bigint, state = $4, body = $5 \
                 WHERE id = $1 AND version = $2::bigint - 1 RETURNING 1"
            ),
            Self::Remove => {
                format!("DELETE FROM {table} WHERE id = $1 AND version = $2 RETURNING 1")
            }
            Self::Get => format!("{} FROM {table} WHERE id = $2", record("$1")),
            // The body is not named, so that it is not read: a long one is outside of the row.
            Self::State => format!(
                "SELECT id, created_ms, version, {}, {} FROM {table} WHERE id = $2",
                bounded("owner", "$1"),
                bounded("state", "$1")
            ),
            Self::Due => due(&table),
            Self::Created => {
                format!("SELECT created_ms FROM {table} WHERE id = $1 AND owner = $2")
            }
            Self::List => format!(
                "{} FROM {table} WHERE sha256(owner) = sha256($2::bytea) AND owner = $2::bytea \
                 AND (created_ms, id) > ($3::bigint, $4::text) ORDER BY created_ms, id LIMIT $5",
                record("$1")
            ),
            Self::Usage => format!(
                "SELECT coalesce(sum(tasks), 0)::bigint, coalesce(sum(bytes), 0)::bigint FROM {} \
                 WHERE owner_hash = sha256($1::bytea)",
                names.usage()
            ),
        }
    }
}

/// Query for due records. A function whose value changes cannot limit an index, but that of a subquery can.
fn due(table: &str) -> String {
    format!(
        "{}, wake_us FROM {table} WHERE wake_us <= (SELECT {NOW}) AND (wake_us, id) > ($2::bigint, $3::text) \
         ORDER BY wake_us, id LIMIT $4",
        record("$1")
    )
}

/// Start of a query for records.
fn record(max: &str) -> String {
    let [owner, state, body] = ["owner", "state", "body"].map(|column| bounded(column, max));
    format!("SELECT id, created_ms, version, {owner}, {state}, {body}")
}

/// Value of a column, or null if it is too long to be read.
fn bounded(column: &str, max: &str) -> String {
    format!("CASE WHEN octet_length({column}) <= {max}::bigint THEN {column} END")
}

/// Parameter of a statement. `Debug` does not show it, since the driver writes parameters to the log.
pub(super) enum Value {
    Text(String),
    Bytes(Vec<u8>),
    Number(i64),
}

impl Value {
    /// Creates a number, of which PostgreSQL stores 63 bits.
    pub(super) fn number(number: u64) -> Result<Self, StoreError> {
        let too_large = || StoreError::Other("a number of the task exceeds 2⁶³ - 1".to_owned());
        i64::try_from(number)
            .map(Self::Number)
            .map_err(|_| too_large())
    }

    /// Creates a size or a number of rows.
    pub(super) fn size(size: usize) -> Self {
        Self::Number(i64::try_from(size).unwrap_or(i64::MAX))
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("…")
    }
}

impl ToSql for Value {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Text(text) => text.to_sql_checked(ty, out),
            Self::Bytes(bytes) => bytes.to_sql_checked(ty, out),
            Self::Number(number) => number.to_sql_checked(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        // The type is checked with the value.
        true
    }

    to_sql_checked!();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_not_in_the_log() {
        let values = [
            Value::Text("secret".to_owned()),
            Value::Bytes(b"secret".to_vec()),
            Value::Number(5_318_008),
        ];
        assert_eq!(format!("{values:?}"), "[…, …, …]");
    }
}

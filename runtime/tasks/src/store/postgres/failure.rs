//! Errors of PostgreSQL as errors of a store.

use std::error::Error as _;
use std::io;

use tokio_postgres::Error;
use tokio_postgres::error::{Severity, SqlState};

use crate::store::StoreError;

/// Text of each error of a TLS connector, whose kind is not public.
const TLS: &str = "error performing TLS handshake";

/// Reason of errors that a pooler causes.
const POOLER: &str = "a pooler refuses the connection, or is in transaction mode, which cannot be used; use its session mode, or connect to PostgreSQL itself";

/// Error of an operation.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    pub(super) error: StoreError,
    /// Set if the connection is of no further use.
    pub(super) is_lost: bool,
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self {
            error,
            is_lost: false,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self {
            is_lost: is_lost(&error),
            error: store_error(&error),
        }
    }
}

pub(super) fn damaged() -> StoreError {
    StoreError::Other("a record is damaged".to_owned())
}

pub(super) fn late() -> StoreError {
    StoreError::Unavailable("PostgreSQL does not respond in time".to_owned())
}

pub(super) fn busy() -> StoreError {
    let reason = "all connections of the store to PostgreSQL are busy: PostgreSQL is slow, or `max_connections` of the store is too low";
    StoreError::Unavailable(reason.to_owned())
}

/// Converts an error. Its message contains no text of PostgreSQL, which may have a part of a task, apart from the code.
fn store_error(error: &Error) -> StoreError {
    error
        .code()
        .map_or_else(|| without_code(error), |code| with_code(code.code()))
}

fn with_code(code: &str) -> StoreError {
    let unavailable = |reason: &str| StoreError::Unavailable(format!("{reason} ({code})"));
    let other = |reason: &str| StoreError::Other(format!("{reason} ({code})"));
    match code {
        "53100" => StoreError::Full("the disk of PostgreSQL has no space left".to_owned()),
        "25006" => unavailable(
            "this PostgreSQL is read-only, such as a standby; use the URL of the primary one, or `target_session_attrs=read-write`",
        ),
        // The statements of several connections are mixed.
        "26000" | "42P05" => other(POOLER),
        // A pooler reports its own errors with this code, too.
        "08P01" => unavailable(POOLER),
        "28000" | "28P01" => unavailable(
            "PostgreSQL refuses the user, the password, the address, or a connection without TLS",
        ),
        "3D000" => other("the database does not exist; create it"),
        "3F000" => other("the schema of the table does not exist; create it"),
        "42501" => other(
            "the user of PostgreSQL lacks a permission; `PostgresStore` lists those that it needs",
        ),
        "42P01" | "42703" => {
            other("the tables of the store have been changed; restore them from a backup")
        }
        "53300" => unavailable(
            "PostgreSQL has no free connection; raise its `max_connections`, or lower that of the store",
        ),
        "55P03" | "57014" => unavailable("PostgreSQL did not complete the operation in time"),
        "57P01" | "57P02" | "57P03" => {
            unavailable("PostgreSQL is starting, stopping or recovering")
        }
        "XX001" | "XX002" => other("a file of PostgreSQL is damaged; restore it from a backup"),
        // Connections, conflicts of transactions, resources, and the system.
        _ if ["08", "40", "53", "57", "58"]
            .iter()
            .any(|class| code.starts_with(class)) =>
        {
            unavailable("PostgreSQL returned an error")
        }
        _ => other("PostgreSQL returned an error"),
    }
}

fn without_code(error: &Error) -> StoreError {
    if error.to_string() == TLS {
        let reason = "the TLS handshake with PostgreSQL failed; check its certificate, and the roots of the TLS connector";
        return StoreError::Unavailable(reason.to_owned());
    }
    let source = error.source();
    let io = source.and_then(|source| source.downcast_ref::<io::Error>());
    StoreError::Unavailable(match io {
        Some(io) => format!("PostgreSQL cannot be reached ({})", io.kind()),
        None if error.is_closed() => "the connection to PostgreSQL was lost".to_owned(),
        // The name of the step that failed. The reason is in the source.
        None => format!("the connection to PostgreSQL failed: {error}"),
    })
}

/// Returns whether the connection is of no further use, as after a failover or a change of the tables.
fn is_lost(error: &Error) -> bool {
    let Some(database) = error.as_db_error() else {
        return true;
    };
    let is_fatal = matches!(
        database.parsed_severity(),
        Some(Severity::Fatal | Severity::Panic)
    );
    let outdated = [
        SqlState::READ_ONLY_SQL_TRANSACTION,
        SqlState::INVALID_SQL_STATEMENT_NAME,
        SqlState::FEATURE_NOT_SUPPORTED,
    ];
    is_fatal || outdated.contains(database.code())
}

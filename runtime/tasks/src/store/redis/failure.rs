//! Errors of Redis as errors of a store.

use treenail_redis::internal::redis::{ErrorKind, RedisError, ServerErrorKind};

use crate::store::StoreError;

/// Longest code of an error in a message, in bytes.
const CODE_BYTES: usize = 32;

/// Converts an error. Its message contains no text of Redis, which may have a part of a task, apart from the code.
pub(super) fn store_error(error: &RedisError) -> StoreError {
    let unavailable = |reason: &str| StoreError::Unavailable(reason.to_owned());
    if is_out_of_memory(error) {
        let reason = "Redis has reached its `maxmemory`";
        return StoreError::Full(reason.to_owned());
    }
    match error.kind() {
        _ if error.code() == Some("WRONGPASS") => {
            unavailable("Redis refuses the name or password")
        }
        ErrorKind::AuthenticationFailed => unavailable("Redis refuses the name or password"),
        ErrorKind::Io if error.is_timeout() => unavailable("Redis does not respond in time"),
        ErrorKind::Io => unavailable("Redis cannot be reached"),
        ErrorKind::Server(ServerErrorKind::ReadOnly) => {
            unavailable("this Redis is a read-only copy; use the URL of the primary one")
        }
        ErrorKind::Server(
            ServerErrorKind::BusyLoading
            | ServerErrorKind::ClusterDown
            | ServerErrorKind::MasterDown
            | ServerErrorKind::TryAgain,
        ) => StoreError::Unavailable(format!("Redis returned {}", code(error))),
        ErrorKind::Server(ServerErrorKind::Moved | ServerErrorKind::Ask) => StoreError::Other(
            "Redis is a cluster, and the tasks of this server belong to another node; use the URL of that node".to_owned(),
        ),
        ErrorKind::Server(ServerErrorKind::NoPerm) => StoreError::Other(
            "the user of Redis lacks a permission; `RedisStore` lists the commands that it needs".to_owned(),
        ),
        // The disk of Redis is full or broken, a script runs for too long, or a password is missing.
        _ if matches!(error.code(), Some("MISCONF" | "BUSY" | "NOAUTH" | "NOREPLICAS")) => {
            StoreError::Unavailable(format!("Redis returned {}", code(error)))
        }
        _ => StoreError::Other(format!("Redis returned {}", code(error))),
    }
}

/// Returns whether the connection is of no further use. After a failover, the address may be that of another server, while the
/// former primary keeps its connections.
pub(super) fn is_broken(error: &RedisError) -> bool {
    let is_demoted = matches!(
        error.kind(),
        ErrorKind::Server(ServerErrorKind::ReadOnly | ServerErrorKind::MasterDown)
    );
    is_demoted || error.is_io_error() || error.is_timeout() || error.is_unrecoverable_error()
}

pub(super) fn unexpected() -> StoreError {
    StoreError::Other("Redis returned an unexpected reply".to_owned())
}

pub(super) fn damaged() -> StoreError {
    StoreError::Other("a record is damaged".to_owned())
}

fn is_out_of_memory(error: &RedisError) -> bool {
    // Redis 6 describes the error of a command in a script within the details of another.
    let within = |detail: &str| detail.contains("OOM command not allowed");
    error.code() == Some("OOM") || error.detail().is_some_and(within)
}

/// Returns the code of an error, such as `the error WRONGTYPE`.
fn code(error: &RedisError) -> String {
    let is_code = |code: &&str| {
        code.len() <= CODE_BYTES && code.bytes().all(|byte| byte.is_ascii_uppercase())
    };
    match error.code().filter(is_code) {
        Some(code) => format!("the error {code}"),
        None => "an error".to_owned(),
    }
}

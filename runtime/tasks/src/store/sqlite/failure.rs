//! Errors of SQLite as errors of a store.

use std::path::Path;

use rusqlite::{Error, ErrorCode, ffi};

use crate::store::StoreError;

/// Converts an error. Its message is the description of the code: the text of SQLite may contain a part of a task.
pub(super) fn store_error(error: &Error) -> StoreError {
    let Error::SqliteFailure(failure, _) = error else {
        return StoreError::Other(match error {
            error if is_damage(error) => "a record is damaged".to_owned(),
            _ => "SQLite returned an unexpected result".to_owned(),
        });
    };
    let description = ffi::code_to_str(failure.extended_code);
    match failure.code {
        ErrorCode::DiskFull => StoreError::Full(
            "the disk has no space left, or the file has reached its maximum size".to_owned(),
        ),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            StoreError::Unavailable("another process has locked the file for too long".to_owned())
        }
        ErrorCode::ReadOnly => StoreError::Unavailable("the file is read-only".to_owned()),
        ErrorCode::CannotOpen
        | ErrorCode::FileLockingProtocolFailed
        | ErrorCode::OperationInterrupted
        | ErrorCode::OutOfMemory
        | ErrorCode::PermissionDenied => StoreError::Unavailable(description.to_owned()),
        ErrorCode::SystemIoFailure => {
            let operation = io_operation(failure.extended_code);
            StoreError::Unavailable(format!("{operation} ({description})"))
        }
        ErrorCode::NotADatabase => {
            StoreError::Other("the file is not a database of SQLite".to_owned())
        }
        ErrorCode::DatabaseCorrupt => StoreError::Other(
            "the file is damaged; restore it from a backup, or use another file".to_owned(),
        ),
        _ => StoreError::Other(description.to_owned()),
    }
}

/// Returns the operation that the operating system has failed.
fn io_operation(code: i32) -> &'static str {
    match code {
        ffi::SQLITE_IOERR_READ | ffi::SQLITE_IOERR_SHORT_READ => "a file could not be read",
        ffi::SQLITE_IOERR_WRITE => "a file could not be written; the disk or a quota may be full",
        ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_DIR_FSYNC => {
            "a change could not be synchronized with the disk"
        }
        _ => "the file system failed",
    }
}

/// Returns whether the error is that of a single value, so that other records are readable.
pub(super) fn is_damage(error: &Error) -> bool {
    matches!(
        error,
        Error::FromSqlConversionFailure(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::InvalidColumnType(..)
            | Error::Utf8Error(..)
    )
}

/// Returns whether the error means that another process holds the lock.
pub(super) fn is_busy(error: &Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

/// Returns whether the file has no space left.
pub(super) fn is_full(error: &Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
}

/// Returns the error of a file without space.
pub(super) fn full() -> Error {
    Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_FULL), None)
}

/// Returns whether the error is that of an id that exists already.
pub(super) fn is_duplicate(error: &Error) -> bool {
    matches!(error, Error::SqliteFailure(failure, _)
        if failure.extended_code == ffi::SQLITE_CONSTRAINT_PRIMARYKEY)
}

/// Adds the path to an error on opening a file.
pub(super) fn with_path(path: &Path, error: StoreError) -> StoreError {
    let add = |reason: String| format!("`{}`: {reason}", path.display());
    match error {
        StoreError::Unavailable(reason) => StoreError::Unavailable(add(reason)),
        StoreError::Full(reason) => StoreError::Full(add(reason)),
        StoreError::Other(reason) => StoreError::Other(add(reason)),
        other => other,
    }
}

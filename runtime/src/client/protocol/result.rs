//! Results of the server, read as their types.

use serde::de::DeserializeOwned;
use treenail_schema::Request;

use crate::client::ClientError;
use crate::wire::quoted;

/// Reads a result as its type.
pub(in crate::client) fn read<T: DeserializeOwned>(text: &str) -> Result<T, ClientError> {
    serde_json::from_str(text).map_err(|error| unreadable(&error))
}

/// Reads the result of a method.
pub(in crate::client) fn read_result<R: Request>(text: &str) -> Result<R::Result, ClientError> {
    R::read_result(text).map_err(|error| unreadable(&error))
}

#[cold]
fn unreadable(error: &serde_json::Error) -> ClientError {
    ClientError::protocol(format!("a result cannot be read: {error}"))
}

/// Error of a result whose `resultType` the client does not know.
#[cold]
pub(super) fn unknown_type(kind: &str) -> ClientError {
    ClientError::protocol(format!("a result has the unknown type {}", quoted(kind)))
}

//! Results of the server, read as their types.

use serde::de::DeserializeOwned;
use treenail_schema::Request;

use crate::client::ClientError;

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

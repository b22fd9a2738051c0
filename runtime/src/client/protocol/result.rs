//! Results of the server, read as their types.

use serde::de::DeserializeOwned;
use treenail_schema::internal::read_call_tool_result;
use treenail_schema::{CallToolResult, Request};

use crate::client::ClientError;
use crate::wire::{quoted, read_json, replace_halves};

/// Reads a result as its type.
pub(in crate::client) fn read<T: DeserializeOwned>(text: &str) -> Result<T, ClientError> {
    read_json(text).map_err(|error| unreadable(&error))
}

/// Reads the result of a method.
pub(in crate::client) fn read_result<R: Request>(text: &str) -> Result<R::Result, ClientError> {
    R::read_result(text).or_else(|error| {
        let text = without_halves(text, &error)?;
        R::read_result(&text).map_err(|error| unreadable(&error))
    })
}

/// Reads the result of a call into an empty one.
pub(in crate::client) fn read_call_result(
    text: &str,
    result: &mut CallToolResult,
) -> Result<(), ClientError> {
    read_call_tool_result(text, result).or_else(|error| {
        let text = without_halves(text, &error)?;
        *result = CallToolResult::new([]);
        read_call_tool_result(&text, result).map_err(|error| unreadable(&error))
    })
}

/// Returns a result that cannot be read without its halves of characters, or the error if there are none.
#[cold]
fn without_halves(text: &str, error: &serde_json::Error) -> Result<String, ClientError> {
    replace_halves(text).ok_or_else(|| unreadable(error))
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

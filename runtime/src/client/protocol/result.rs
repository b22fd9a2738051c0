//! Results of the server, read as their types.

use serde::de::DeserializeOwned;
use treenail_schema::internal::{read_call_tool_result, without_later_members};
use treenail_schema::{CallToolRequest, CallToolResult, Request, ResultObject as _, Revision};

use crate::client::ClientError;
use crate::wire::{quoted, read_json, replace_halves};

/// Reads a result as its type.
pub(in crate::client) fn read<T: DeserializeOwned>(text: &str) -> Result<T, ClientError> {
    read_json(text).map_err(|error| unreadable(&error))
}

/// Reads the result of a method, given the revision of its server.
pub(in crate::client) fn read_result<R: Request>(
    text: &str,
    revision: impl FnOnce() -> Revision,
) -> Result<R::Result, ClientError> {
    R::read_result(text).or_else(|error| read_again::<R>(text, revision(), &error))
}

/// Reads the result of a call into an empty one, given the revision of its server.
pub(in crate::client) fn read_call_result(
    text: &str,
    result: &mut CallToolResult,
    revision: impl FnOnce() -> Revision,
) -> Result<(), ClientError> {
    if let Err(error) = read_call_tool_result(text, result) {
        *result = read_again::<CallToolRequest>(text, revision(), &error)?;
    }
    Ok(())
}

/// Reads a result that cannot be read, without its halves of characters and without members of other revisions.
#[cold]
fn read_again<R: Request>(
    text: &str,
    revision: Revision,
    error: &serde_json::Error,
) -> Result<R::Result, ClientError> {
    let Some(text) = replace_halves(text) else {
        return read_without_later::<R>(text, revision, error);
    };
    R::read_result(&text).or_else(|error| read_without_later::<R>(&text, revision, &error))
}

/// Reads a result without the members of other revisions, which its own revision allows to have any value.
#[cold]
fn read_without_later<R: Request>(
    text: &str,
    revision: Revision,
    error: &serde_json::Error,
) -> Result<R::Result, ClientError> {
    let text = without_later_members(text, R::Result::NAME, revision);
    let result = text.and_then(|text| R::read_result(&text).ok());
    result.ok_or_else(|| unreadable(error))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_member_is_an_error_in_both_eras() {
        let text =
            r#"{"content":[{"type":"text","text":"A"}],"content":[{"type":"text","text":"B"}]}"#;
        // Here, a member of a later revision has to be removed first.
        let later = text.replacen(r#""A""#, r#""A","_meta":5"#, 1);
        for revision in [
            Revision::V2025_03_26,
            Revision::V2025_11_25,
            Revision::LATEST,
        ] {
            for text in [text, &later] {
                let read = read_result::<CallToolRequest>(text, || revision);
                assert!(read.is_err(), "{revision}: {read:?}");
                let mut result = CallToolResult::default();
                let read = read_call_result(text, &mut result, || revision);
                assert!(read.is_err(), "{revision}: {result:?}");
            }
        }
    }
}

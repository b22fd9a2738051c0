//! From the result of a tool to what it has returned.

use std::any::type_name;

use serde::de::DeserializeOwned;
use treenail_schema::CallToolResult;

use crate::client::ClientError;
use crate::typed_contract::{read_structured, read_text, text_of};

/// A failure of the tool as an error.
pub(super) fn succeeded(result: CallToolResult) -> Result<CallToolResult, ClientError> {
    if result.is_error == Some(true) {
        return Err(ClientError::Tool(Box::new(result)));
    }
    Ok(result)
}

/// What a tool has returned, as a type: its structured content, or else its text read as JSON or taken as it is, or else
/// nothing.
pub(in crate::client) fn output_of<T: DeserializeOwned>(
    result: CallToolResult,
) -> Result<T, ClientError> {
    let mut result = succeeded(result)?;
    if let Some(structured) = result.structured_content.take() {
        return read_structured(structured, &result).map_err(|error| unfit::<T>(&error));
    }
    // Nothing is known of the type but how it is read, so text that is JSON is taken for that.
    read_text(text_of(&result), || false).map_err(|error| unfit::<T>(&error))
}

/// The error for an output that is no `T`.
pub(super) fn unfit<T>(error: &serde_json::Error) -> ClientError {
    let wanted = type_name::<T>();
    ClientError::Output(format!("it is no `{wanted}`: {error}").into())
}

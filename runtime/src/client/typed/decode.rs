//! Decoding of tool results.

use std::any::type_name;

use serde::de::DeserializeOwned;
use treenail_schema::CallToolResult;

use crate::client::ClientError;
use crate::typed_contract::{read_structured, read_text, text_of};

/// Turns the result of a failed tool into an error.
pub(super) fn require_success(result: CallToolResult) -> Result<CallToolResult, ClientError> {
    if result.is_error == Some(true) {
        return Err(ClientError::Tool(Box::new(result)));
    }
    Ok(result)
}

/// Decodes the output of a tool: its structured content, else its text parsed as JSON or taken literally, else nothing.
pub(super) fn decode_output<T: DeserializeOwned>(result: CallToolResult) -> Result<T, ClientError> {
    let mut result = require_success(result)?;
    if let Some(structured) = result.structured_content.take() {
        return read_structured(structured, &result).map_err(|error| output_error::<T>(&error));
    }
    // The schema of the type is unknown, so text that is valid JSON is parsed.
    read_text(text_of(&result), || false).map_err(|error| output_error::<T>(&error))
}

/// Returns the error for an output that is not a `T`.
pub(super) fn output_error<T>(error: &serde_json::Error) -> ClientError {
    let expected = type_name::<T>();
    ClientError::Output(format!("it is not of type `{expected}`: {error}").into())
}

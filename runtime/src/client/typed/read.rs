//! From the result of a tool to what it has returned.

use serde::de::DeserializeOwned;
use treenail_schema::CallToolResult;

use crate::client::ClientError;
use crate::contract::{read_text, text_of};

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
        return serde_json::from_value(structured).map_err(|error| unfit(&error));
    }
    // Nothing is known of the type but how it is read, so text that is JSON is taken for that.
    read_text(text_of(&result), || false).map_err(|error| unfit(&error))
}

pub(super) fn unfit(error: &serde_json::Error) -> ClientError {
    ClientError::protocol(format!("the output of the tool has another form: {error}"))
}

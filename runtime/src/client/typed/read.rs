//! From the result of a tool to what it has returned.

use serde::de::DeserializeOwned;
use serde_json::Value;
use treenail_schema::CallToolResult;

use crate::client::ClientError;

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
    let text = text_of(&result);
    let read = match &text {
        Some(text) => serde_json::from_str(text),
        None => serde_json::from_value(Value::Null),
    };
    match read {
        Ok(output) => Ok(output),
        // A text that is no JSON is the output if a text is wanted.
        Err(error) => {
            let text = Value::String(text.unwrap_or_default());
            serde_json::from_value(text).map_err(|_| unfit(&error))
        }
    }
}

/// The texts of a result; `None` if it has no content.
pub(super) fn text_of(result: &CallToolResult) -> Option<String> {
    if result.content.is_empty() {
        return None;
    }
    let texts = result.content.iter().filter_map(|block| block.as_text());
    Some(texts.collect::<Vec<_>>().join("\n"))
}

pub(super) fn unfit(error: &serde_json::Error) -> ClientError {
    ClientError::protocol(format!("the output of the tool has another form: {error}"))
}

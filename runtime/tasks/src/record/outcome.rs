//! Outcome of a task, stored once and read in each revision.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use treenail_runtime::RpcError;

/// Longest diagnostic message of a failed task, in characters.
const MESSAGE_CHARS: usize = 500;

/// Outcome of a task.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// The result of the call, in the style of the newest revision.
    Result(Box<RawValue>),
    /// A result with `isError`.
    Failure(Box<RawValue>),
    Error(StoredError),
    Cancelled,
}

/// JSON-RPC error of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredError {
    pub(crate) code: i64,
    pub(crate) message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<Value>,
}

impl From<RpcError> for StoredError {
    fn from(error: RpcError) -> Self {
        Self {
            code: error.code,
            message: error.message.into_owned(),
            data: error.data,
        }
    }
}

impl StoredError {
    /// Returns the error as the task had it. Not a conversion of `RpcError`, whose users would see this private type.
    pub(crate) fn into_rpc_error(self) -> RpcError {
        let error = RpcError::new(self.code, self.message);
        match self.data {
            Some(data) => error.with_data(data),
            None => error,
        }
    }
}

impl Outcome {
    /// Makes the outcome of a call that has returned.
    pub(crate) fn of(result: Result<Box<RawValue>, RpcError>) -> Self {
        #[derive(Deserialize)]
        struct IsError {
            #[serde(default, rename = "isError")]
            is_error: bool,
        }

        match result {
            Ok(result) => match serde_json::from_str(result.get()) {
                Ok(IsError { is_error: true }) => Self::Failure(result),
                _ => Self::Result(result),
            },
            Err(error) => Self::Error(error.into()),
        }
    }

    /// Makes the outcome of a task that the engine ends, with the reason.
    pub(crate) fn failed(reason: impl Into<String>) -> Self {
        Self::Error(RpcError::internal(reason.into()).into())
    }

    /// Returns the message that describes a failure to users.
    pub(crate) fn message(&self) -> Option<String> {
        match self {
            Self::Result(_) => None,
            Self::Failure(result) => Some(first_text(result).unwrap_or_else(failed)),
            Self::Error(error) => Some(shorten(&error.message, MESSAGE_CHARS)),
            Self::Cancelled => Some("cancelled".to_owned()),
        }
    }
}

fn failed() -> String {
    "the tool failed".to_owned()
}

/// Returns the first text of a result, shortened.
pub(crate) fn first_text(result: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Content {
        content: Vec<Block>,
    }
    #[derive(Deserialize)]
    struct Block {
        text: Option<String>,
    }

    let content: Content = serde_json::from_str(result.get()).ok()?;
    let text = content.content.into_iter().find_map(|block| block.text)?;
    Some(shorten(&text, MESSAGE_CHARS))
}

/// Returns a text of at most `chars` characters on one line.
pub(crate) fn shorten(text: &str, chars: usize) -> String {
    let mut characters = text.trim().chars();
    let plain = |char: char| if char.is_control() { ' ' } else { char };
    let mut short: String = characters.by_ref().take(chars).map(plain).collect();
    if characters.next().is_some() {
        short.pop();
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::{Outcome, shorten};

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).expect("JSON")
    }

    #[test]
    fn a_result_with_is_error_is_a_failure_with_its_text_as_message() {
        let result = r#"{"content":[{"type":"text","text":"no\ndisk"}],"isError":true}"#;
        let outcome = Outcome::of(Ok(raw(result)));
        assert!(matches!(outcome, Outcome::Failure(_)), "{outcome:?}");
        assert_eq!(outcome.message().expect("a message"), "no disk");
        let outcome = Outcome::of(Ok(raw(r#"{"content":[],"isError":false}"#)));
        assert!(matches!(outcome, Outcome::Result(_)), "{outcome:?}");
    }

    #[test]
    fn long_messages_end_with_an_ellipsis() {
        assert_eq!(shorten("ééé", 3), "ééé");
        assert_eq!(shorten("éééé", 3), "éé…");
        assert_eq!(shorten("a\u{7}b", 3), "a b");
    }
}

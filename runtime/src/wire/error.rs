//! The JSON-RPC error object.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use treenail_schema::error_code;

use crate::wire::SyntaxError;

/// Longest quotation of a peer's text in an error message, in characters.
const MAX_QUOTED_CHARS: usize = 64;

/// JSON-RPC error object: the `error` member of a response.
///
/// A failed tool does not return one. Its failure is a *result* that the model can read, see
/// [`ToolError`](crate::ToolError).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RpcError {
    /// Error code. The constants are in [`treenail_schema::error_code`].
    pub code: i64,
    /// Short description of the error, one sentence.
    pub message: Cow<'static, str>,
    /// Additional data that the specification defines for the code, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl RpcError {
    /// Creates an error without data.
    pub fn new(code: i64, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// Sets the `data` member.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    pub(crate) fn parse(error: SyntaxError) -> Self {
        Self::new(error_code::PARSE_ERROR, format!("not valid JSON: {error}"))
    }

    pub(crate) fn invalid_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(error_code::INVALID_REQUEST, message)
    }

    pub(crate) fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(error_code::INVALID_PARAMS, message)
    }

    pub(crate) fn internal(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(error_code::INTERNAL_ERROR, message)
    }

    pub(crate) fn method_not_found(method: &str, revision: impl fmt::Display) -> Self {
        let message = format!(
            "method {} is not available in revision {revision}",
            quoted(method)
        );
        Self::new(error_code::METHOD_NOT_FOUND, message)
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} (code {})", self.message, self.code)
    }
}

impl std::error::Error for RpcError {}

/// Quotes a peer's text in backticks, truncated to a bounded length and with control characters escaped.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("`");
    let mut characters = text.chars();
    for character in characters.by_ref().take(MAX_QUOTED_CHARS) {
        match character {
            '`' => quoted.push('\''),
            control if control.is_control() => quoted.extend(control.escape_default()),
            other => quoted.push(other),
        }
    }
    quoted.push_str(if characters.next().is_some() {
        "…`"
    } else {
        "`"
    });
    quoted
}

/// Longest reason in an error message, in characters. Errors of `serde_json` repeat the input of the peer.
const MAX_REASON_CHARS: usize = 200;

/// Truncates the reason of a parse error to a bounded length.
pub(crate) fn shortened(reason: &str) -> String {
    match reason.char_indices().nth(MAX_REASON_CHARS) {
        Some((end, _)) => format!("{}…", &reason[..end]),
        None => reason.to_owned(),
    }
}

//! The JSON-RPC error object.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use crate::error_code;
use crate::object::object;
use crate::wire::{SyntaxError, quoted};

/// JSON-RPC error object: the `error` member of a response.
///
/// A failed tool does not return one. Its failure is a *result* that the model can read, see
/// `ToolError`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RpcError {
    /// Error code. The constants are in [`crate::error_code`].
    pub code: i64,
    /// Short description of the error, one sentence.
    pub message: Cow<'static, str>,
    /// Additional data that the specification defines for the code, if any.
    pub data: Option<Value>,
}

object! { RpcError { required code = "code" as lenient, required message = "message", optional data = "data" } }

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

    #[doc(hidden)]
    pub fn parse(error: SyntaxError) -> Self {
        Self::new(error_code::PARSE_ERROR, format!("not valid JSON: {error}"))
    }

    /// An error with code -32600: the message is not a valid request.
    pub fn invalid_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(error_code::INVALID_REQUEST, message)
    }

    /// An error with code -32602: the parameters are not valid.
    pub fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(error_code::INVALID_PARAMS, message)
    }

    /// An error with code -32603: the receiver failed.
    pub fn internal(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(error_code::INTERNAL_ERROR, message)
    }

    #[doc(hidden)]
    pub fn method_not_found(method: &str, revision: impl fmt::Display) -> Self {
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

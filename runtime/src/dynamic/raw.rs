//! Raw handlers: the JSON text of arguments in, the JSON text of a result out.

use std::fmt;
use std::future::Future;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::context::Context;
use crate::wire::RpcError;

/// Result of a request as JSON text, in the format of the newest revision of the protocol. Needs the feature `dynamic`.
///
/// A raw handler returns it, for example [`Tool::raw`](super::Tool::raw). The server adapts it to the revision of the caller:
/// it replaces content blocks that the revision does not define, moves structured content, and completes `_meta`. Other
/// members, and the text of all values, stay as they are.
///
/// It must be one JSON object, the complete result of the method (`CallToolResult`, `GetPromptResult`, `ReadResourceResult`
/// or `CompleteResult`), of at most [`Limits::raw_result_bytes`](crate::Limits::raw_result_bytes). If it is no object or is too large,
/// the caller receives an error. The members of the object are not validated.
///
/// ```
/// use treenail::dynamic::RawResult;
/// use treenail::json;
///
/// let one = RawResult::from(r#"{"content":[{"type":"text","text":"12 °C"}]}"#.to_owned());
/// let same = RawResult::new(&json!({"content": [{"type": "text", "text": "12 °C"}]}))?;
/// assert_eq!(one.text(), same.text());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct RawResult(String);

impl RawResult {
    /// Writes a value as JSON, such as a result type of [`schema`](crate::schema).
    ///
    /// # Errors
    ///
    /// The error of the value's `Serialize` implementation.
    pub fn new<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::to_string(value).map(Self)
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for RawResult {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RawResult")
            .field("bytes", &self.0.len())
            .finish_non_exhaustive()
    }
}

impl From<String> for RawResult {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<Box<str>> for RawResult {
    fn from(text: Box<str>) -> Self {
        Self(text.into())
    }
}

impl From<Box<RawValue>> for RawResult {
    fn from(text: Box<RawValue>) -> Self {
        Box::<str>::from(text).into()
    }
}

/// Outcome of a raw handler.
pub(crate) type RawOutcome = Result<RawResult, Refusal>;

/// Reason why there is no result.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The handler returned this error.
    Rpc(RpcError),
    /// The result is larger than this number of bytes.
    TooLarge(usize),
}

impl Refusal {
    /// Returns the JSON-RPC error, for kinds whose failures are JSON-RPC errors.
    pub(crate) fn into_error(self, kind: &str, name: &str) -> RpcError {
        match self {
            Self::Rpc(error) => error,
            Self::TooLarge(most) => RpcError::internal(too_large(kind, name, most)),
        }
    }
}

/// Describes a result that is too large.
pub(crate) fn too_large(kind: &str, name: &str, most: usize) -> String {
    format!(
        "the result of the {kind} `{name}` is larger than {most} bytes, the maximum of this server"
    )
}

/// Bounds the result of a raw handler.
pub(super) async fn bounded(
    context: Context,
    result: impl Future<Output = Result<RawResult, RpcError>>,
) -> RawOutcome {
    let result = result.await.map_err(Refusal::Rpc)?;
    let most = context.server().limits().raw_result_bytes;
    if result.0.len() > most {
        return Err(Refusal::TooLarge(most));
    }
    Ok(result)
}

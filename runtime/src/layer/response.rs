//! Response to a call of a tool, as layers see it.

use std::fmt;

use treenail_schema::{CallToolResult, Tool};

use crate::result_writer::ResultWriter;
use crate::tool::raw::{COMPLETE, write_members};
use crate::tool::reply::ToolResultWriter;
use crate::tool::shape::Shape;
use crate::wire::{Members, RpcError};

/// Response to a call of a tool, as layers see it. Needs the feature `tower`.
///
/// It contains the result in the format of the newest revision, independent of the client's revision. If the layers return it
/// unchanged, the client gets the same result as without layers.
///
/// ```
/// use treenail::tool::ToolResponse;
/// use treenail::schema::{CallToolResult, ContentBlock};
///
/// let response = ToolResponse::from(CallToolResult::new([ContentBlock::text("12 °C")]));
/// assert!(!response.is_error());
/// assert!(response.result().is_some());
/// ```
#[derive(Clone)]
pub struct ToolResponse(Kind);

#[derive(Clone)]
enum Kind {
    /// The output of the function.
    Written(String),
    /// The result of a layer.
    Made(Box<CallToolResult>),
}

impl fmt::Debug for ToolResponse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ToolResponse")
            .field("is_error", &self.is_error())
            .finish_non_exhaustive()
    }
}

impl From<CallToolResult> for ToolResponse {
    fn from(result: CallToolResult) -> Self {
        Self(Kind::Made(Box::new(result)))
    }
}

impl ToolResponse {
    /// Wraps the text of a result in the style [`ResultFormat::bare`](crate::revision::ResultFormat::bare).
    pub(super) fn written(text: Vec<u8>) -> Self {
        // It consists of strings and the output of serde, so it is UTF-8.
        Self(Kind::Written(String::from_utf8(text).unwrap_or_default()))
    }

    /// Returns the result, or `None` if the server asks the client for input first. Such a response must be returned unchanged.
    ///
    /// The output of the function is parsed in each call.
    pub fn result(&self) -> Option<CallToolResult> {
        match &self.0 {
            Kind::Made(result) => Some((**result).clone()),
            Kind::Written(text) if is_complete(text) => serde_json::from_str(text).ok(),
            Kind::Written(_) => None,
        }
    }

    /// Returns `true` if it is a result with `isError`.
    pub fn is_error(&self) -> bool {
        match &self.0 {
            Kind::Made(result) => result.is_error == Some(true),
            Kind::Written(text) => member(text, "isError") == Some("true"),
        }
    }

    /// Writes it for the client, in the style of its revision.
    pub(super) fn write(
        self,
        (tool, shape): (&Tool, Shape),
        result: &mut ResultWriter<'_>,
    ) -> Result<(), RpcError> {
        let text = match self.0 {
            Kind::Made(made) => {
                ToolResultWriter::new(result, shape).result(*made);
                return Ok(());
            }
            Kind::Written(text) => text,
        };
        let start = result.mark();
        let placement = result.style().placement(shape);
        match write_members(&text, placement, result) {
            Ok(written) => {
                written.end(result);
                Ok(())
            }
            Err(error) => {
                tracing::error!(%error, tool = tool.name, "the result of a tool cannot be read");
                result.rewind(start);
                let message = "the result of the tool could not be written";
                Err(RpcError::internal(message))
            }
        }
    }
}

/// Returns `true` unless the `resultType` is that of an incomplete result.
fn is_complete(text: &str) -> bool {
    member(text, "resultType").is_none_or(|kind| kind == COMPLETE)
}

/// Returns the text of a member of a result.
fn member<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut members = Members::new(text).ok()?;
    while let Some((key, value)) = members.next().ok()? {
        if key == name {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use treenail_schema::{Revision, SchemaObject, Tool};

    use super::ToolResponse;
    use crate::result_writer::ResultWriter;
    use crate::revision::{ResultFormat, WrapResults};
    use crate::tool::shape::Shape;

    fn written(text: &str) -> (ToolResponse, String) {
        let response = ToolResponse::written(text.into());
        let info = json!({"name": "demo", "version": "1"});
        let style = ResultFormat::new(Revision::LATEST, info, WrapResults::default());
        let schema: SchemaObject = serde_json::from_value(json!({"type": "object"})).unwrap();
        let tool = Tool::new("ask", schema);
        let mut out = Vec::new();
        let mut result = ResultWriter::new(&mut out, &style);
        let tool = (&tool, Shape::Any);
        response.clone().write(tool, &mut result).unwrap();
        (response, String::from_utf8(out).unwrap())
    }

    const META: &str =
        r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"demo","version":"1"}}}"#;

    #[test]
    fn what_is_no_result_yet_goes_through_as_it_is() {
        let asks = r#"{"resultType":"input_required","inputRequests":{"a":{"n":1.50}},"requestState":"s"}"#;
        let (response, text) = written(asks);
        assert_eq!(response.result(), None);
        assert!(!response.is_error());
        assert_eq!(text, asks.replace("\"s\"}", &format!("\"s\",{META}")));
    }

    #[test]
    fn a_result_gets_what_belongs_to_every_result() {
        let (response, text) = written(r#"{"content":[],"isError":true}"#);
        assert!(response.is_error());
        assert_eq!(response.result().unwrap().is_error, Some(true));
        let end = r#","resultType":"complete","#;
        assert_eq!(text, format!(r#"{{"content":[],"isError":true{end}{META}"#));
    }
}

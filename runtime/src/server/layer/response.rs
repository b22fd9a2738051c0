//! Response to a request, as layers see it.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use treenail_schema::internal::is_wrapped_schema;
use treenail_schema::{
    CallToolResult, CompleteResult, DiscoverResult, GetPromptResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, Method, ReadResourceResult,
    ResultObject, Revision,
};

use crate::result_writer::ResultWriter;
use crate::rewrite::{is_complete, is_task, member, rewrite};
use crate::tool::reply::add_text_copy;
use crate::tool::shape::Shape;
use crate::wire::RpcError;

/// Response to a request, as layers see it. Needs the feature `tower`.
///
/// It contains the result as the types of the newest revision read it, independent of the client's revision. If the layers return
/// it unchanged, the client gets the same result as without layers. A clone may be the response to another request of the same
/// method, also from a client of another revision. A list then lacks the members that one of the two revisions does not define, and
/// modern clients get it with a `ttlMs` of 0. A layer makes one from the result type of a method:
///
/// ```
/// use treenail::layer::Response;
/// use treenail::schema::{CallToolResult, ContentBlock};
///
/// let response = Response::from(CallToolResult::new([ContentBlock::text("12 °C")]));
/// assert!(!response.is_error());
/// assert!(response.result::<CallToolResult>().is_some());
/// ```
#[cfg(feature = "tower")]
#[derive(Clone)]
pub struct Response {
    text: String,
    /// Set if the text is a complete page of a list in the format of this revision.
    page_of: Option<Revision>,
}

impl fmt::Debug for Response {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Response")
            .field("is_error", &self.is_error())
            .finish_non_exhaustive()
    }
}

macro_rules! results {
    ($($result:ident)*) => {$(
        impl From<$result> for Response {
            fn from(mut result: $result) -> Self {
                result.conform_to(Revision::LATEST);
                Self::made(&result)
            }
        }
    )*};
}

results!(CompleteResult DiscoverResult GetPromptResult ListPromptsResult ListResourceTemplatesResult
    ListResourcesResult ListToolsResult ReadResourceResult);

impl From<CallToolResult> for Response {
    fn from(mut result: CallToolResult) -> Self {
        add_text_copy(&mut result);
        result.conform_to(Revision::LATEST);
        Self::made(&result)
    }
}

impl Response {
    /// Wraps the text of a result, in the style [`ResultFormat::bare`](crate::revision::ResultFormat::bare) or, as a page of a list,
    /// in that of a revision.
    pub(super) fn written(text: Vec<u8>, page_of: Option<Revision>) -> Self {
        Self {
            // It consists of strings and the output of serde, so it is UTF-8.
            text: String::from_utf8(text).unwrap_or_default(),
            page_of,
        }
    }

    fn made<T: Serialize>(result: &T) -> Self {
        Self {
            // A result has no maps with keys other than strings. An empty text would become an internal error.
            text: serde_json::to_string(result).unwrap_or_default(),
            page_of: None,
        }
    }

    /// Returns the result as the result type of the request's method, such as `CallToolResult`. It is `None` if the response is not
    /// [complete](Response::is_complete). Such a response must be returned unchanged.
    ///
    /// Each call parses the result again.
    pub fn result<T: DeserializeOwned + ResultObject>(&self) -> Option<T> {
        let text = is_complete(&self.text).then_some(&self.text)?;
        serde_json::from_str(text).ok()
    }

    /// Returns the JSON text of the result. Its details, such as `_meta` and the order of members, may differ from the final one.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns `false` if the server asks the client for input first, or if the call has become a task.
    pub fn is_complete(&self) -> bool {
        is_complete(&self.text)
    }

    /// Returns `true` if the call has become a task, for clients of each revision. No layer sees the outcome of the task.
    pub fn is_task(&self) -> bool {
        is_task(&self.text)
    }

    /// Returns `true` if it is the result of a tool with `isError`.
    pub fn is_error(&self) -> bool {
        member(&self.text, "isError") == Some("true")
    }

    /// Writes it for the client, in the style of its revision.
    pub(super) fn write(
        self,
        method: Method,
        shape: Shape,
        result: &mut ResultWriter<'_>,
    ) -> Result<(), RpcError> {
        let revision = result.style().revision();
        if self.page_of == Some(revision) {
            result.push(self.text.as_bytes());
            return Ok(());
        }
        let text = match self.page_of {
            Some(_) => newest_page(&self, method).text,
            None => self.text,
        };
        let start = result.mark();
        let placement = result.style().placement(shape);
        match rewrite(&text, placement, result, |_, _| false) {
            Ok(rewritten) => {
                rewritten.end(result);
                Ok(())
            }
            Err(error) => {
                let method = method.as_str();
                tracing::error!(%error, method, "a result cannot be read");
                result.rewind(start);
                Err(RpcError::internal("the result could not be written"))
            }
        }
    }
}

/// Converts a page of a list to the newest revision.
fn newest_page(page: &Response, method: Method) -> Response {
    let converted = match method {
        Method::ListTools => page.result::<ListToolsResult>().map(|mut list| {
            for tool in &mut list.tools {
                // Whether the results are wrapped depends on the revision.
                let is_wrapped = tool
                    .output_schema
                    .as_ref()
                    .is_some_and(|it| is_wrapped_schema(it));
                tool.output_schema = tool.output_schema.take().filter(|_| !is_wrapped);
            }
            list.into()
        }),
        Method::ListPrompts => page.result::<ListPromptsResult>().map(Into::into),
        Method::ListResources => page.result::<ListResourcesResult>().map(Into::into),
        Method::ListResourceTemplates => {
            page.result::<ListResourceTemplatesResult>().map(Into::into)
        }
        _ => None,
    };
    converted.unwrap_or_else(|| page.clone())
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use treenail_schema::{CallToolResult, Method, Revision};

    use super::Response;
    use crate::result_writer::ResultWriter;
    use crate::revision::{ResultFormat, WrapResults};
    use crate::tool::shape::Shape;

    fn written(text: &str) -> (Response, String) {
        let response = Response::written(text.into(), None);
        let info = json!({"name": "demo", "version": "1"});
        let style = ResultFormat::new(Revision::LATEST, info, WrapResults::default());
        let mut out = Vec::new();
        let mut result = ResultWriter::new(&mut out, &style);
        let written = response.clone();
        written
            .write(Method::CallTool, Shape::Any, &mut result)
            .unwrap();
        (response, String::from_utf8(out).unwrap())
    }

    const META: &str =
        r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"demo","version":"1"}}}"#;

    #[test]
    fn what_is_no_result_yet_goes_through_as_it_is() {
        let asks = r#"{"resultType":"input_required","inputRequests":{"a":{"n":1.50}},"requestState":"s"}"#;
        let (response, text) = written(asks);
        assert_eq!(response.result::<CallToolResult>(), None);
        assert!(!response.is_error() && !response.is_complete() && !response.is_task());
        assert_eq!(text, asks.replace("\"s\"}", &format!("\"s\",{META}")));
    }

    #[test]
    fn the_result_of_a_call_that_becomes_a_task_is_recognized() {
        let (task, _) = written(r#"{"resultType":"task","taskId":"1"}"#);
        assert!(task.is_task() && !task.is_complete());
        assert_eq!(task.result::<CallToolResult>(), None);
    }

    #[test]
    fn a_result_gets_what_belongs_to_every_result() {
        let (response, text) = written(r#"{"content":[],"isError":true}"#);
        assert!(response.is_error());
        assert_eq!(
            response.result::<CallToolResult>().unwrap().is_error,
            Some(true)
        );
        let end = r#","resultType":"complete","#;
        assert_eq!(text, format!(r#"{{"content":[],"isError":true{end}{META}"#));
    }
}

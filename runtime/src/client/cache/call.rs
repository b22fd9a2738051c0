//! Tool calls and the handling of their results.

#[cfg(feature = "validation")]
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use treenail_schema::internal::is_wrapped_schema;
use treenail_schema::{CallToolRequest, CallToolResult, TaskSupport, error_code};

use crate::client::cache::McpClient;
#[cfg(feature = "validation")]
use crate::client::cache::validation::ExpectedOutput;
use crate::client::protocol::{CompleteResult, CreatedTask, PreparedRequest};
use crate::client::timeout::timeout;
use crate::client::{ClientError, ClientRequest, TransportKind, TypedCall};
use crate::revision::{is_marked, mark_wrapped, wrapped_value};

/// Call that the server has answered.
pub(crate) enum StartedCall {
    Finished(CallAnswer),
    Task(CreatedTask),
}

/// Result of a call before it is read. It is read where it is needed, because moving a result takes time.
pub(crate) struct CallAnswer {
    pub(in crate::client) text: String,
    #[cfg(feature = "validation")]
    pub(in crate::client) expected: Option<ExpectedOutput>,
    /// Maximum duration of the validation.
    #[cfg(feature = "validation")]
    pub(in crate::client) limit: Duration,
}

impl McpClient {
    /// Calls a tool. The arguments serialize to an object, such as a struct, a map or `json!({…})`, or are `()` for
    /// none. A failed tool is not an error here, but a result with `isError`.
    ///
    /// The call is sent when it is awaited. Options such as a timeout can be set before that.
    ///
    /// With the feature `validation`, the structured content of the result is validated against the output schema from
    /// the latest list of tools, if the tools have been listed before. If it does not match and the list is out of date, the
    /// tools are listed again first. See `validate_results` of the builder.
    ///
    /// # Errors
    ///
    /// As [`ClientRequest`]. In addition, [`ClientError::Protocol`] if the result does not match the tool's output
    /// schema. It is also returned if that schema cannot be used; if the tools have been listed before, the call is not sent then.
    ///
    /// # Cancellation
    ///
    /// Dropping the future cancels the call.
    pub fn call_tool(&self, name: &str, arguments: impl Serialize) -> TypedCall<CallToolResult> {
        TypedCall::unchanged(self, name.to_owned().into(), &arguments)
    }

    /// Sends a prepared call of the named tool. A task is returned only if the request keeps tasks.
    pub(crate) async fn start_call(
        &self,
        name: &str,
        request: &mut ClientRequest<CallToolRequest>,
    ) -> Result<StartedCall, ClientError> {
        let request = &mut request.prepared;
        #[cfg(feature = "validation")]
        let expected = self.expected_output(name, false).await?;
        #[cfg(feature = "validation")]
        let limit = request.time_limit();
        if self.session().has_task_parameter() {
            Box::pin(self.set_task_parameter(name, request)).await?;
        }
        // Both are boxed, because most calls do not need these futures.
        if self.sends_header_arguments() {
            Box::pin(self.set_argument_headers(name, request)).await?;
        }
        let mut sent = request.send().await;
        if sent
            .as_ref()
            .is_err_and(|error| self.has_wrong_headers(error))
        {
            sent = Box::pin(self.send_with_new_headers(name, request)).await;
        }
        let completed = sent?;
        if completed.task.is_some() {
            return Ok(StartedCall::Task(completed.into_task(self.session())));
        }
        Ok(StartedCall::Finished(CallAnswer {
            text: completed.text,
            #[cfg(feature = "validation")]
            expected,
            #[cfg(feature = "validation")]
            limit,
        }))
    }

    /// Returns the answer to a call of the named tool whose result is that of a task.
    #[cfg_attr(
        not(feature = "validation"),
        allow(clippy::unused_async, reason = "the validation is asynchronous")
    )]
    pub(in crate::client) async fn task_answer(
        &self,
        name: &str,
        text: String,
    ) -> Result<CallAnswer, ClientError> {
        #[cfg(not(feature = "validation"))]
        let _ = name;
        Ok(CallAnswer {
            text,
            #[cfg(feature = "validation")]
            expected: self.expected_output(name, true).await?,
            #[cfg(feature = "validation")]
            limit: self.session().limits().request_timeout,
        })
    }

    /// Adds the parameter `task` to a call in revision 2025-11-25, if its tool requires it, or if the tool permits it and the
    /// caller keeps the task.
    async fn set_task_parameter(
        &self,
        name: &str,
        request: &mut PreparedRequest,
    ) -> Result<(), ClientError> {
        let tool = match self.inner.lists.tools.latest() {
            Some(tools) => tools.get(name).cloned(),
            None => timeout(request.step_timeout(), self.tool(name)).await??,
        };
        let execution = tool.as_ref().and_then(|tool| tool.execution.as_ref());
        match execution.and_then(|execution| execution.task_support) {
            Some(TaskSupport::Required) => request.ask_for_task(),
            Some(TaskSupport::Optional) if request.keeps_task() => request.ask_for_task(),
            _ => {}
        }
        Ok(())
    }

    /// Returns true if the server rejects the headers of a call: they are based on an outdated schema, or on a session of the legacy
    /// era, which the call has found to be over.
    fn has_wrong_headers(&self, error: &ClientError) -> bool {
        let code = error.as_refused().map(|error| error.code);
        code == Some(error_code::HEADER_MISMATCH) && self.sends_header_arguments()
    }

    /// Sends a call again, with the headers of the current schema.
    async fn send_with_new_headers(
        &self,
        name: &str,
        request: &mut PreparedRequest,
    ) -> Result<CompleteResult, ClientError> {
        timeout(request.step_timeout(), self.refresh_tools()).await??;
        self.set_argument_headers(name, request).await?;
        request.send().await
    }

    /// Calls a tool and decodes its output as a `T`: the structured content or, without any, the text, parsed as JSON
    /// or taken literally. The call is sent when it is awaited, and takes the options of [`call_tool`](Self::call_tool).
    ///
    /// Before 2026-07-28, structured content is always an object, so many servers wrap other values: `{"result": 3}`.
    /// The value is unwrapped if the result or the tool's output schema carries the mark that `FastMCP` and Treenail
    /// add. The schema is checked only if the tools have been listed before. Without a mark, as with servers of the
    /// official Python SDK, the value is unwrapped if the object is not a `T`.
    ///
    /// # Errors
    ///
    /// [`ClientError::Tool`] if the tool failed, [`ClientError::Output`] if its output is not a `T`; otherwise as
    /// [`call_tool`](Self::call_tool).
    ///
    /// # Cancellation
    ///
    /// Dropping the future cancels the call.
    pub fn call_tool_as<T: DeserializeOwned + 'static>(
        &self,
        name: &str,
        arguments: impl Serialize,
    ) -> TypedCall<T> {
        TypedCall::new(self, name.to_owned(), &arguments)
    }

    /// Marks a result as wrapped if its tool's output schema has the mark, and the tools have been listed before.
    pub(in crate::client) fn mark_wrapped(&self, name: &str, result: &mut CallToolResult) {
        let content = result.structured_content.as_ref();
        if content.and_then(wrapped_value).is_none() || is_marked(result.meta.as_ref()) {
            return;
        }
        let tools = self.inner.lists.tools.latest();
        let tool = tools.as_ref().and_then(|tools| tools.get(name));
        let schema = tool.and_then(|tool| tool.output_schema.as_ref());
        if schema.is_some_and(|schema| is_wrapped_schema(schema)) {
            mark_wrapped(result.meta.get_or_insert_default());
        }
    }

    /// Prepares a tool call to which options can be added, such as a timeout or a progress callback, and that can run
    /// in its own task. Its result is not validated.
    ///
    /// # Errors
    ///
    /// When the call requires the list of tools and fetching it fails.
    pub async fn tool_request(
        &self,
        name: &str,
        arguments: impl Serialize,
    ) -> Result<ClientRequest<CallToolRequest>, ClientError> {
        let mut request = self.session().tools_call(name, arguments);
        if self.sends_header_arguments() {
            let prepared = &mut request.prepared;
            self.set_argument_headers(name, prepared).await?;
        }
        Ok(request)
    }

    /// Adds the arguments that the tool declares as headers to the request.
    async fn set_argument_headers(
        &self,
        name: &str,
        request: &mut PreparedRequest,
    ) -> Result<(), ClientError> {
        // The latest schema defines which arguments are headers.
        let tools = match (self.inner.lists.tools.latest(), self.tools_source()) {
            (None, Some(source)) => {
                // Boxed, because most calls do not need this future.
                let fetch = Box::pin(self.inner.lists.tools.get(source));
                Some(timeout(request.step_timeout(), fetch).await??)
            }
            (latest, _) => latest,
        };
        let headers = match (&tools, request.arguments()) {
            (Some(tools), Some(arguments)) => tools.argument_headers(name, arguments),
            _ => Vec::new(),
        };
        request.set_headers(headers);
        Ok(())
    }

    /// Returns whether calls send arguments as headers.
    pub(crate) fn sends_header_arguments(&self) -> bool {
        let session = self.session();
        session.session().transport() == TransportKind::Http
            && session.protocol_version().is_modern()
    }
}

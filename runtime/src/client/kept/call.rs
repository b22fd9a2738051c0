//! Calls of tools, and what becomes of their results.

use serde::Serialize;
use serde::de::DeserializeOwned;

#[cfg(feature = "validation")]
use treenail_schema::Revision;
use treenail_schema::{CallToolRequest, CallToolResult, error_code};

#[cfg(feature = "validation")]
use treenail_schema::internal::is_wrapped_schema;

use crate::client::kept::validation::{Clock, Expected};
use crate::client::kept::{McpClient, headers};
use crate::client::typed::output_of;
use crate::client::{ClientError, ClientRequest, TransportKind};
use crate::revision::{is_marked, mark, wrapped_value};

impl McpClient {
    /// Calls a tool. The arguments are what serializes to an object, such as a struct, a map or `json!({…})`, or `()` for
    /// none. A tool that fails is no error here, but a result with `isError`.
    ///
    /// With the feature `validation`, the structured content of the result is validated against the tool's output schema,
    /// if the tools have been listed before; the one that was listed last counts. The builder's
    /// `validate_results` says more.
    ///
    /// # Errors
    ///
    /// As [`ClientRequest`]; and [`ClientError::Protocol`] if the result is not what the tool's output schema says, or if
    /// that cannot be used, for then nothing is sent.
    ///
    /// # Cancellation
    ///
    /// Dropping the future cancels the call.
    pub async fn call_tool(
        &self,
        name: &str,
        arguments: impl Serialize,
    ) -> Result<CallToolResult, ClientError> {
        let request = self.session().tools_call(name, arguments);
        self.send_call(name, request).await
    }

    /// Sends a call of the tool with this name, in whatever way it has been made, and validates its result.
    pub(crate) async fn send_call(
        &self,
        name: &str,
        request: ClientRequest<CallToolRequest>,
    ) -> Result<CallToolResult, ClientError> {
        #[cfg(feature = "validation")]
        let expected = self.expected(name).await?;
        #[cfg(feature = "validation")]
        let clock = expected
            .as_ref()
            .map(|_| Clock::start(request.time_limit()));
        let result = if self.mirrors_arguments() {
            // What not every call needs must not make every call large.
            Box::pin(self.send_mirrored(name, request)).await?
        } else {
            request.await?
        };
        #[cfg(feature = "validation")]
        if let (Some(expected), Some(clock)) = (expected, clock) {
            let limits = self.session().limits();
            return expected.check(result, limits, clock).await;
        }
        Ok(result)
    }

    /// Sends a call whose arguments may go into headers too.
    async fn send_mirrored(
        &self,
        name: &str,
        request: ClientRequest<CallToolRequest>,
    ) -> Result<CallToolResult, ClientError> {
        let outcome = self.mirrored(name, request.again()).await?.await;
        let Err(ClientError::Refused(error)) = &outcome else {
            return outcome;
        };
        // The headers of the call may have been made from a schema that is out of date.
        if error.code != error_code::HEADER_MISMATCH {
            return outcome;
        }
        self.refresh_tools().await?;
        self.mirrored(name, request).await?.await
    }

    /// What the result of a call has to be, as far as that is known.
    #[cfg(feature = "validation")]
    async fn expected(&self, name: &str) -> Result<Option<Expected>, ClientError> {
        // Before this revision, tools had no schema for what they return.
        let has_schemas = self.session().protocol_version() >= Revision::V2025_06_18;
        let list = self.inner.lists.tools.last().filter(|_| has_schemas);
        match (&self.inner.validators, list) {
            (Some(validators), Some(list)) => {
                let limits = self.session().limits();
                validators.expected(&list, name, limits).await
            }
            _ => Ok(None),
        }
    }

    /// Calls a tool for what it returns: its structured content, or, where it has none, its text read as JSON or taken as
    /// it is.
    ///
    /// Before 2026-07-28, structured content has to be an object, and many servers wrap other values for that:
    /// `{"result": 3}`. The value is taken out if the result or the tool's output schema has the mark that `FastMCP` and
    /// Treenail give it (schemas count if the tools have been listed before), and without a mark if the object is no `T`, as
    /// with servers of the official SDK for Python.
    ///
    /// # Errors
    ///
    /// [`ClientError::Tool`] if the tool failed, [`ClientError::Output`] if what it returns is no `T`; otherwise as
    /// [`call_tool`](Self::call_tool).
    pub async fn call_tool_as<T: DeserializeOwned>(
        &self,
        name: &str,
        arguments: impl Serialize,
    ) -> Result<T, ClientError> {
        let mut result = self.call_tool(name, arguments).await?;
        self.mark_wrapped(name, &mut result);
        output_of(result)
    }

    /// Adds the mark of a wrapped result to one whose tool has an output schema with that mark, if the tools have been listed
    /// before.
    pub(in crate::client) fn mark_wrapped(&self, name: &str, result: &mut CallToolResult) {
        let content = result.structured_content.as_ref();
        if content.and_then(wrapped_value).is_none() || is_marked(result.meta.as_ref()) {
            return;
        }
        let tools = self.inner.lists.tools.last();
        let tool = tools.as_ref().and_then(|tools| tools.get(name));
        let schema = tool.and_then(|tool| tool.output_schema.as_ref());
        if schema.is_some_and(|schema| is_wrapped_schema(schema)) {
            mark(result.meta.get_or_insert_default());
        }
    }

    /// A call of a tool that can be given options: a timeout, a function that hears of progress, a task of its own. Its
    /// result is not validated.
    ///
    /// # Errors
    ///
    /// When the tools have to be looked up for the call and that fails.
    pub async fn tool_request(
        &self,
        name: &str,
        arguments: &impl Serialize,
    ) -> Result<ClientRequest<CallToolRequest>, ClientError> {
        let request = self.session().tools_call(name, arguments);
        if self.mirrors_arguments() {
            self.mirrored(name, request).await
        } else {
            Ok(request)
        }
    }

    /// The call with the headers that its tool wants.
    async fn mirrored(
        &self,
        name: &str,
        request: ClientRequest<CallToolRequest>,
    ) -> Result<ClientRequest<CallToolRequest>, ClientError> {
        // The schema that was fetched last says which arguments go into headers.
        let tool = match self.inner.lists.tools.last() {
            Some(tools) => tools.get(name).cloned(),
            None => self.tool(name).await?,
        };
        let headers = match (&tool, request.arguments()) {
            (Some(tool), Some(arguments)) => headers::headers(tool, arguments),
            _ => Vec::new(),
        };
        Ok(request.with_headers(headers))
    }

    /// Whether arguments go into headers.
    pub(super) fn mirrors_arguments(&self) -> bool {
        let session = self.session();
        session.session().transport() == TransportKind::Http
            && session.protocol_version().is_modern()
    }
}

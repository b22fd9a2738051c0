//! Calls of tools, and what becomes of their results.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
#[cfg(feature = "validation")]
use treenail_schema::Revision;
use treenail_schema::{CallToolRequest, CallToolResult, error_code};

#[cfg(feature = "validation")]
use crate::client::kept::validation::Expected;
use crate::client::kept::{McpClient, headers};
use crate::client::{ClientError, ClientRequest, Transport};

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
        self.call_tool_with(name, arguments, |request| request)
            .await
    }

    /// As [`call_tool`](Self::call_tool), with options for the request.
    pub(crate) async fn call_tool_with(
        &self,
        name: &str,
        arguments: impl Serialize,
        configure: impl Fn(ClientRequest<CallToolRequest>) -> ClientRequest<CallToolRequest>,
    ) -> Result<CallToolResult, ClientError> {
        #[cfg(feature = "validation")]
        let expected = self.expected(name)?;
        let result = self.call(name, &arguments, configure).await?;
        #[cfg(feature = "validation")]
        if let Some(expected) = expected {
            expected.check(&result, self.session().limits())?;
        }
        Ok(result)
    }

    async fn call(
        &self,
        name: &str,
        arguments: &impl Serialize,
        configure: impl Fn(ClientRequest<CallToolRequest>) -> ClientRequest<CallToolRequest>,
    ) -> Result<CallToolResult, ClientError> {
        let outcome = configure(self.tool_request(name, arguments).await?).await;
        let Err(ClientError::Refused(error)) = &outcome else {
            return outcome;
        };
        // The headers of the call may have been made from a schema that is out of date.
        if error.code != error_code::HEADER_MISMATCH || !self.mirrors_arguments() {
            return outcome;
        }
        self.refresh_tools().await?;
        configure(self.tool_request(name, arguments).await?).await
    }

    /// What the result of a call has to be, as far as that is known.
    #[cfg(feature = "validation")]
    fn expected(&self, name: &str) -> Result<Option<Expected>, ClientError> {
        // Before this revision, tools had no schema for what they return.
        let has_schemas = self.session().protocol_version() >= Revision::V2025_06_18;
        let list = self.inner.lists.tools.last().filter(|_| has_schemas);
        match (&self.inner.validators, list) {
            (Some(validators), Some(list)) => {
                validators.expected(&list, name, self.session().limits())
            }
            _ => Ok(None),
        }
    }

    /// Calls a tool for what it returns: its structured content, or, where it has none, its text read as JSON or taken as
    /// it is.
    ///
    /// # Errors
    ///
    /// [`ClientError::Tool`] if the tool failed, [`ClientError::Protocol`] if what it returns is no `T`; otherwise as
    /// [`call_tool`](Self::call_tool).
    pub async fn call_tool_as<T: DeserializeOwned>(
        &self,
        name: &str,
        arguments: impl Serialize,
    ) -> Result<T, ClientError> {
        output_of(self.call_tool(name, arguments).await?)
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
        if !self.mirrors_arguments() {
            return Ok(request);
        }
        // The schema that was fetched last says which arguments go into headers.
        let tool = match self.inner.lists.tools.last() {
            Some(tools) => tools.get(name).cloned(),
            None => self.tool(name).await?,
        };
        match tool {
            Some(tool) => Ok(request.with_headers(headers::headers(&tool, arguments)?)),
            None => Ok(request),
        }
    }

    /// Whether arguments go into headers.
    pub(super) fn mirrors_arguments(&self) -> bool {
        let session = self.session();
        session.session().transport() == Transport::Http && session.protocol_version().is_modern()
    }
}

/// What a tool has returned, as a type.
fn output_of<T: DeserializeOwned>(mut result: CallToolResult) -> Result<T, ClientError> {
    if result.is_error == Some(true) {
        return Err(ClientError::Tool(Box::new(result)));
    }
    let unfit = |error: serde_json::Error| {
        ClientError::protocol(format!("the output of the tool has another form: {error}"))
    };
    if let Some(structured) = result.structured_content.take() {
        return serde_json::from_value(structured).map_err(unfit);
    }
    let texts = result.content.iter().filter_map(|block| block.as_text());
    let text = texts.collect::<Vec<_>>().join("\n");
    match serde_json::from_str(&text) {
        Ok(output) => Ok(output),
        // A text that is no JSON is the output if a text is wanted.
        Err(error) => serde_json::from_value(Value::String(text)).map_err(|_| unfit(error)),
    }
}

//! Typed call of a tool.

use std::borrow::Cow;
use std::fmt;
use std::future::IntoFuture;
use std::pin::Pin;

use serde::Serialize;
use serde::de::DeserializeOwned;
use treenail_schema::{CallToolRequest, CallToolResult, ProgressNotificationParams};

use crate::client::cache::StartedCall;
use crate::client::typed::decode::{decode_output, require_success};
use crate::client::typed::options::options;
use crate::client::typed::result_reader::{Decode, ResultReader, Started};
use crate::client::{ClientError, ClientRequest, McpClient, ProgressStream};

/// Call of a tool that has not been sent yet. Awaiting it sends it and returns the output as a `T`.
///
/// The methods of typed clients return it. It borrows nothing, so it can be moved into its own task. Options can be set
/// before it is awaited:
///
/// ```
/// use std::time::Duration;
///
/// use serde_json::json;
/// use treenail::client::{ClientError, McpClient, TypedCall};
///
/// # async fn example(client: McpClient) -> Result<(), ClientError> {
/// let sum: TypedCall<i64> = TypedCall::new(&client, "add", &json!({"a": 1, "b": 2}));
/// let sum = sum.timeout(Duration::from_secs(5)).await?;
/// # let _ = sum;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`ClientError::Tool`] if the tool failed, with its result; [`ClientError::Output`] if its output is not a `T`;
/// [`ClientError::Protocol`] if the result does not match its output schema (feature `validation`, see
/// [`McpClient::call_tool`]); otherwise the errors of a [`ClientRequest`].
///
/// # Cancellation
///
/// Dropping the future cancels the call. The server is notified as the transport and the era define it.
#[must_use = "a call is sent when it is awaited"]
pub struct TypedCall<T> {
    request: ClientRequest<CallToolRequest>,
    reader: ResultReader<T>,
}

/// Future of a [`TypedCall`].
pub type TypedCallFuture<T> = Pin<Box<dyn Future<Output = Result<T, ClientError>> + Send>>;

options!(TypedCall);

impl<T: DeserializeOwned + 'static> TypedCall<T> {
    /// Creates a call that decodes the structured content or, without any, the text, parsed as JSON or taken literally.
    /// The arguments serialize to an object, or are `()` for none. A value that the server wrapped as `{"result": …}`
    /// is unwrapped as described at [`McpClient::call_tool_as`].
    ///
    /// Only the deserializer of `T` is known here, not its schema. If a tool has no structured content and its text is
    /// a JSON string such as `"a"` with the quotes, a `String` is therefore the part between the quotes. Likewise,
    /// `null` is `None` for an `Option<String>`. The clients of `#[mcp_client]` know the schema of the type and take
    /// such texts literally.
    pub fn new(
        client: &McpClient,
        name: impl Into<Cow<'static, str>>,
        arguments: impl Serialize,
    ) -> Self {
        Self::with_decoder(client, name.into(), &arguments, Box::new(decode_output))
    }
}

impl TypedCall<CallToolResult> {
    /// Creates a call that returns the whole untyped result. The arguments serialize to an object, or are `()` for
    /// none. A failed tool is an error here, too.
    pub fn whole(
        client: &McpClient,
        name: impl Into<Cow<'static, str>>,
        arguments: impl Serialize,
    ) -> Self {
        Self::with_decoder(client, name.into(), &arguments, Box::new(require_success))
    }

    /// Creates a call that returns its result as it is, even of a failed tool.
    pub(in crate::client) fn unchanged(
        client: &McpClient,
        name: Cow<'static, str>,
        arguments: &impl Serialize,
    ) -> Self {
        Self {
            request: client.session().tools_call(&name, arguments),
            reader: ResultReader::unchanged(client, name),
        }
    }
}

impl<T> TypedCall<T> {
    pub(super) fn with_decoder(
        client: &McpClient,
        name: Cow<'static, str>,
        arguments: &impl Serialize,
        decode: Decode<T>,
    ) -> Self {
        Self {
            request: client.session().tools_call(&name, arguments),
            reader: ResultReader::new(client, name, decode),
        }
    }

    /// Returns the name of the tool.
    pub fn name(&self) -> &str {
        self.reader.name()
    }

    /// Sends the call. If it becomes a task, returns the task and the reader of its result.
    pub(crate) async fn start(self) -> Result<(Started<T>, ResultReader<T>), ClientError> {
        let Self { request, reader } = self;
        let client = reader.client();
        if client.session().task_driver().is_none() {
            let reason = "the client does not support tasks; call `tasks()` of its builder";
            return Err(ClientError::unsupported(reason));
        }
        let mut request = request.keep_task();
        let started = match client.start_call(reader.name(), &mut request).await? {
            StartedCall::Finished(answer) => Started::Finished(reader.finish(answer).await?),
            StartedCall::Task(task) => Started::Task(task),
        };
        Ok((started, reader))
    }

    /// Requests progress and passes it to a function. The function must not block, because it runs in the task that
    /// reads messages.
    pub fn on_progress(
        self,
        sink: impl Fn(ProgressNotificationParams) + Send + Sync + 'static,
    ) -> Self {
        self.map_request(|request| request.on_progress(sink))
    }

    /// Requests progress as a stream, which ends with the call. The call itself must still be awaited, or moved into a
    /// task.
    pub fn progress(mut self) -> (ProgressStream, Self) {
        let (stream, request) = self.request.progress();
        self.request = request;
        (stream, self)
    }

    fn map_request(
        mut self,
        option: impl FnOnce(ClientRequest<CallToolRequest>) -> ClientRequest<CallToolRequest>,
    ) -> Self {
        self.request = option(self.request);
        self
    }
}

impl<T: 'static> IntoFuture for TypedCall<T> {
    type Output = Result<T, ClientError>;
    type IntoFuture = TypedCallFuture<T>;

    fn into_future(self) -> Self::IntoFuture {
        self.reader.call(self.request)
    }
}

impl<T> fmt::Debug for TypedCall<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("TypedCall")
            .field("name", &self.reader.name())
            .finish_non_exhaustive()
    }
}

//! One call of a tool, for what it returns.

use std::borrow::Cow;
use std::fmt;
use std::future::IntoFuture;
use std::pin::Pin;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use treenail_schema::{CallToolRequest, CallToolResult, LoggingLevel, ProgressNotificationParams};

use crate::client::typed::read::{decode_output, succeeded};
use crate::client::{ClientError, ClientRequest, McpClient, ProgressStream};

/// A call of a tool that has not been sent yet; awaiting it sends it and brings what the tool returns, as a `T`.
///
/// It is what the methods of typed clients return. It borrows nothing, so it can be given to a task of its own, and it can
/// be given options before it is awaited:
///
/// ```
/// use std::time::Duration;
///
/// use serde_json::json;
/// use treenail_runtime::client::{ClientError, McpClient, TypedCall};
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
/// [`ClientError::Tool`] if the tool failed, with its result; [`ClientError::Output`] if what it returns is no `T`;
/// [`ClientError::Protocol`] if it is not what its output schema says (feature `validation`, as [`McpClient::call_tool`]);
/// otherwise whatever a [`ClientRequest`] can fail with.
///
/// # Cancellation
///
/// Dropping the future cancels the call: the server is told, in the way of the transport and the era.
#[must_use = "a call is sent when it is awaited"]
pub struct TypedCall<T> {
    client: McpClient,
    name: Cow<'static, str>,
    request: ClientRequest<CallToolRequest>,
    read: Read<T>,
}

/// How a `T` is read from a result.
pub(super) type Read<T> = Box<dyn Fn(CallToolResult) -> Result<T, ClientError> + Send + Sync>;

/// The future of a [`TypedCall`].
pub type TypedCallFuture<T> = Pin<Box<dyn Future<Output = Result<T, ClientError>> + Send>>;

impl<T: DeserializeOwned + 'static> TypedCall<T> {
    /// A call for the tool's structured content, or, where it has none, its text read as JSON or taken as it is. The
    /// arguments are what serializes to an object, or `()` for none. A value that the server has wrapped as `{"result": …}`
    /// is taken out, as [`McpClient::call_tool_as`] says.
    ///
    /// Nothing is known of `T` but how it is read. So where a tool has no structured content and its text is the JSON of
    /// another text, as in `"a"` with the quotes, a `String` is what is between them, and `null` is no text for an
    /// `Option<String>`. The clients that `#[mcp_client]` makes know the schema of the type and take such texts as they are.
    pub fn new(
        client: &McpClient,
        name: impl Into<Cow<'static, str>>,
        arguments: &impl Serialize,
    ) -> Self {
        Self::read_by(client, name.into(), arguments, Box::new(decode_output))
    }
}

impl TypedCall<CallToolResult> {
    /// A call for the whole result, of which the types are not known. The arguments are what serializes to an object, or
    /// `()` for none. A tool that fails is an error here too.
    pub fn whole(
        client: &McpClient,
        name: impl Into<Cow<'static, str>>,
        arguments: &impl Serialize,
    ) -> Self {
        Self::read_by(client, name.into(), arguments, Box::new(succeeded))
    }
}

impl<T> TypedCall<T> {
    pub(super) fn read_by(
        client: &McpClient,
        name: Cow<'static, str>,
        arguments: &impl Serialize,
        read: Read<T>,
    ) -> Self {
        Self {
            request: client.session().tools_call(&name, arguments),
            client: client.clone(),
            name,
            read,
        }
    }

    /// The name of the tool.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How long it may take, questions of the server included; then it is cancelled and fails with
    /// [`ClientError::Timeout`]. Default: [`ClientLimits::request_timeout`](crate::client::ClientLimits::request_timeout).
    pub fn timeout(self, limit: Duration) -> Self {
        self.with(|request| request.timeout(limit))
    }

    /// Begins the time anew with each progress that the server tells, until it has taken `at_most` in all.
    pub fn reset_timeout_on_progress(self, at_most: Duration) -> Self {
        self.with(|request| request.reset_timeout_on_progress(at_most))
    }

    /// Asks for progress, and passes it to a function, which must not wait: it is called where messages are read.
    pub fn on_progress(
        self,
        sink: impl Fn(ProgressNotificationParams) + Send + Sync + 'static,
    ) -> Self {
        self.with(|request| request.on_progress(sink))
    }

    /// Asks for progress, as a stream that ends with the call. The call is still to be awaited, or given to a task.
    pub fn progress(mut self) -> (ProgressStream, Self) {
        let (stream, request) = self.request.progress();
        self.request = request;
        (stream, self)
    }

    /// Adds a member to the `_meta` of the request, for extensions and tracing.
    pub fn meta(self, key: &str, value: impl Into<Value>) -> Self {
        self.with(|request| request.meta(key, value))
    }

    /// Asks for the log messages of this call, of this level and above (modern era; servers of the legacy era are told
    /// with `logging/setLevel`).
    pub fn log_level(self, level: LoggingLevel) -> Self {
        self.with(|request| request.log_level(level))
    }

    fn with(
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
        let Self {
            client,
            name,
            request,
            read,
        } = self;
        Box::pin(async move {
            let mut result = client.send_call(&name, request).await?;
            client.mark_wrapped(&name, &mut result);
            read(result)
        })
    }
}

impl<T> fmt::Debug for TypedCall<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("TypedCall")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

//! Results of calls that may have become tasks.

use std::borrow::Cow;
use std::fmt;

use serde::de::DeserializeOwned;
use treenail_schema::{CallToolRequest, CallToolResult};

use crate::client::cache::{CallAnswer, StartedCall};
use crate::client::protocol::{CreatedTask, read_call_result};
use crate::client::typed::decode::decode_output;
use crate::client::{ClientError, ClientRequest, McpClient, TypedCallFuture};

/// Call that the server has answered: with its output, or with a task.
pub enum Started<T> {
    /// The output.
    Finished(T),
    /// The task.
    Task(CreatedTask),
}

/// Function that decodes a `T` from a result.
pub(super) type Decode<T> = Box<dyn Fn(CallToolResult) -> Result<T, ClientError> + Send + Sync>;

/// Reader of the results of a call.
pub struct ResultReader<T> {
    client: McpClient,
    name: Cow<'static, str>,
    decode: Decode<T>,
    /// True if results are returned as they are, without a mark for wrapped values.
    unchanged: bool,
}

impl<T> fmt::Debug for Started<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Finished(_) => "Finished",
            Self::Task(_) => "Task",
        })
    }
}

impl<T> fmt::Debug for ResultReader<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ResultReader")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl ResultReader<CallToolResult> {
    /// Creates a reader that returns results as they are.
    pub fn unchanged(client: &McpClient, name: impl Into<Cow<'static, str>>) -> Self {
        Self {
            unchanged: true,
            ..Self::new(client, name.into(), Box::new(Ok))
        }
    }
}

impl<T: DeserializeOwned + 'static> ResultReader<T> {
    /// Creates a reader that decodes results as a [`TypedCall::new`](crate::client::TypedCall::new) does.
    pub fn typed(client: &McpClient, name: String) -> Self {
        Self::new(client, name.into(), Box::new(decode_output))
    }
}

impl<T> ResultReader<T> {
    pub(super) fn new(client: &McpClient, name: Cow<'static, str>, decode: Decode<T>) -> Self {
        Self {
            client: client.clone(),
            name,
            decode,
            unchanged: false,
        }
    }

    /// Returns the name of the tool.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the client of the call.
    pub fn client(&self) -> &McpClient {
        &self.client
    }

    /// Validates and decodes the JSON text of a result.
    ///
    /// # Errors
    ///
    /// As [`TypedCall`](crate::client::TypedCall).
    pub async fn read(&self, text: String) -> Result<T, ClientError> {
        let answer = self.client.task_answer(&self.name, text).await?;
        self.finish(answer).await
    }

    /// Returns the future of a prepared call, which decodes its result.
    pub(crate) fn call(self, mut request: ClientRequest<CallToolRequest>) -> TypedCallFuture<T>
    where
        T: 'static,
    {
        Box::pin(async move {
            match self.client.start_call(&self.name, &mut request).await? {
                // As `finish`, whose future would be one more place that the result is moved to.
                StartedCall::Finished(answer) => {
                    let mut result = CallToolResult::new([]);
                    self.read_checked(answer, &mut result).await?;
                    (self.decode)(result)
                }
                StartedCall::Task(_) => Err(ClientError::protocol("a call became a task")),
            }
        })
    }

    /// Reads, validates and decodes a result.
    pub(crate) async fn finish(&self, answer: CallAnswer) -> Result<T, ClientError> {
        let mut result = CallToolResult::new([]);
        self.read_checked(answer, &mut result).await?;
        (self.decode)(result)
    }

    /// Reads and validates a result, in place.
    #[cfg_attr(
        not(feature = "validation"),
        allow(clippy::unused_async, reason = "the validation is asynchronous")
    )]
    async fn read_checked(
        &self,
        answer: CallAnswer,
        result: &mut CallToolResult,
    ) -> Result<(), ClientError> {
        let revision = || self.client.session().peer_info().revision;
        read_call_result(&answer.text, result, revision)?;
        #[cfg(feature = "validation")]
        if let Some(Err(unchecked)) = answer.expected.map(|expected| expected.check(result)) {
            // Boxed, because this is rare and would enlarge the future of every call.
            let read = std::mem::replace(result, CallToolResult::new([]));
            *result = Box::pin(self.client.check_result(unchecked, read, answer.limit)).await?;
        }
        if !self.unchanged {
            self.client.mark_wrapped(&self.name, result);
        }
        Ok(())
    }
}

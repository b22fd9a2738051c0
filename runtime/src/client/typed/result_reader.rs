//! Results of calls that may have become tasks.

use std::borrow::Cow;
use std::fmt;

use serde::de::DeserializeOwned;
use treenail_schema::CallToolResult;

use crate::client::protocol::CreatedTask;
use crate::client::typed::call::Decode;
use crate::client::typed::decode::decode_output;
use crate::client::{ClientError, McpClient};

/// Call that the server has answered: with its output, or with a task.
pub enum Started<T> {
    /// The output.
    Finished(T),
    /// The task.
    Task(CreatedTask),
}

/// Reader of the results of a call.
pub struct ResultReader<T> {
    client: McpClient,
    name: Cow<'static, str>,
    decode: Decode<T>,
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
    pub fn unchanged(client: &McpClient, name: String) -> Self {
        Self {
            client: client.clone(),
            name: name.into(),
            decode: Box::new(Ok),
            unchanged: true,
        }
    }
}

impl<T: DeserializeOwned + 'static> ResultReader<T> {
    /// Creates a reader that decodes results as a [`TypedCall::new`](crate::client::TypedCall::new) does.
    pub fn typed(client: &McpClient, name: String) -> Self {
        Self {
            client: client.clone(),
            name: name.into(),
            decode: Box::new(decode_output),
            unchanged: false,
        }
    }
}

impl<T> ResultReader<T> {
    pub(super) fn new(
        client: McpClient,
        name: Cow<'static, str>,
        decode: Decode<T>,
        unchanged: bool,
    ) -> Self {
        Self {
            client,
            name,
            decode,
            unchanged,
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
    pub async fn read(&self, text: &str) -> Result<T, ClientError> {
        self.decode(self.client.read_call(&self.name, text).await?)
    }

    pub(super) fn decode(&self, mut result: CallToolResult) -> Result<T, ClientError> {
        if !self.unchanged {
            self.client.mark_wrapped(&self.name, &mut result);
        }
        (self.decode)(result)
    }
}

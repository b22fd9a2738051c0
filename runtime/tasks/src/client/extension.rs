//! Methods of clients and their builders.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::json;
use treenail_runtime::client::{
    ClientError, McpClient, McpClientBuilder, McpClientSessionBuilder, TypedCall,
};
use treenail_runtime::internal::{AcceptsTaskDriver as _, ResultReader, start_call};
use treenail_schema::CallToolResult;

use crate::client::driver::Driver;
use crate::client::handle::TaskHandle;
use crate::client::ticket::TaskTicket;

/// Identifier of the extension.
const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// Tasks for the builders of clients. It is part of the prelude.
#[cfg(feature = "client")]
pub trait TaskBuilderExt: Sized {
    /// Supports tasks: the server may answer a call with a task, and the call waits for its outcome.
    ///
    /// ```
    /// use serde_json::json;
    /// use treenail::prelude::*;
    ///
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let client = McpClient::builder().command("report-server").tasks().build().await?;
    /// // Waits as long as the report takes.
    /// let report = client.call_tool("report", json!({"year": 2026})).await?;
    /// # let _ = report;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// In the modern era this declares the extension `io.modelcontextprotocol/tasks`, and the server decides which calls
    /// become tasks. In revision 2025-11-25, an `McpClient` calls the tools that require it as tasks. Without this method, and
    /// in older revisions, every call runs within its request.
    ///
    /// - Changes are pushed where the server supports it; otherwise the task is polled, as rarely as the server asks for.
    ///   [`TaskWaitLimits`](treenail_runtime::client::TaskWaitLimits) bound the wait.
    /// - The handlers of the client answer the questions of a task as those of a call.
    /// - Status messages are progress: they reach `on_progress` and `progress` of the call.
    /// - A timeout that is set for the call includes the task. The default timeout applies to single messages.
    /// - Dropping the future of the call cancels the task, in the background.
    #[must_use]
    fn tasks(self) -> Self;
}

impl TaskBuilderExt for McpClientBuilder {
    fn tasks(self) -> Self {
        let builder = self.extension(EXTENSION, json!({}));
        builder.with_task_driver(Arc::new(Driver::default()))
    }
}

impl TaskBuilderExt for McpClientSessionBuilder {
    fn tasks(self) -> Self {
        let builder = self.extension(EXTENSION, json!({}));
        builder.with_task_driver(Arc::new(Driver::default()))
    }
}

/// Future of [`TaskCallExt::task`].
#[cfg(feature = "client")]
pub type StartTask<T> = Pin<Box<dyn Future<Output = Result<TaskHandle<T>, ClientError>> + Send>>;

/// Calls whose tasks are returned. It is part of the prelude.
#[cfg(feature = "client")]
pub trait TaskCallExt<T> {
    /// Sends the call, and returns a handle to its task instead of the outcome. If the server answers directly, the handle has
    /// the output.
    ///
    /// A timeout of the call covers its start. In revision 2025-11-25, tools that permit tasks are called as tasks.
    ///
    /// # Errors
    ///
    /// Those of the call, and [`ClientError::Unsupported`] if [`tasks`](TaskBuilderExt::tasks) was not called.
    ///
    /// # Cancellation
    ///
    /// Dropping the future cancels the call.
    fn task(self) -> StartTask<T>;
}

impl<T: Send + 'static> TaskCallExt<T> for TypedCall<T> {
    fn task(self) -> StartTask<T> {
        Box::pin(async move {
            let (started, reader) = start_call(self).await?;
            TaskHandle::started(started, reader)
        })
    }
}

/// Tasks of earlier calls. It is part of the prelude.
#[cfg(feature = "client")]
pub trait TaskClientExt {
    /// Returns a handle to the task of an earlier call, perhaps of another process. Nothing is sent until the handle is used.
    ///
    /// # Errors
    ///
    /// [`ClientError::Invalid`] if the ticket names another server, [`ClientError::Unsupported`] if the revision of the
    /// connection has no tasks.
    fn resume_task(&self, ticket: &TaskTicket) -> Result<TaskHandle<CallToolResult>, ClientError>;

    /// As [`resume_task`](Self::resume_task), with an output that is decoded as by
    /// [`call_tool_as`](McpClient::call_tool_as).
    ///
    /// # Errors
    ///
    /// As [`resume_task`](Self::resume_task).
    fn resume_task_as<T: DeserializeOwned + 'static>(
        &self,
        ticket: &TaskTicket,
    ) -> Result<TaskHandle<T>, ClientError>;
}

impl TaskClientExt for McpClient {
    fn resume_task(&self, ticket: &TaskTicket) -> Result<TaskHandle<CallToolResult>, ClientError> {
        let reader = ResultReader::unchanged(self, ticket.tool().to_owned());
        TaskHandle::resumed(ticket, reader)
    }

    fn resume_task_as<T: DeserializeOwned + 'static>(
        &self,
        ticket: &TaskTicket,
    ) -> Result<TaskHandle<T>, ClientError> {
        let reader = ResultReader::typed(self, ticket.tool().to_owned());
        TaskHandle::resumed(ticket, reader)
    }
}

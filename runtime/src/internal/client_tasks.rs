//! Names of the client for `treenail-tasks`, and for calls that become tasks.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use treenail_schema::{CallToolRequest, CallToolResult, InputRequest};

use crate::client::cache::StartedCall;
pub use crate::client::protocol::{CreatedTask, StatusSink, TaskDriver, TaskFuture};
pub use crate::client::typed::{ResultReader, Started};
use crate::client::{
    ClientError, ClientLimits, ClientRequest, HandlerFuture, McpClient, McpClientBuilder,
    McpClientSession, McpClientSessionBuilder, SessionFuture, Subscription, TypedCall,
};
use crate::internal::string_member;

/// Call of a tool that the server has answered.
#[allow(
    clippy::large_enum_variant,
    reason = "nearly all calls have a result, which needs no further allocation"
)]
pub enum AnsweredCall {
    /// The result.
    Finished(CallToolResult),
    /// The call has become a task.
    Task(ToolTask),
}

/// Task of a call.
pub struct ToolTask {
    /// The id of the task.
    pub id: String,
    /// The result of the call. Dropping it cancels the task.
    pub outcome: Pin<Box<dyn Future<Output = Result<CallToolResult, ClientError>> + Send>>,
}

/// As [`McpClient::call_tool`], but returns a task instead of waiting for its outcome.
pub async fn start_tool_call(
    client: &McpClient,
    tool: &str,
    request: ClientRequest<CallToolRequest>,
) -> Result<AnsweredCall, ClientError> {
    let mut request = request.keep_task();
    let reader = ResultReader::unchanged(client, tool.to_owned());
    let created = match client.start_call(tool, &mut request).await? {
        StartedCall::Finished(answer) => {
            return reader.finish(answer).await.map(AnsweredCall::Finished);
        }
        StartedCall::Task(created) => created,
    };
    let driver = client.session().task_driver().cloned();
    let driver = driver.ok_or_else(|| ClientError::protocol("a call became a task"))?;
    let id = string_member(&created.text, "taskId").or_else(|| {
        let created: Value = serde_json::from_str(&created.text).ok()?;
        Some(created["task"]["taskId"].as_str()?.to_owned())
    });
    let outcome = driver.outcome(created);
    Ok(AnsweredCall::Task(ToolTask {
        id: id.unwrap_or_default(),
        outcome: Box::pin(async move {
            let text = outcome.await?;
            reader.read(text).await
        }),
    }))
}

impl fmt::Debug for AnsweredCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Finished(_) => "Finished",
            Self::Task(_) => "Task",
        })
    }
}

impl fmt::Debug for ToolTask {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ToolTask").finish_non_exhaustive()
    }
}

/// Client builder that accepts a driver of tasks.
pub trait AcceptsTaskDriver: Sized {
    /// Sets the driver of calls that become tasks.
    #[must_use]
    fn with_task_driver(self, driver: Arc<dyn TaskDriver>) -> Self;
}

impl AcceptsTaskDriver for McpClientBuilder {
    fn with_task_driver(self, driver: Arc<dyn TaskDriver>) -> Self {
        self.task_driver(driver)
    }
}

impl AcceptsTaskDriver for McpClientSessionBuilder {
    fn with_task_driver(self, driver: Arc<dyn TaskDriver>) -> Self {
        self.task_driver(driver)
    }
}

/// Sends a call. If it becomes a task, returns the task and the reader of its result.
pub async fn start_call<T>(
    call: TypedCall<T>,
) -> Result<(Started<T>, ResultReader<T>), ClientError> {
    call.start().await
}

/// Methods of a session that concern tasks.
pub trait TaskSession {
    /// Returns another handle to the session.
    #[must_use]
    fn shared(&self) -> Self;

    /// Returns the limits of the client.
    fn client_limits(&self) -> &ClientLimits;

    /// Returns true after the end of the connection.
    fn is_closed(&self) -> bool;

    /// Returns the driver of tasks; `None` if the client does not support them.
    fn driver(&self) -> Option<&Arc<dyn TaskDriver>>;

    /// Sends a request about a task. The parameters and the result are the JSON text of an object.
    fn task_request(
        &self,
        method: &'static str,
        params: String,
        limit: Duration,
    ) -> SessionFuture<'_, String>;

    /// Subscribes to the changes of a task; `None` if the server does not acknowledge it.
    fn listen_to_task(&self, id: &str) -> SessionFuture<'_, Option<Subscription>>;

    /// Parses the questions of a task by key, and rejects too many.
    ///
    /// # Errors
    ///
    /// [`ClientError::Protocol`].
    fn questions(&self, requests: &RawValue)
    -> Result<BTreeMap<String, InputRequest>, ClientError>;

    /// Answers a question of a task as the same question of a call.
    fn answer(&self, question: InputRequest) -> HandlerFuture<'_, String>;
}

impl TaskSession for McpClientSession {
    fn shared(&self) -> Self {
        self.share()
    }

    fn client_limits(&self) -> &ClientLimits {
        self.limits()
    }

    fn is_closed(&self) -> bool {
        self.changes().is_closed()
    }

    fn driver(&self) -> Option<&Arc<dyn TaskDriver>> {
        self.task_driver()
    }

    fn task_request(
        &self,
        method: &'static str,
        params: String,
        limit: Duration,
    ) -> SessionFuture<'_, String> {
        Box::pin(self.task_request(method, params, limit))
    }

    fn listen_to_task(&self, id: &str) -> SessionFuture<'_, Option<Subscription>> {
        let filter = json!({"taskIds": [id]});
        let id = id.to_owned();
        Box::pin(async move {
            let subscription = self.listen_json(&filter).await?;
            Ok(subscription.acknowledges_task(&id).then_some(subscription))
        })
    }

    fn questions(
        &self,
        requests: &RawValue,
    ) -> Result<BTreeMap<String, InputRequest>, ClientError> {
        self.parse_questions(requests)
    }

    fn answer(&self, question: InputRequest) -> HandlerFuture<'_, String> {
        Box::pin(self.answer_question(question))
    }
}

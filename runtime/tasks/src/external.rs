//! Tasks that a token completes, from any process with the same store and key.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::to_raw_value;
use treenail_runtime::internal::task::{link, open, seal};
use treenail_runtime::{Context, RequestStateKey, RpcError};
use treenail_schema::CallToolResult;

use crate::engine::{Engine, Loaded};
use crate::limits::TaskLimits;
use crate::record::{Outcome, TaskKey, shorten};
use crate::store::TaskStore;

/// Purpose of the sealed tokens, which no state of a request has.
const SCOPE: &[u8] = b"treenail task token 1";

/// Contents of a token.
#[derive(Serialize, Deserialize)]
struct Contents {
    id: String,
    owner: String,
}

/// Token that completes a task, see [`task_token`]. It is a secret of the server and of the system that does the work.
///
/// `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct TaskToken(Box<str>);

impl TaskToken {
    /// Returns the text, to pass it on. It consists of letters, digits, `-` and `_`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for TaskToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TaskToken").finish_non_exhaustive()
    }
}

impl From<String> for TaskToken {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl From<&str> for TaskToken {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

/// Returns the token that completes the task of a call, in a tool with `task(external)`.
///
/// The function passes the token on to the system that does the work, and returns. Its result is not the result of the task: its
/// first text becomes the status message. If it fails, the task fails. [`ExternalTasks`] completes the task with the token.
///
/// # Errors
///
/// An internal error if the tool is not external.
pub fn task_token(context: &Context) -> Result<TaskToken, RpcError> {
    let token = link(context).and_then(|link| link.token());
    token.map(TaskToken::from).ok_or_else(|| {
        RpcError::internal("this call has no task token; its tool needs `task(external)`")
    })
}

/// Seals the token of a task.
pub(crate) fn seal_token(key: &RequestStateKey, task: &TaskKey) -> Result<String, RpcError> {
    let contents = Contents {
        id: task.id.as_str().to_owned(),
        owner: task.owner.to_string(),
    };
    let text = serde_json::to_vec(&contents);
    let text = text.map_err(|error| RpcError::internal(error.to_string()))?;
    seal(key, SCOPE, text)
}

/// Completes tasks of tools with `task(external)`, in any process with the store and the key of the server.
///
/// ```
/// use treenail::elicit::RequestStateKey;
/// use treenail::schema::CallToolResult;
/// use treenail::tasks::{ExternalTasks, MemoryStore, TaskToken};
///
/// # async fn example(key: RequestStateKey) -> Result<(), treenail::RpcError> {
/// let tasks = ExternalTasks::new(MemoryStore::new(), key);
/// # let token = TaskToken::from("");
/// tasks.report(&token, "3 of 5 pages").await?;
/// tasks.complete(&token, CallToolResult::new(Vec::new())).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ExternalTasks {
    engine: Arc<Engine>,
    key: RequestStateKey,
}

impl ExternalTasks {
    /// Makes it for the store and the [key](crate::Tasks::token_key) of a server.
    pub fn new(store: impl TaskStore, key: RequestStateKey) -> Self {
        let engine = Engine::new(Arc::new(store), TaskLimits::default(), None);
        Self {
            engine: Arc::new(engine),
            key,
        }
    }

    /// Sets the limits: `result_bytes`, `message_chars` and `store_timeout`. The others apply to servers. Default:
    /// `TaskLimits::default()`, or those of the server for [`ServerTasks::external`](crate::ServerTasks::external). If that one is
    /// changed, subscribers of its server receive the states as if another process had stored them.
    #[must_use]
    pub fn limits(self, limits: TaskLimits) -> Self {
        Self {
            engine: Arc::new(self.engine.with_limits(limits)),
            ..self
        }
    }

    pub(crate) fn of(engine: &Arc<Engine>, key: RequestStateKey) -> Self {
        Self {
            engine: Arc::clone(engine),
            key,
        }
    }

    /// Completes a task with the result of its call.
    ///
    /// # Errors
    ///
    /// If the token is not valid, the task does not exist or has ended (-32602), the result is longer than
    /// [`TaskLimits::result_bytes`], or the store fails (-32603).
    pub async fn complete(
        &self,
        token: &TaskToken,
        result: CallToolResult,
    ) -> Result<(), RpcError> {
        let result = to_raw_value(&result);
        let result = result.map_err(|error| RpcError::internal(error.to_string()))?;
        let most = self.engine.limits.result_bytes;
        if result.get().len() > most {
            return Err(RpcError::internal(format!(
                "the result is longer than `TaskLimits::result_bytes` ({most})"
            )));
        }
        self.end(token, Outcome::of(Ok(result))).await
    }

    /// Ends a task with a JSON-RPC error. For failures that the model should read, complete the task with a result that has
    /// `isError`.
    ///
    /// # Errors
    ///
    /// As those of [`complete`](Self::complete).
    pub async fn fail(&self, token: &TaskToken, error: RpcError) -> Result<(), RpcError> {
        self.end(token, Outcome::Error(error.into())).await
    }

    /// Sets the status message of a task.
    ///
    /// # Errors
    ///
    /// As those of [`complete`](Self::complete).
    pub async fn report(
        &self,
        token: &TaskToken,
        message: impl Into<String>,
    ) -> Result<(), RpcError> {
        let message = shorten(&message.into(), self.engine.limits.message_chars);
        self.edit(token, |task| {
            task.record.message = Some(message.clone());
            task.record.touch();
        })
        .await
    }

    async fn end(&self, token: &TaskToken, outcome: Outcome) -> Result<(), RpcError> {
        self.edit(token, |task| {
            task.record.end(task.key.created_ms, outcome.clone());
        })
        .await
    }

    async fn edit(&self, token: &TaskToken, edit: impl Fn(&mut Loaded)) -> Result<(), RpcError> {
        let invalid = || RpcError::invalid_params("the task token is not valid for this key");
        let contents = open(&self.key, SCOPE, token.as_str()).ok_or_else(invalid)?;
        let Contents { id, owner } = serde_json::from_slice(&contents).map_err(|_| invalid())?;
        let edited = self.engine.edit(&id, &owner, |task| {
            if task.record.is_final() {
                return Err(RpcError::invalid_params("the task has already ended"));
            }
            edit(task);
            Ok(true)
        });
        edited.await.map(drop)
    }
}

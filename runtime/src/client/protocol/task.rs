//! Calls that become tasks on the server. `treenail-tasks` has the driver that waits for their outcome.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Number, Value, json};
use tokio::sync::Semaphore;
use treenail_schema::{InputRequest, ProgressNotificationParams, ProgressToken, Revision};

use crate::client::protocol::inner::{Inner, RequestTemplate};
use crate::client::protocol::input_required::{CompleteResult, parse_input_requests};
use crate::client::protocol::params::Params;
use crate::client::protocol::router::{ProgressSink, Router};
use crate::client::timeout::timeout;
use crate::client::{ClientError, McpClientSession, Subscription};
use crate::wire::{Members, RpcError};

/// Future of the result of a task, as JSON text.
pub type TaskFuture = Pin<Box<dyn Future<Output = Result<String, ClientError>> + Send>>;

/// Callback for the status messages of a task.
pub type StatusSink = Arc<dyn Fn(&str) + Send + Sync>;

/// Driver of calls that become tasks.
pub trait TaskDriver: fmt::Debug + Send + Sync + 'static {
    /// Returns the future of the call's result. Dropping it before its end cancels the task, polled or not.
    fn outcome(&self, task: CreatedTask) -> TaskFuture;

    /// Returns the permits for subscriptions to tasks, `max` of them at the first call.
    fn subscription_permits(&self, max: usize) -> Arc<Semaphore>;
}

/// Call that has become a task.
pub struct CreatedTask {
    /// The session that made the call.
    pub session: McpClientSession,
    /// The result that created the task, as JSON text.
    pub text: String,
    /// Callback of the caller for status messages, if it asked for progress.
    pub on_status: Option<StatusSink>,
}

impl fmt::Debug for CreatedTask {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CreatedTask")
            .finish_non_exhaustive()
    }
}

/// Part of a result that created a task.
#[derive(Default)]
pub(in crate::client) struct NewTask {
    pub(in crate::client) on_status: Option<StatusSink>,
}

impl fmt::Debug for NewTask {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("NewTask").finish_non_exhaustive()
    }
}

impl CompleteResult {
    /// Creates the result of a call that has become a task.
    pub(super) fn created(text: String, was_asked: bool) -> Self {
        Self {
            text,
            was_asked,
            task: Some(NewTask::default()),
        }
    }
}

impl Inner {
    /// Returns true if the result of a request may create a task.
    pub(super) fn accepts_task(&self, template: &RequestTemplate) -> bool {
        self.link.tasks.is_some() && template.method == "tools/call"
    }

    /// Sends a call that may become a task.
    pub(super) async fn call(
        self: &Arc<Self>,
        template: &RequestTemplate,
    ) -> Result<CompleteResult, ClientError> {
        if !template.asks_for_task {
            return self.complete(template).await;
        }
        let (inner, template) = (Arc::clone(self), template.clone());
        let call = Box::pin(async move { inner.complete(&template).await });
        Creation(Some((Arc::clone(self), call))).await
    }

    /// Waits for the result of a call that has become a task.
    pub(super) async fn task_result(
        self: &Arc<Self>,
        created: CompleteResult,
    ) -> Result<CompleteResult, ClientError> {
        if created.task.is_none() {
            return Ok(created);
        }
        let was_asked = created.was_asked;
        let text = self.outcome(created)?.await?;
        Ok(CompleteResult {
            text,
            was_asked,
            task: None,
        })
    }

    fn outcome(self: &Arc<Self>, created: CompleteResult) -> Result<TaskFuture, ClientError> {
        let driver = self.link.tasks.as_ref();
        let driver = driver.ok_or_else(|| ClientError::protocol("a call became a task"))?;
        let session = McpClientSession {
            inner: Arc::clone(self),
        };
        Ok(driver.outcome(created.into_task(&session)))
    }
}

impl CompleteResult {
    /// Returns the task that the result created.
    pub(in crate::client) fn into_task(self, session: &McpClientSession) -> CreatedTask {
        CreatedTask {
            session: session.share(),
            text: self.text,
            on_status: self.task.and_then(|task| task.on_status),
        }
    }
}

type Call = Pin<Box<dyn Future<Output = Result<CompleteResult, ClientError>> + Send>>;

/// Call that asks for a task. `notifications/cancelled` must not cancel it. If it is dropped before its result, it continues in
/// the background, and a task that it creates is cancelled.
struct Creation(Option<(Arc<Inner>, Call)>);

impl Future for Creation {
    type Output = Result<CompleteResult, ClientError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let Some((_, call)) = &mut this.0 else {
            return Poll::Pending;
        };
        let result = std::task::ready!(call.as_mut().poll(context));
        this.0 = None;
        Poll::Ready(result)
    }
}

impl Drop for Creation {
    fn drop(&mut self) {
        let (Some((inner, call)), Ok(runtime)) =
            (self.0.take(), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        runtime.spawn(async move {
            let created = timeout(inner.link.limits.request_timeout, call).await;
            let created = created.and_then(|created| created);
            if let Some(created) = created.ok().filter(|created| created.task.is_some()) {
                drop(inner.outcome(created));
            }
        });
    }
}

/// Returns true if the result of a call with the parameter `task` has created one, in revision 2025-11-25.
pub(super) fn creates_legacy_task(text: &str) -> bool {
    let Ok(mut members) = Members::new(text) else {
        return false;
    };
    while let Ok(Some((key, value))) = members.next() {
        if key == "task" {
            return value.starts_with('{');
        }
    }
    false
}

/// Registers a sink for progress. Returns a callback for the status messages of a task, which become progress too. The sink is
/// registered until the callback is dropped.
pub(super) fn relay_status(router: &Arc<Router>, token: i64, sink: ProgressSink) -> StatusSink {
    let latest = Arc::new(Mutex::new(None::<ProgressNotificationParams>));
    let (recorded, progress_sink) = (Arc::clone(&latest), Arc::clone(&sink));
    let record = move |progress: ProgressNotificationParams| {
        *recorded.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress.clone());
        progress_sink(progress);
    };
    let registration = router.on_progress(token, Arc::new(record));
    Arc::new(move |message| {
        let _registered = &registration;
        // A task reports no numbers, so those of the last progress are repeated.
        let latest = latest
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let mut progress = latest.unwrap_or_else(|| {
            ProgressNotificationParams::new(ProgressToken::Number(token), Number::from(0))
        });
        progress.message = Some(message.to_owned());
        sink(progress);
    })
}

impl McpClientSession {
    /// Sends a request about a task. The parameters are the JSON text of an object.
    pub(crate) async fn task_request(
        &self,
        method: &'static str,
        params: String,
        limit: Duration,
    ) -> Result<String, ClientError> {
        let template = RequestTemplate::new(method, Params::from_text(params));
        let result = timeout(limit, self.inner.complete(&template)).await??;
        Ok(result.text)
    }

    /// Subscribes with a filter that may have members of extensions.
    pub(crate) async fn listen_json(&self, filter: &Value) -> Result<Subscription, ClientError> {
        Subscription::open_json(&self.inner, filter).await
    }

    /// Parses the questions of a task by key, and rejects too many.
    pub(crate) fn parse_questions(
        &self,
        requests: &RawValue,
    ) -> Result<BTreeMap<String, InputRequest>, ClientError> {
        let max_requests = self.inner.link.limits.input_requests_per_round;
        parse_input_requests(Some(requests), max_requests)
    }

    /// Answers a question of a task as the same question of a call.
    pub(crate) async fn answer_question(&self, request: InputRequest) -> Result<String, RpcError> {
        self.inner.link.router.handler.answer(request).await
    }

    /// Returns the driver of tasks; `None` if the client does not support them.
    pub(crate) fn task_driver(&self) -> Option<&Arc<dyn TaskDriver>> {
        self.inner.link.tasks.as_ref()
    }

    /// Returns true if calls of the server can ask for a task with a parameter, in revision 2025-11-25.
    pub(in crate::client) fn has_task_parameter(&self) -> bool {
        let peer = self.inner.peer();
        let tasks = peer.capabilities.tasks.as_ref();
        let requests = tasks.and_then(|tasks| tasks.requests.as_ref());
        let tools = requests.and_then(|requests| requests.tools.as_ref());
        self.task_driver().is_some()
            && peer.revision == Revision::V2025_11_25
            && tools.is_some_and(|tools| tools.call.is_some())
    }

    /// Returns another handle to the session.
    pub(crate) fn share(&self) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
        }
    }
}

const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

/// Returns the answer to a request of a task with the key of the task, as revision 2025-11-25 requires.
pub(super) fn relate_answer(request_params: &str, answer: String) -> String {
    #[derive(Deserialize)]
    struct Related<'a> {
        #[serde(borrow, rename = "_meta")]
        meta: Meta<'a>,
    }
    #[derive(Deserialize)]
    struct Meta<'a> {
        #[serde(borrow, rename = "io.modelcontextprotocol/related-task")]
        task: &'a RawValue,
    }

    if !request_params.contains(RELATED_TASK) {
        return answer;
    }
    let (Ok(related), Ok(Value::Object(mut answered))) = (
        serde_json::from_str::<Related<'_>>(request_params),
        serde_json::from_str::<Value>(&answer),
    ) else {
        return answer;
    };
    let meta = answered.entry("_meta").or_insert_with(|| json!({}));
    if let (Value::Object(meta), Ok(task)) = (meta, serde_json::from_str(related.meta.task.get())) {
        meta.insert(RELATED_TASK.to_owned(), task);
    }
    Value::Object(answered).to_string()
}

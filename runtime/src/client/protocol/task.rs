//! Calls that become tasks on the server. `treenail-tasks` has the driver that waits for their outcome.

use std::any::Any;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use serde_json::Value;
use serde_json::value::RawValue;
use treenail_schema::{InputRequest, Revision};

use crate::client::answers::check_decoded_size;
use crate::client::background::in_background;
use crate::client::protocol::inner::{Inner, RequestTemplate};
use crate::client::protocol::input_required::{CompleteResult, parse_input_requests, result_type};
use crate::client::protocol::params::Params;
use crate::client::protocol::task_driver::{CreatedTask, NewTask, TaskDriver, TaskFuture};
use crate::client::session::LateAnswers;
use crate::client::timeout::{paused, timeout};
use crate::client::{ClientError, McpClientSession, Subscription};
use crate::wire::{RpcError, as_string};

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
            inner: Arc::clone(&session.inner) as Arc<dyn Any + Send + Sync>,
            text: self.text,
            on_status: self.task.and_then(|task| task.on_status),
        }
    }
}

impl CreatedTask {
    /// Returns the session that made the call.
    ///
    /// # Panics
    ///
    /// Never: `into_task` alone creates the value.
    pub fn session(&self) -> McpClientSession {
        let inner = Arc::clone(&self.inner).downcast();
        McpClientSession {
            inner: inner.expect("the core of a session"),
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
        runtime.spawn(in_background(async move {
            let created = timeout(inner.link.limits.request_timeout, call).await;
            let created = created.and_then(|created| created);
            if let Some(created) = created.ok().filter(|created| created.task.is_some()) {
                drop(inner.outcome(created));
            }
        }));
    }
}

impl LateAnswers for Inner {
    /// Cancels a task that a dropped call has created.
    fn on_late_result(&self, text: String) {
        let has_task = result_type(&text).is_ok_and(|kind| kind.as_deref() == Some("task"));
        let is_small = check_decoded_size(&text, &self.link.limits).is_ok();
        if let Some(inner) = self.shared().filter(|_| has_task && is_small) {
            drop(inner.outcome(CompleteResult::created(text, false)));
        }
    }
}

impl McpClientSession {
    /// Sends a request about a task. The parameters are the JSON text of an object.
    pub(crate) async fn task_request(
        &self,
        method: &'static str,
        params: String,
        limit: Duration,
    ) -> Result<String, ClientError> {
        let mut template = RequestTemplate::new(method, Params::from_text(params));
        let id = template.params.member("taskId").and_then(as_string);
        template.name_header = id.map(Into::into);
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
        let revision = self.inner.peer().revision;
        let handler = &self.inner.link.router.handler;
        paused(handler.answer(request, revision)).await
    }

    /// Returns the driver of tasks; `None` if the client does not support them.
    pub(crate) fn task_driver(&self) -> Option<&Arc<dyn TaskDriver>> {
        self.inner.link.tasks.as_ref()
    }

    /// Returns true if calls of the server can ask for a task with a parameter, in revision 2025-11-25.
    pub(in crate::client) fn has_task_parameter(&self) -> bool {
        if self.task_driver().is_none() {
            return false;
        }
        let peer = self.inner.peer();
        let tasks = peer.capabilities.tasks.as_ref();
        let requests = tasks.and_then(|tasks| tasks.requests.as_ref());
        let tools = requests.and_then(|requests| requests.tools.as_ref());
        peer.revision == Revision::V2025_11_25 && tools.is_some_and(|tools| tools.call.is_some())
    }

    /// Returns another handle to the session.
    pub(crate) fn share(&self) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
        }
    }
}

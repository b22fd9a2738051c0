//! Request with options that are set before it is sent.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use treenail_schema::{LoggingLevel, ProgressNotificationParams, Request};

use crate::client::ClientError;
use crate::client::protocol::inner::{Inner, RequestTemplate};
use crate::client::protocol::input_required::CompleteResult;
use crate::client::protocol::meta::push_member;
use crate::client::protocol::options::RequestOptions;
use crate::client::protocol::params::Params;
use crate::client::protocol::progress::{ProgressSender, ProgressStream};
use crate::client::protocol::result::read_result;
use crate::client::protocol::router::ProgressSink;
use crate::client::timeout::{ExpiryScope, timeout};

/// A request that is sent when it is awaited, and returns its result.
///
/// It borrows nothing, so it can run in a separate task.
///
/// # Errors
///
/// Any [`ClientError`]. A failed tool is not an error here, but a result with `isError`.
///
/// # Cancellation
///
/// Dropping the future cancels the request on the server, in the way of the transport and the era.
#[must_use = "a request is sent when it is awaited"]
pub struct ClientRequest<R: Request> {
    inner: Arc<Inner>,
    template: Result<RequestTemplate, ClientError>,
    timeout: Option<Duration>,
    /// Maximum duration if progress resets the timeout.
    max_duration: Option<Duration>,
    progress: Option<ProgressSink>,
    /// True if a task is returned to the caller, instead of its result.
    keeps_task: bool,
    result: PhantomData<fn() -> R::Result>,
}

impl<R: Request> ClientRequest<R> {
    pub(super) fn new(inner: &Arc<Inner>, params: Result<Params, ClientError>) -> Self {
        Self {
            inner: Arc::clone(inner),
            template: params.map(|params| RequestTemplate::new(R::METHOD, params)),
            timeout: None,
            max_duration: None,
            progress: None,
            keeps_task: false,
            result: PhantomData,
        }
    }

    /// Creates a request for a method of an extension.
    pub(super) fn of_extension(
        inner: &Arc<Inner>,
        (extension, method): (&str, &str),
        params: Result<Params, ClientError>,
    ) -> Self {
        let mut request = Self::new(inner, params);
        request.edit_template(|template| {
            template.method = method.to_owned().into();
            template.extension = Some(extension.into());
            Ok(())
        });
        request
    }

    /// Changes the request, unless it has failed already.
    pub(super) fn edit_template(
        &mut self,
        edit: impl FnOnce(&mut RequestTemplate) -> Result<(), ClientError>,
    ) {
        let edited = self.template.as_mut().map_or(Ok(()), edit);
        if let Err(error) = edited {
            self.template = Err(error);
        }
    }

    /// Returns a copy of the request.
    pub(in crate::client) fn again(&self) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
            template: self.template.clone(),
            timeout: self.timeout,
            max_duration: self.max_duration,
            progress: self.progress.clone(),
            keeps_task: self.keeps_task,
            result: PhantomData,
        }
    }

    /// Returns the arguments as JSON text.
    pub(in crate::client) fn arguments(&self) -> Option<&str> {
        self.template.as_ref().ok()?.params.member("arguments")
    }

    /// Returns the timeout of the request, and of each step before it.
    pub(in crate::client) fn step_timeout(&self) -> Duration {
        let default = self.inner.link.limits.request_timeout;
        self.timeout.unwrap_or(default)
    }

    /// Returns the maximum duration of the request.
    #[cfg(feature = "validation")]
    pub(in crate::client) fn time_limit(&self) -> Duration {
        let timeout = self.step_timeout();
        self.max_duration
            .map_or(timeout, |max_duration| max_duration.max(timeout))
    }

    /// Sets arguments to repeat in headers, on transports with headers.
    pub(in crate::client) fn with_headers(mut self, headers: Vec<(String, String)>) -> Self {
        if let Ok(template) = &mut self.template {
            template.headers = headers;
        }
        self
    }

    /// Returns a task to the caller, instead of its result.
    pub(crate) fn keep_task(mut self) -> Self {
        self.keeps_task = true;
        self
    }

    /// Returns true if a task is returned to the caller.
    pub(in crate::client) fn keeps_task(&self) -> bool {
        self.keeps_task
    }

    /// Asks for a task, in revision 2025-11-25.
    pub(in crate::client) fn ask_for_task(mut self) -> Self {
        if let Ok(template) = &mut self.template {
            template.params.ask_for_task();
            template.asks_for_task = true;
        }
        self
    }

    /// Sets the timeout. After it the request is cancelled and fails with [`ClientError::Timeout`]. The time in which the handlers
    /// of the client answer the server is not counted, because a user may need it. Default: [`ClientLimits::request_timeout`](crate::client::ClientLimits::request_timeout).
    ///
    /// A call may become a task of the server, if the client supports tasks. This timeout includes the task, and cancels it. The
    /// default does not: it applies to each message, while [`TaskWaitLimits`](crate::client::TaskWaitLimits) bound the task.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Restarts the timeout with each progress notification, up to a total of `max_duration`.
    pub fn reset_timeout_on_progress(mut self, max_duration: Duration) -> Self {
        self.max_duration = Some(max_duration);
        self
    }

    /// Requests progress and passes it to a function, which must not block: the task that reads messages calls it.
    ///
    /// ```
    /// # use treenail::client::McpClientSession;
    /// # async fn example(session: &McpClientSession) -> Result<(), Box<dyn std::error::Error>> {
    /// let result = session
    ///     .tools_call("import", serde_json::json!({"path": "a.csv"}))
    ///     .on_progress(|progress| eprintln!("{:?} of {:?}", progress.progress, progress.total))
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_progress(
        mut self,
        sink: impl Fn(ProgressNotificationParams) + Send + Sync + 'static,
    ) -> Self {
        self.progress = Some(Arc::new(sink));
        self
    }

    /// Requests progress as a stream that ends with the request. The returned request must still be awaited or spawned.
    ///
    /// ```
    /// # use treenail::client::McpClientSession;
    /// # async fn example(session: &McpClientSession) -> Result<(), Box<dyn std::error::Error>> {
    /// let (progress, call) = session.tools_call("import", ()).progress();
    /// let call = tokio::spawn(call.into_future());
    /// // … `while let Some(step) = progress.next().await { … }`
    /// let result = call.await??;
    /// # drop(progress);
    /// # Ok(())
    /// # }
    /// ```
    pub fn progress(self) -> (ProgressStream, Self) {
        let (sender, stream) = ProgressSender::channel(&self.inner.link.limits);
        let request = self.on_progress(move |progress| sender.send(progress));
        (stream, request)
    }

    /// Adds a member to the `_meta` of the request, for extensions and tracing. It replaces one with the same key. The members that
    /// identify the client are always those of the session.
    pub fn meta(mut self, key: &str, value: impl Into<Value>) -> Self {
        if let Ok(template) = &mut self.template {
            push_member(&mut template.meta, key, &value.into());
        }
        self
    }

    /// Requests log messages of this level and above for this request (modern era). In the legacy era, use
    /// [`logging_set_level`](crate::client::McpClientSession::logging_set_level).
    pub fn log_level(self, level: LoggingLevel) -> Self {
        let is_modern = self.inner.peer().revision.is_modern();
        if is_modern {
            self.meta("io.modelcontextprotocol/logLevel", json!(level))
        } else {
            self
        }
    }

    /// Sends the request and returns the text of its result.
    pub(in crate::client) fn finish(
        self,
    ) -> impl Future<Output = Result<CompleteResult, ClientError>> + Send {
        self.finish_as(Ok)
    }

    /// Sends the request and returns its result as a value.
    ///
    /// Each request has such a future, so it is small: the parts are moved in separately, the rare path is boxed, and no future is
    /// moved into another one, which would reserve room for it twice.
    fn finish_as<T>(
        self,
        read: impl FnOnce(CompleteResult) -> Result<T, ClientError> + Send,
    ) -> impl Future<Output = Result<T, ClientError>> + Send {
        let Self {
            inner,
            template,
            timeout: limit,
            max_duration,
            progress,
            keeps_task,
            ..
        } = self;
        async move {
            let template = template.as_ref().map_err(ClientError::clone)?;
            if progress.is_some() || max_duration.is_some() || inner.accepts_task(template) {
                let options = RequestOptions {
                    timeout: limit,
                    max_duration,
                    progress,
                    keeps_task,
                };
                return read(Box::pin(options.run(&inner, template)).await?);
            }
            let limit = limit.unwrap_or(inner.link.limits.request_timeout);
            let mut scope = ExpiryScope::default();
            let complete = pin!(inner.complete(template));
            let completed = timeout(limit, complete).await;
            if completed.is_err() {
                scope.expire();
            }
            read(completed??)
        }
    }
}

impl<R: Request + 'static> IntoFuture for ClientRequest<R> {
    type Output = Result<R::Result, ClientError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.finish_as(|complete| read_result::<R>(&complete.text)))
    }
}

impl<R: Request> fmt::Debug for ClientRequest<R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ClientRequest")
            .field("method", &R::METHOD)
            .finish_non_exhaustive()
    }
}

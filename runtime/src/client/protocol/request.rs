//! Request with options that are set before it is sent.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use treenail_schema::{LoggingLevel, ProgressNotificationParams, Request};

use crate::client::ClientError;
use crate::client::protocol::inner::{Inner, RequestTemplate};
use crate::client::protocol::meta::push_member;
use crate::client::protocol::options::RequestOptions;
use crate::client::protocol::params::Params;
use crate::client::protocol::prepared_request::PreparedRequest;
use crate::client::protocol::progress::{ProgressSender, ProgressStream};
use crate::client::protocol::result::read_result;

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
    pub(in crate::client) prepared: PreparedRequest,
    result: PhantomData<fn() -> R::Result>,
}

impl<R: Request> ClientRequest<R> {
    pub(super) fn new(inner: &Arc<Inner>, params: Result<Params, ClientError>) -> Self {
        let prepared = PreparedRequest {
            inner: Arc::clone(inner),
            template: params.map(|params| RequestTemplate::new(R::METHOD, params)),
            options: RequestOptions::default(),
        };
        Self {
            prepared,
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
        request.prepared.edit_template(|template| {
            template.method = method.to_owned().into();
            template.extension = Some(extension.into());
            Ok(())
        });
        request
    }

    /// Returns a task to the caller, instead of its result.
    pub(crate) fn keep_task(mut self) -> Self {
        self.prepared.options.keeps_task = true;
        self
    }

    /// Sets the timeout. After it the request is cancelled and fails with [`ClientError::Timeout`]. The time in which the handlers
    /// of the client answer the server is not counted, because a user may need it. Default: [`ClientLimits::request_timeout`](crate::client::ClientLimits::request_timeout).
    ///
    /// A call may become a task of the server, if the client supports tasks. This timeout includes the task, and cancels it. The
    /// default does not: it applies to each message, while [`TaskWaitLimits`](crate::client::TaskWaitLimits) bound the task.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.prepared.options.timeout = Some(timeout);
        self
    }

    /// Restarts the timeout with each progress notification, up to a total of `max_duration`.
    pub fn reset_timeout_on_progress(mut self, max_duration: Duration) -> Self {
        self.prepared.options.max_duration = Some(max_duration);
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
        self.prepared.options.progress = Some(Arc::new(sink));
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
        let (sender, stream) = ProgressSender::channel(&self.prepared.inner.link.limits);
        let request = self.on_progress(move |progress| sender.send(progress));
        (stream, request)
    }

    /// Adds a member to the `_meta` of the request, for extensions and tracing. It replaces one with the same key. The members that
    /// identify the client are always those of the session.
    pub fn meta(mut self, key: &str, value: impl Into<Value>) -> Self {
        if let Ok(template) = &mut self.prepared.template {
            push_member(&mut template.meta, key, &value.into());
        }
        self
    }

    /// Requests log messages of this level and above for this request (modern era). In the legacy era, use
    /// [`logging_set_level`](crate::client::McpClientSession::logging_set_level).
    pub fn log_level(self, level: LoggingLevel) -> Self {
        let is_modern = self.prepared.inner.peer().revision.is_modern();
        if is_modern {
            self.meta("io.modelcontextprotocol/logLevel", json!(level))
        } else {
            self
        }
    }
}

impl<R: Request + 'static> IntoFuture for ClientRequest<R> {
    type Output = Result<R::Result, ClientError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let prepared = self.prepared;
        Box::pin(async move {
            let text = prepared.send().await?.text;
            read_result::<R>(&text, || prepared.revision())
        })
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

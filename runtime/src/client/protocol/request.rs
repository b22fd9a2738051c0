//! A request that can be given options before it is sent.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, timeout, timeout_at};
use treenail_schema::{LoggingLevel, ProgressNotificationParams, Request};

use crate::client::ClientError;
use crate::client::protocol::core::{Core, Draft};
use crate::client::protocol::progress::{ProgressStream, Source};
use crate::client::protocol::result::read;
use crate::client::protocol::rounds::Finished;
use crate::client::protocol::router::ProgressSink;
use crate::client::protocol::text::{Head, push_member};
use crate::deadline;

/// A request that has not been sent yet; awaiting it sends it and brings its result.
///
/// It borrows nothing, so it can be given to a task of its own.
///
/// # Errors
///
/// Whatever a [`ClientError`] can be. A tool that fails is no error here, but a result with `isError`.
///
/// # Cancellation
///
/// Dropping the future cancels the request: the server is told, in the way of the transport and the era.
#[must_use = "a request is sent when it is awaited"]
pub struct ClientRequest<R: Request> {
    core: Arc<Core>,
    draft: Result<Draft, ClientError>,
    limit: Option<Duration>,
    /// Progress begins the time anew, but not beyond this.
    at_most: Option<Duration>,
    progress: Option<ProgressSink>,
    result: PhantomData<fn() -> R::Result>,
}

impl<R: Request> ClientRequest<R> {
    pub(super) fn new(core: &Arc<Core>, head: Result<Head, ClientError>) -> Self {
        Self {
            core: Arc::clone(core),
            draft: head.map(|head| Draft::new(R::METHOD, head)),
            limit: None,
            at_most: None,
            progress: None,
            result: PhantomData,
        }
    }

    /// The same request once more.
    pub(in crate::client) fn again(&self) -> Self {
        Self {
            core: Arc::clone(&self.core),
            draft: self.draft.clone(),
            limit: self.limit,
            at_most: self.at_most,
            progress: self.progress.clone(),
            result: PhantomData,
        }
    }

    /// The text of the arguments, if it has any.
    pub(in crate::client) fn arguments(&self) -> Option<&str> {
        self.draft.as_ref().ok()?.head.member("arguments")
    }

    /// The most time that it may take.
    #[cfg(feature = "validation")]
    pub(in crate::client) fn time_limit(&self) -> Duration {
        let limit = self.limit.unwrap_or(self.core.limits.request_timeout);
        self.at_most.map_or(limit, |at_most| at_most.max(limit))
    }

    /// Repeats arguments in headers, where there are headers.
    pub(in crate::client) fn with_headers(mut self, headers: Vec<(String, String)>) -> Self {
        if let Ok(draft) = &mut self.draft {
            draft.headers = headers;
        }
        self
    }

    /// How long it may take, questions of the server included; then it is cancelled and fails with
    /// [`ClientError::Timeout`]. Default: [`ClientLimits::request_timeout`](crate::client::ClientLimits::request_timeout).
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Begins the time anew with each progress that the server tells, until it has taken `at_most` in all.
    pub fn reset_timeout_on_progress(mut self, at_most: Duration) -> Self {
        self.at_most = Some(at_most);
        self
    }

    /// Asks for progress, and passes it to a function, which must not wait: it is called where messages are read.
    ///
    /// ```
    /// # use treenail_runtime::client::McpClientSession;
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

    /// Asks for progress, as a stream that ends with the request. The request is still to be awaited, or given to a task.
    ///
    /// ```
    /// # use treenail_runtime::client::McpClientSession;
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
        let (source, stream) = Source::new(&self.core.limits);
        let request = self.on_progress(move |progress| source.push(progress));
        (stream, request)
    }

    /// Adds a member to the `_meta` of the request, for extensions and tracing.
    pub fn meta(mut self, key: &str, value: impl Into<Value>) -> Self {
        if let Ok(draft) = &mut self.draft {
            push_member(&mut draft.meta, key, &value.into());
        }
        self
    }

    /// Asks for the log messages of this request, of this level and above (modern era; servers of the legacy era are told
    /// with `logging/setLevel`).
    pub fn log_level(self, level: LoggingLevel) -> Self {
        let is_modern = self.core.facts().revision.is_modern();
        if is_modern {
            self.meta("io.modelcontextprotocol/logLevel", json!(level))
        } else {
            self
        }
    }

    /// Sends it, and brings the text of the result. The future is small, since each request has one: what is used is
    /// taken over and not moved, and what is rare is boxed.
    pub(in crate::client) fn finish(
        self,
    ) -> impl Future<Output = Result<Finished, ClientError>> + Send {
        let Self {
            core,
            draft,
            limit,
            at_most,
            progress,
            ..
        } = self;
        async move {
            let draft = draft.as_ref().map_err(ClientError::clone)?;
            let limit = limit.unwrap_or(core.limits.request_timeout);
            if progress.is_some() || at_most.is_some() {
                return Box::pin(with_progress(&core, draft, limit, at_most, progress)).await;
            }
            let finished = timeout(limit, core.finish(draft)).await;
            finished.map_err(|_| ClientError::Timeout(limit))?
        }
    }
}

/// As [`ClientRequest::finish`], for a request that hears of progress.
async fn with_progress(
    core: &Arc<Core>,
    draft: &Draft,
    limit: Duration,
    at_most: Option<Duration>,
    progress: Option<ProgressSink>,
) -> Result<Finished, ClientError> {
    let token = core.next_id();
    let draft = Draft {
        progress_token: Some(token),
        ..draft.clone()
    };
    let clock = Arc::new(Clock::start(limit, at_most));
    let ticking = Arc::clone(&clock);
    let sink = move |told| {
        ticking.restart();
        if let Some(progress) = &progress {
            progress(told);
        }
    };
    let _listening = core.router.on_progress(token, Arc::new(sink));
    clock.bound(core.finish(&draft)).await
}

impl<R: Request + 'static> IntoFuture for ClientRequest<R> {
    type Output = Result<R::Result, ClientError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let finished = self.finish();
        Box::pin(async move { read(&finished.await?.text) })
    }
}

impl<R: Request> fmt::Debug for ClientRequest<R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("ClientRequest");
        shown.field("method", &R::METHOD).finish_non_exhaustive()
    }
}

/// Until when a request may take.
struct Clock {
    started: Instant,
    limit: Duration,
    /// The end, whatever progress there is; `None` if progress does not count.
    last: Option<Instant>,
    end: Mutex<Instant>,
}

impl Clock {
    fn start(limit: Duration, at_most: Option<Duration>) -> Self {
        let now = Instant::now();
        let end = deadline::from(now, limit);
        Self {
            started: now,
            limit,
            last: at_most.map(|at_most| deadline::from(now, at_most)),
            end: Mutex::new(end),
        }
    }

    fn end(&self) -> Instant {
        let end = *self.end.lock().unwrap_or_else(PoisonError::into_inner);
        self.last.map_or(end, |last| last.min(end))
    }

    fn restart(&self) {
        if self.last.is_some() {
            let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
            *end = deadline::after(self.limit);
        }
    }

    async fn bound<T>(
        &self,
        future: impl Future<Output = Result<T, ClientError>>,
    ) -> Result<T, ClientError> {
        let mut future = pin!(future);
        loop {
            let end = self.end();
            match timeout_at(end, &mut future).await {
                Ok(result) => return result,
                Err(_) if self.end() > end => {}
                Err(_) => return Err(ClientError::Timeout(end - self.started)),
            }
        }
    }
}

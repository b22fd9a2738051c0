//! A request that can be given options before it is sent.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};
use treenail_schema::{LoggingLevel, ProgressNotificationParams, Request};

use crate::client::ClientError;
use crate::client::protocol::core::{Core, Draft};
use crate::client::protocol::greet::read;
use crate::client::protocol::progress::{ProgressStream, Source};
use crate::client::protocol::rounds::Finished;
use crate::client::protocol::router::ProgressSink;
use crate::client::protocol::text::{Head, push_member};

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
    head: Result<Head, ClientError>,
    headers: Vec<(String, String)>,
    meta: String,
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
            head,
            headers: Vec::new(),
            meta: String::new(),
            limit: None,
            at_most: None,
            progress: None,
            result: PhantomData,
        }
    }

    /// Repeats arguments in headers, where there are headers.
    pub(in crate::client) fn with_headers(mut self, headers: Vec<(String, String)>) -> Self {
        self.headers = headers;
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
        push_member(&mut self.meta, key, &value.into());
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

    /// Sends it, and brings the text of the result.
    pub(in crate::client) async fn finish(self) -> Result<Finished, ClientError> {
        let core = self.core;
        core.facts().allow(R::METHOD)?;
        let wants_progress = self.progress.is_some() || self.at_most.is_some();
        let token = wants_progress.then(|| core.next_id());
        let draft = Draft {
            method: R::METHOD,
            head: self.head?,
            headers: self.headers,
            meta: self.meta,
            progress_token: token,
        };
        let limit = self.limit.unwrap_or(core.limits.request_timeout);
        let clock = Arc::new(Clock::start(limit, self.at_most));
        let _listening = token.map(|token| {
            let (clock, sink) = (Arc::clone(&clock), self.progress);
            let sink = move |progress| {
                clock.restart();
                if let Some(sink) = &sink {
                    sink(progress);
                }
            };
            core.router.on_progress(token, Arc::new(sink))
        });
        clock.bound(core.finish(&draft)).await
    }
}

impl<R: Request + 'static> IntoFuture for ClientRequest<R> {
    type Output = Result<R::Result, ClientError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { read(&self.finish().await?.text) })
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
    limit: Duration,
    /// The end, whatever progress there is; `None` if progress does not count.
    last: Option<Instant>,
    end: Mutex<Instant>,
}

impl Clock {
    fn start(limit: Duration, at_most: Option<Duration>) -> Self {
        let now = Instant::now();
        let end = later(now, limit);
        Self {
            limit,
            last: at_most.map(|at_most| later(now, at_most)),
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
            *end = later(Instant::now(), self.limit);
        }
    }

    async fn bound<T>(
        &self,
        future: impl Future<Output = Result<T, ClientError>>,
    ) -> Result<T, ClientError> {
        let started = Instant::now();
        let mut future = pin!(future);
        loop {
            let end = self.end();
            match timeout_at(end, &mut future).await {
                Ok(result) => return result,
                Err(_) if self.end() > end => {}
                Err(_) => return Err(ClientError::Timeout(end - started)),
            }
        }
    }
}

/// An instant so far away that it never comes, if it cannot be told.
fn later(now: Instant, duration: Duration) -> Instant {
    const NEVER: Duration = Duration::from_secs(60 * 60 * 24 * 365 * 30);
    now + duration.min(NEVER)
}

//! Log of requests, and warnings about slow ones.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

use tokio::time::{Sleep, sleep};
use tower_layer::Layer;
use tower_service::Service;
use treenail_schema::Method;

use crate::context::Context as CallContext;
use crate::deadline::poll_timer;
use crate::error::carried_ref;
use crate::server::layer::{BoxError, Request, RequestService, Response, ResponseFuture};
use crate::wire::{RpcError, shortened};

/// Layer that logs each request when it ends, and requests that are slow while they still run, with the crate `tracing`.
///
/// | event | level | fields |
/// |---|---|---|
/// | `request` | `INFO` | `method`, `target`, `id`, `principal`, `outcome`, `milliseconds` |
/// | `a request is slow` | `WARN` | `method`, `target`, `id`, `principal`, `limit` |
///
/// The outcome is `ok`, `input_required`, `task`, `tool_error`, `cancelled`, `failed`, or the code of a JSON-RPC error. Arguments and
/// results are not logged. `task` is the outcome of a call that has become a task, whose own outcome no layer sees.
///
/// ```
/// use std::time::Duration;
///
/// use treenail::Server;
/// use treenail::layer::LogLayer;
///
/// let log = LogLayer::new().slow(Duration::from_secs(5));
/// let server = Server::builder("demo", "1.0.0").layer(log).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
#[cfg(feature = "tower")]
#[derive(Clone, Debug, Default)]
#[must_use = "a layer has no effect until it is added to a server"]
pub struct LogLayer {
    slow: Option<Duration>,
}

impl LogLayer {
    /// Makes a layer that logs each request when it ends.
    pub fn new() -> Self {
        Self::default()
    }

    /// Also warns of each request that runs longer than `limit`, once. The tokio runtime needs time enabled.
    pub fn slow(mut self, limit: Duration) -> Self {
        self.slow = Some(limit);
        self
    }
}

impl Layer<RequestService> for LogLayer {
    type Service = LogService;

    fn layer(&self, inner: RequestService) -> LogService {
        LogService {
            slow: self.slow,
            inner,
        }
    }
}

/// Service of a [`LogLayer`].
#[cfg(feature = "tower")]
#[derive(Clone, Debug)]
pub struct LogService {
    slow: Option<Duration>,
    inner: RequestService,
}

impl Service<Request> for LogService {
    type Response = Response;
    type Error = BoxError;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request) -> ResponseFuture {
        let mut entry = Entry {
            method: request.method(),
            target: shortened(request.target()),
            context: request.context().clone(),
            started: Instant::now(),
            outcome: Outcome::Cancelled,
        };
        let mut response = self.inner.call(request);
        let slow = self.slow;
        Box::pin(async move {
            let mut timer = slow.map(|limit| (limit, Box::pin(sleep(limit))));
            let response = poll_fn(|cx| {
                let polled = response.as_mut().poll(cx);
                let is_pending = polled.is_pending();
                let is_late = |(_, timer): &mut (Duration, Pin<Box<Sleep>>)| {
                    is_pending && poll_timer(timer.as_mut(), cx).is_ready()
                };
                if let Some((limit, _)) = timer.take_if(is_late) {
                    entry.warn(limit);
                }
                polled
            });
            let response = response.await;
            entry.end(&response);
            response
        })
    }
}

/// Entry of the log, written when it is dropped.
struct Entry {
    method: Method,
    target: String,
    context: CallContext,
    started: Instant,
    outcome: Outcome,
}

enum Outcome {
    Ok,
    InputRequired,
    Task,
    ToolError,
    Code(i64),
    Failed,
    Cancelled,
}

impl Outcome {
    fn of(response: &Result<Response, BoxError>) -> Self {
        match response {
            Ok(response) if response.is_task() => Self::Task,
            Ok(response) if !response.is_complete() => Self::InputRequired,
            Ok(response) if response.is_error() => Self::ToolError,
            Ok(_) => Self::Ok,
            Err(error) => match carried_ref(&**error).downcast_ref::<RpcError>() {
                Some(error) => Self::Code(error.code),
                None => Self::Failed,
            },
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Ok => "ok".to_owned(),
            Self::InputRequired => "input_required".to_owned(),
            Self::Task => "task".to_owned(),
            Self::ToolError => "tool_error".to_owned(),
            Self::Code(code) => code.to_string(),
            Self::Failed => "failed".to_owned(),
            Self::Cancelled => "cancelled".to_owned(),
        }
    }
}

impl Entry {
    fn end(&mut self, response: &Result<Response, BoxError>) {
        self.outcome = Outcome::of(response);
    }

    fn warn(&self, limit: Duration) {
        tracing::warn!(
            method = self.method.as_str(),
            target = self.target,
            id = ?self.context.request_id(),
            principal = self.context.principal().map(tracing::field::display),
            ?limit,
            "a request is slow"
        );
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if thread::panicking() && matches!(self.outcome, Outcome::Cancelled) {
            self.outcome = Outcome::Failed;
        }
        let milliseconds = self.started.elapsed().as_millis();
        tracing::info!(
            method = self.method.as_str(),
            target = self.target,
            id = ?self.context.request_id(),
            principal = self.context.principal().map(tracing::field::display),
            outcome = self.outcome.text(),
            milliseconds = u64::try_from(milliseconds).unwrap_or(u64::MAX),
            "request"
        );
    }
}

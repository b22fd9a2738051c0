//! One call of a tool that streams, item by item.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use serde_json::Value;
use treenail_schema::{CallToolRequest, CallToolResult, LoggingLevel};

use crate::client::typed::live::Live;
use crate::client::typed::read::unfit;
use crate::client::typed::rest::Seen;
use crate::client::{ClientError, ClientRequest, McpClient};
use crate::stream::WANTS_ITEMS;
use crate::typed_contract::{Arguments, ItemReader};

/// A call of a tool that streams: a stream of its items, which is sent when it is first polled.
///
/// It is what the methods of a trait's client return for tools that stream. It borrows nothing, and it can be given
/// options before it is polled.
///
/// **The items come while the tool runs** if the server is one of Treenail's. What has not come by the end, because the
/// server tells of no items or because they came faster than they were taken, comes with the result of the call: each item
/// once, in order. Where the result has less than the items (`fold = "concat"` and `"last"`), what is missing comes as
/// what the result has of it: the rest of a text as one item, or the last item alone.
///
/// The stream ends after an error. It is [`ClientError::Tool`] if the tool failed, and comes after the items that there
/// were before; of content blocks, the last one of such a result is taken for the reason.
///
/// What waits to be taken is bounded by
/// [`ClientLimits::queued_notifications`](crate::client::ClientLimits::queued_notifications) and `queued_notification_bytes`.
///
/// # Cancellation
///
/// Dropping the stream cancels the call.
#[must_use = "a stream is sent when it is polled"]
pub struct TypedStream<T> {
    name: String,
    state: State,
    read: fn(Value) -> serde_json::Result<T>,
}

type Answer = Pin<Box<dyn Future<Output = Result<CallToolResult, ClientError>> + Send>>;

enum State {
    /// Not sent yet.
    New(Box<New>),
    Running(Arc<Live>, Answer),
    /// What is left of the result, and what comes after it.
    Rest(VecDeque<Value>, Option<ClientError>),
}

struct New {
    client: McpClient,
    request: ClientRequest<CallToolRequest>,
    seen: Seen,
}

impl<T> TypedStream<T> {
    pub(super) fn new(
        client: &McpClient,
        name: String,
        arguments: &Arguments,
        reader: ItemReader<T>,
    ) -> Self {
        let ItemReader { form, fold, read } = reader;
        let request = client.session().tools_call(&name, arguments);
        let state = State::New(Box::new(New {
            client: client.clone(),
            request: request.meta(WANTS_ITEMS, true),
            seen: Seen::new(form, fold),
        }));
        Self { name, state, read }
    }

    /// The name of the tool.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How long all of it may take, questions of the server included; then it is cancelled and fails with
    /// [`ClientError::Timeout`]. Default: [`ClientLimits::request_timeout`](crate::client::ClientLimits::request_timeout).
    pub fn timeout(self, limit: Duration) -> Self {
        self.with(|request| request.timeout(limit))
    }

    /// Begins the time anew with each item and each progress that the server tells, until it has taken `at_most` in all.
    pub fn reset_timeout_on_progress(self, at_most: Duration) -> Self {
        self.with(|request| request.reset_timeout_on_progress(at_most))
    }

    /// Adds a member to the `_meta` of the request, for extensions and tracing.
    pub fn meta(self, key: &str, value: impl Into<Value>) -> Self {
        self.with(|request| request.meta(key, value))
    }

    /// Asks for the log messages of this call, of this level and above (modern era; servers of the legacy era are told
    /// with `logging/setLevel`).
    pub fn log_level(self, level: LoggingLevel) -> Self {
        self.with(|request| request.log_level(level))
    }

    /// Options count until the call is sent.
    fn with(
        mut self,
        option: impl FnOnce(ClientRequest<CallToolRequest>) -> ClientRequest<CallToolRequest>,
    ) -> Self {
        self.state = match self.state {
            State::New(new) => State::New(Box::new(New {
                request: option(new.request),
                ..*new
            })),
            sent => sent,
        };
        self
    }

    fn poll_json(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Value, ClientError>>> {
        loop {
            match &mut self.state {
                State::New(_) => self.send(),
                State::Running(live, answer) => {
                    live.wait(context);
                    if let Some(item) = live.take() {
                        return Poll::Ready(Some(Ok(item)));
                    }
                    let Poll::Ready(answer) = answer.as_mut().poll(context) else {
                        return Poll::Pending;
                    };
                    self.state = rest(live, answer);
                }
                State::Rest(items, error) => {
                    let next = items.pop_front().map(Ok);
                    return Poll::Ready(next.or_else(|| error.take().map(Err)));
                }
            }
        }
    }

    fn send(&mut self) {
        let done = State::Rest(VecDeque::new(), None);
        let State::New(new) = std::mem::replace(&mut self.state, done) else {
            return;
        };
        let New {
            client,
            request,
            seen,
        } = *new;
        let live = Live::new(client.session().limits(), seen);
        let hearing = Arc::clone(&live);
        let request = request.on_progress(move |progress| hearing.hear(progress));
        let name = self.name.clone();
        let answer = Box::pin(async move {
            let mut result = client.send_call(&name, request).await?;
            client.mark_wrapped(&name, &mut result);
            Ok(result)
        });
        self.state = State::Running(live, answer);
    }
}

/// What there is after the answer: what waits still, what the result has beyond it, and an error.
fn rest(live: &Live, answer: Result<CallToolResult, ClientError>) -> State {
    let mut items: VecDeque<Value> = std::iter::from_fn(|| live.take()).collect();
    let error = match answer {
        Err(error) => Some(error),
        Ok(result) => {
            let rest = live.take_seen().rest(&result);
            let failed = result.is_error == Some(true);
            // Why a tool has failed says more than what is missing then.
            let failure = failed.then(|| ClientError::Tool(Box::new(result)));
            match rest {
                Err(error) => failure.or_else(|| {
                    let wrong = format!("the result of the stream cannot be used: {error}");
                    Some(ClientError::protocol(wrong))
                }),
                Ok(rest) => {
                    items.extend(rest);
                    failure
                }
            }
        }
    };
    State::Rest(items, error)
}

impl<T> Stream for TypedStream<T> {
    type Item = Result<T, ClientError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let next = this.poll_json(context);
        let next = next.map_ok(this.read);
        match next {
            Poll::Ready(Some(Ok(Err(error)))) => {
                this.state = State::Rest(VecDeque::new(), None);
                Poll::Ready(Some(Err(unfit::<T>(&error))))
            }
            other => other.map(|next| {
                next.map(|item| item.and_then(|item| item.map_err(|error| unfit::<T>(&error))))
            }),
        }
    }
}

impl<T> fmt::Debug for TypedStream<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("TypedStream")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

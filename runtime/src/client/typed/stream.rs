//! Typed call of a streaming tool.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use serde_json::Value;
use treenail_schema::{CallToolRequest, CallToolResult};

use crate::client::cooperative::poll_within_budget;
use crate::client::typed::decode::output_error;
use crate::client::typed::options::options;
use crate::client::typed::progress_items::ProgressItems;
use crate::client::typed::remainder::ReceivedItems;
use crate::client::typed::result_reader::ResultReader;
use crate::client::{ClientError, ClientRequest, McpClient, TypedCallFuture};
use crate::stream::WANTS_ITEMS;
use crate::typed_contract::{Arguments, ItemReader};

/// Call of a streaming tool: a stream of its items. The call is sent when the stream is first polled.
///
/// The methods of a trait's client return it for streaming tools. It borrows nothing, and options can be set before it
/// is polled.
///
/// **Items arrive while the tool runs** if the server is built with Treenail. All others arrive with the result of the
/// call: those of a server without item notifications, and those that arrived faster than they were taken. Each item is
/// delivered once, in order. With `fold = "concat"` or `"last"`, the result contains less than the items. Missing items
/// are then delivered as far as the result contains them: the rest of a text as one item, or the last item alone.
///
/// The stream ends after an error. If the tool failed, the error is [`ClientError::Tool`], after the items that
/// preceded it. If the items are content blocks, the last block of such a result is taken as the reason.
///
/// The buffer is bounded by [`ClientLimits::queued_notifications`](crate::client::ClientLimits::queued_notifications)
/// and `queued_notification_bytes`.
///
/// # Cancellation
///
/// Dropping the stream cancels the call.
#[must_use = "a stream is sent when it is polled"]
pub struct TypedStream<T> {
    name: String,
    state: State,
    decode: fn(Value) -> serde_json::Result<T>,
}

enum State {
    /// The call has not been sent yet.
    Unsent(Box<Unsent>),
    Running(Arc<ProgressItems>, TypedCallFuture<CallToolResult>),
    /// The remaining items of the result, and the error after them.
    Finishing(VecDeque<Value>, Option<ClientError>),
}

struct Unsent {
    client: McpClient,
    request: ClientRequest<CallToolRequest>,
    received: ReceivedItems,
}

options!(TypedStream);

impl<T> TypedStream<T> {
    pub(super) fn new(
        client: &McpClient,
        name: String,
        arguments: &Arguments,
        reader: ItemReader<T>,
    ) -> Self {
        let ItemReader {
            form,
            fold,
            read: decode,
        } = reader;
        let request = client.session().tools_call(&name, arguments);
        let state = State::Unsent(Box::new(Unsent {
            client: client.clone(),
            request: request.meta(WANTS_ITEMS, true),
            received: ReceivedItems::new(form, fold),
        }));
        Self {
            name,
            state,
            decode,
        }
    }

    /// Returns the name of the tool.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Changes the request; has no effect once the call is sent.
    fn map_request(
        mut self,
        option: impl FnOnce(ClientRequest<CallToolRequest>) -> ClientRequest<CallToolRequest>,
    ) -> Self {
        self.state = match self.state {
            State::Unsent(unsent) => State::Unsent(Box::new(Unsent {
                request: option(unsent.request),
                ..*unsent
            })),
            sent => sent,
        };
        self
    }

    fn poll_json(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Value, ClientError>>> {
        loop {
            match &mut self.state {
                State::Unsent(_) => self.send(),
                State::Running(items, result) => {
                    items.register_waker(context);
                    if let Some(item) = items.pop() {
                        return Poll::Ready(Some(Ok(item)));
                    }
                    let Poll::Ready(result) = result.as_mut().poll(context) else {
                        return Poll::Pending;
                    };
                    self.state = finish(items, result);
                }
                State::Finishing(items, error) => {
                    let next = items.pop_front().map(Ok);
                    return Poll::Ready(next.or_else(|| error.take().map(Err)));
                }
            }
        }
    }

    fn send(&mut self) {
        let done = State::Finishing(VecDeque::new(), None);
        let State::Unsent(unsent) = std::mem::replace(&mut self.state, done) else {
            return;
        };
        let Unsent {
            client,
            request,
            received,
        } = *unsent;
        let items = ProgressItems::new(client.session().limits(), received);
        let sink = Arc::clone(&items);
        let request = request.on_progress(move |progress| sink.handle_progress(progress));
        let reader = ResultReader::new(&client, self.name.clone().into(), Box::new(Ok));
        self.state = State::Running(items, reader.call(request));
    }
}

/// Returns the state after the result: the buffered items, the remaining items of the result, and an error.
fn finish(buffer: &ProgressItems, result: Result<CallToolResult, ClientError>) -> State {
    let mut items: VecDeque<Value> = std::iter::from_fn(|| buffer.pop()).collect();
    let error = match result {
        Err(error) => Some(error),
        Ok(mut result) => {
            let received = buffer.take_received();
            let item_blocks = received.item_blocks(&result);
            let mut has_items = received.items > 0;
            let remainder = received.remainder(&result);
            has_items |= remainder.as_ref().is_ok_and(|items| !items.is_empty());
            let failed = result.is_error == Some(true);
            // The failure of a tool is more helpful than an error about its items.
            let failure = failed.then(|| {
                if has_items {
                    // Only the reason remains: the items have been yielded.
                    result.content.drain(..item_blocks);
                }
                ClientError::Tool(Box::new(result))
            });
            match remainder {
                Err(error) => failure.or_else(|| {
                    let reason = format!("the result of the stream cannot be used: {error}");
                    Some(ClientError::protocol(reason))
                }),
                Ok(remaining) => {
                    items.extend(remaining);
                    failure
                }
            }
        }
    };
    State::Finishing(items, error)
}

impl<T> TypedStream<T> {
    /// Waits for the next item. Returns `None` at the end of the stream. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Result<T, ClientError>> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }
}

impl<T> Stream for TypedStream<T> {
    type Item = Result<T, ClientError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let next = poll_within_budget(context, |context| this.poll_json(context));
        let next = next.map_ok(this.decode);
        match next {
            Poll::Ready(Some(Ok(Err(error)))) => {
                this.state = State::Finishing(VecDeque::new(), None);
                Poll::Ready(Some(Err(output_error::<T>(&error))))
            }
            other => other.map(|next| {
                next.map(|item| {
                    item.and_then(|item| item.map_err(|error| output_error::<T>(&error)))
                })
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

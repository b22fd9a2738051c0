//! One request and its output: the messages of its call, and its response.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Response, StatusCode};
use tokio::time::{Instant, Sleep, sleep_until, timeout};
use treenail_runtime::internal::deadline;
use treenail_runtime::internal::{error_code, keep_one_line};
use treenail_runtime::{Connection, PendingResponse};

use crate::http_status;
use crate::keep_alive::{self, KeepAlive};
use crate::response::{HttpBody, Reply, exchange_stream, json_response};
use crate::stream_permits::StreamPermit;

/// Connection that has received one request, until its response has been sent. Dropping it cancels the call.
pub(super) struct Exchange {
    connection: Connection,
    call: Option<PendingResponse>,
    /// Final response, held until the messages before it have been sent.
    response: Option<Vec<u8>>,
    /// First message of the stream, which has been taken from the connection already.
    first: Option<Vec<u8>>,
    finished: bool,
    keep_alive: KeepAlive,
    permit: Option<StreamPermit>,
    expiry: Option<Expiry>,
}

/// End of a listening stream whose caller is no longer authorized.
struct Expiry {
    sleep: Pin<Box<Sleep>>,
    /// The id of the request that started the subscription.
    id: Box<str>,
}

/// Output of an exchange.
enum Output {
    Message(Vec<u8>),
    /// The final response.
    Response(Vec<u8>),
}

impl fmt::Debug for Exchange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Exchange")
            .field("finished", &self.finished)
            .finish_non_exhaustive()
    }
}

impl Exchange {
    /// Creates an exchange for a received request: its response is complete or pending, or it has opened a subscription.
    pub(super) fn new(
        mut connection: Connection,
        call: Option<PendingResponse>,
        response: Option<Vec<u8>>,
    ) -> Self {
        // A call may take long, and a subscription longer.
        drop(connection.release());
        let keep_alive = keep_alive::interval(&connection.server().limits().http);
        Self {
            connection,
            call,
            response,
            first: None,
            finished: false,
            keep_alive: KeepAlive::new(keep_alive),
            permit: None,
            expiry: None,
        }
    }

    /// Holds the permit of the listening stream of the request `id` for the lifetime of the exchange, and ends the stream when its
    /// caller `expires`.
    pub(super) fn with_stream_permit(
        mut self,
        permit: Option<StreamPermit>,
        expires: Option<Instant>,
        id: &str,
    ) -> Self {
        let expires = expires.filter(|_| permit.is_some());
        self.expiry = expires.map(|expires| Expiry {
            sleep: Box::pin(sleep_until(expires)),
            id: id.into(),
        });
        self.permit = permit;
        self
    }

    /// Waits for the first output. If it is the final response, the HTTP response is JSON with the `status` of that response,
    /// otherwise an event stream. Without any output for the interval of keep-alive comments, it is an event stream too.
    ///
    /// An event stream has the status 200. A response with another status drops the messages before it, unless they have been sent.
    pub(super) fn respond(
        mut self,
        status: impl FnOnce(&[u8]) -> StatusCode + Send + 'static,
    ) -> Reply {
        Reply::pending(async move {
            let quiet = self.keep_alive.interval();
            let first = poll_fn(|context| self.poll_output(context));
            Ok(match timeout(quiet, first).await {
                Ok(Some(Output::Response(response))) => json_response(status(&response), response),
                Ok(Some(Output::Message(message))) => {
                    let status = self.response.as_deref().map_or(StatusCode::OK, status);
                    match self.response.take_if(|_| status != StatusCode::OK) {
                        Some(response) => json_response(status, response),
                        None => self.stream(message),
                    }
                }
                Ok(None) => json_response(StatusCode::ACCEPTED, Bytes::new()),
                Err(_) => exchange_stream(self),
            })
        })
    }

    /// Returns an event stream with `first` before all other messages.
    pub(super) fn stream(mut self, first: Vec<u8>) -> Response<HttpBody> {
        self.first = Some(first);
        exchange_stream(self)
    }

    /// Returns true if nothing is left to send. The first message may be the last one.
    pub(super) fn is_finished(&self) -> bool {
        self.finished && self.first.is_none()
    }

    /// Returns all events that are ready, or `None` at the end of the stream.
    pub(super) fn poll_events(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut events = Vec::new();
        if let Some(message) = self.first.take() {
            write_event(&mut events, &message);
        }
        while events.len() < WRITE_CHUNK_BYTES {
            match self.poll_output(context) {
                Poll::Ready(Some(Output::Message(message) | Output::Response(message))) => {
                    write_event(&mut events, &message);
                }
                Poll::Pending if events.is_empty() => return self.keep_alive.poll(context),
                Poll::Ready(None) | Poll::Pending => break,
            }
        }
        self.keep_alive.reset();
        Poll::Ready((!events.is_empty()).then(|| events.into()))
    }

    /// Returns the next message, and true if it is the final response. `None` at the end.
    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<(Vec<u8>, bool)>> {
        self.poll_output(context).map(|output| match output? {
            Output::Message(message) => Some((message, false)),
            Output::Response(response) => Some((response, true)),
        })
    }

    fn poll_output(&mut self, context: &mut Context<'_>) -> Poll<Option<Output>> {
        if self.finished {
            return Poll::Ready(None);
        }
        if let Some(call) = &mut self.call {
            if let Poll::Ready(message) = self.connection.poll_outgoing(context) {
                return Poll::Ready(Some(Output::Message(message)));
            }
            let Poll::Ready(response) = Pin::new(call).poll(context) else {
                return Poll::Pending;
            };
            self.call = None;
            self.response = Some(response);
        }
        // Messages that the call sent before it finished precede its response.
        if let Some(message) = self.connection.next_outgoing() {
            return Poll::Ready(Some(Output::Message(message)));
        }
        if let Some(response) = self.response.take() {
            self.finished = true;
            return Poll::Ready(Some(Output::Response(response)));
        }
        self.poll_subscription(context)
    }

    fn poll_subscription(&mut self, context: &mut Context<'_>) -> Poll<Option<Output>> {
        if !self.connection.is_listening() {
            self.finished = true;
            return Poll::Ready(None);
        }
        if let Some(expiry) = &mut self.expiry {
            if deadline::poll_timer(expiry.sleep.as_mut(), context).is_ready() {
                self.finished = true;
                let result = self.connection.end_subscription(&expiry.id);
                return Poll::Ready(result.map(Output::Message));
            }
        }
        let message = self.connection.poll_outgoing(context);
        // The result of a subscription is the last message of its stream.
        self.finished = message.is_ready() && !self.connection.is_listening();
        message.map(|message| Some(Output::Message(message)))
    }
}

/// Returns the HTTP status of the response to the modern request `id`.
pub(super) fn modern_status(response: &[u8], id: &str) -> StatusCode {
    http_status(error_code(response, id))
}

/// Number of buffered bytes from which events are written without waiting for more.
pub(super) const WRITE_CHUNK_BYTES: usize = 16 * 1024;

fn write_event(out: &mut Vec<u8>, message: &[u8]) {
    out.reserve(message.len() + 8);
    out.extend_from_slice(b"data: ");
    let start = out.len();
    out.extend_from_slice(message);
    keep_one_line(&mut out[start..]);
    out.extend_from_slice(b"\n\n");
}

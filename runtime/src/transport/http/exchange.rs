//! One message and all that comes of it: the messages of its call, and its answer.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Response, StatusCode};

use crate::server::{Connection, PendingResponse};
use crate::transport::http::quiet::Quiet;
use crate::transport::http::reply::{HttpBody, json, stream};
use crate::transport::http::slots::StreamSlot;
use crate::wire::keep_one_line;

/// A connection that has received one message, until that is answered. Dropping it cancels the call.
pub(super) struct Exchange {
    connection: Connection,
    call: Option<PendingResponse>,
    /// The answer, while messages that belong before it are sent.
    answer: Option<Vec<u8>>,
    /// A message that has been taken over already.
    first: Option<Vec<u8>>,
    over: bool,
    quiet: Quiet,
    /// Its place among the streams that listen.
    slot: Option<StreamSlot>,
}

/// What an exchange sends.
enum Sent {
    Message(Vec<u8>),
    /// The last one.
    Answer(Vec<u8>),
}

impl fmt::Debug for Exchange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Exchange")
            .field("over", &self.over)
            .finish_non_exhaustive()
    }
}

impl Exchange {
    /// Begins with a request that has been received: its answer is there, or under way, or it has begun a subscription.
    pub(super) fn new(
        connection: Connection,
        call: Option<PendingResponse>,
        answer: Option<Vec<u8>>,
    ) -> Self {
        Self {
            connection,
            call,
            answer,
            first: None,
            over: false,
            quiet: Quiet::default(),
            slot: None,
        }
    }

    /// The same with a place among the streams that listen.
    pub(super) fn with_slot(mut self, slot: Option<StreamSlot>) -> Self {
        self.slot = slot;
        self
    }

    /// Waits for what comes first, which decides what the response is: the answer makes it JSON with the status that
    /// `status` says, any other message a stream.
    pub(super) async fn respond(
        mut self,
        status: impl FnOnce(&[u8]) -> StatusCode,
    ) -> Response<HttpBody> {
        match poll_fn(|context| self.poll_sent(context)).await {
            Some(Sent::Answer(answer)) => json(status(&answer), answer),
            Some(Sent::Message(message)) => {
                self.first = Some(message);
                stream(self)
            }
            None => json(StatusCode::ACCEPTED, Vec::new()),
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// The next events of the stream, as many as there are now, or `None` at its end.
    pub(super) fn poll_events(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut events = Vec::new();
        if let Some(message) = self.first.take() {
            write_event(&mut events, &message);
        }
        while events.len() < ENOUGH {
            match self.poll_sent(context) {
                Poll::Ready(Some(Sent::Message(message) | Sent::Answer(message))) => {
                    write_event(&mut events, &message);
                }
                Poll::Pending if events.is_empty() => return self.quiet.poll(context),
                Poll::Ready(None) | Poll::Pending => break,
            }
        }
        self.quiet.reset();
        Poll::Ready((!events.is_empty()).then(|| events.into()))
    }

    /// The next message, and whether it is the last one; `None` if there is no further one.
    pub(super) async fn next(&mut self) -> Option<(Vec<u8>, bool)> {
        match poll_fn(|context| self.poll_sent(context)).await? {
            Sent::Message(message) => Some((message, false)),
            Sent::Answer(answer) => Some((answer, true)),
        }
    }

    /// The next message, or `None` after the last one.
    fn poll_sent(&mut self, context: &mut Context<'_>) -> Poll<Option<Sent>> {
        if self.over {
            return Poll::Ready(None);
        }
        if let Some(call) = &mut self.call {
            if let Poll::Ready(message) = self.connection.poll_outgoing(context) {
                return Poll::Ready(Some(Sent::Message(message)));
            }
            let Poll::Ready(answer) = Pin::new(call).poll(context) else {
                return Poll::Pending;
            };
            self.call = None;
            self.answer = Some(answer);
        }
        // What the call sent before it was finished comes before its answer.
        if let Some(message) = self.connection.next_outgoing() {
            return Poll::Ready(Some(Sent::Message(message)));
        }
        if let Some(answer) = self.answer.take() {
            self.over = true;
            return Poll::Ready(Some(Sent::Answer(answer)));
        }
        self.poll_subscription(context)
    }

    fn poll_subscription(&mut self, context: &mut Context<'_>) -> Poll<Option<Sent>> {
        if !self.connection.is_listening() {
            self.over = true;
            return Poll::Ready(None);
        }
        let message = self.connection.poll_outgoing(context);
        // The result of a subscription is the last message of its stream.
        self.over = message.is_ready() && !self.connection.is_listening();
        message.map(|message| Some(Sent::Message(message)))
    }
}

/// Bytes that are worth a write of their own.
pub(super) const ENOUGH: usize = 16 * 1024;

fn write_event(out: &mut Vec<u8>, message: &[u8]) {
    out.reserve(message.len() + 8);
    out.extend_from_slice(b"data: ");
    let start = out.len();
    out.extend_from_slice(message);
    keep_one_line(&mut out[start..]);
    out.extend_from_slice(b"\n\n");
}

//! Filter between a peer and `jsoncall`.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ::jsoncall::{Handler, Session, SessionOptions};
use tokio::io::{
    AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream, split,
};
use tokio::sync::Notify;
use treenail_runtime::Limits;
use treenail_runtime::RpcError;
use treenail_runtime::internal::{
    Body, DEEPEST, Frame, Invalid, LineBuffer, Message, parse, parse_element,
};

use crate::backlog::Backlog;
use crate::convert::{push_notification, push_request, push_response, read_error};
use crate::handler::END_OF_INPUT;
use crate::ids::RequestIds;

/// Buffer size between the guard and `jsoncall` in each direction, in bytes.
pub(super) const PIPE: usize = 64 * 1024;

/// Behaviour that differs between clients and servers.
pub(super) trait Side: Send + Sync + 'static {
    /// Handles a response of the peer; messages for `jsoncall` are appended to `inward`.
    fn on_response(&self, id: &str, response: Result<&str, &str>, inward: &mut Vec<u8>);

    /// Handles an invalid message; messages for the peer are appended to `outward`.
    fn on_rejected(&self, rejected: Rejected<'_>, inward: &mut Vec<u8>, outward: &mut Vec<u8>);

    /// Returns whether a last line without a line end is dropped.
    fn drops_last(&self, _line: &[u8]) -> bool {
        false
    }

    /// Writes a request of `jsoncall` for the peer.
    fn write_request(&self, id: &str, method: &str, params: &str, outward: &mut Vec<u8>);

    /// Handles the end of the peer's output; messages for the handler are appended to `inward`.
    fn on_end(&self, _inward: &mut Vec<u8>) {}
}

/// Rejected input.
pub(super) enum Rejected<'a> {
    /// An invalid message, with its text.
    Invalid(&'a Invalid<'a>, &'a [u8]),
    TooLong {
        head: &'a [u8],
        tail: &'a [u8],
    },
}

#[derive(Debug)]
pub(super) struct Guard<S> {
    pub(super) side: S,
    pub(super) ids: Arc<RequestIds>,
    pub(super) backlog: Arc<Backlog>,
    /// Input that the handler has not processed yet, if it is counted.
    pub(super) unread_input: Option<Arc<Backlog>>,
    limits: Limits,
    /// Limits for messages of `jsoncall`, whose size is bounded at their origin.
    internal_limits: Limits,
    /// Responses that the guard itself creates.
    replies: Mutex<Replies>,
    /// Notified of replies and of the end.
    wake: Notify,
    closing: AtomicBool,
}

/// Starts a session of `jsoncall` over a stream, whose other end a guard reads and writes.
pub(super) fn start_session(
    handler: impl Handler + Send + Sync + 'static,
    stream: DuplexStream,
) -> Session {
    let (reader, writer) = split(stream);
    let options = SessionOptions {
        expose_internals: Some(false),
    };
    Session::new(handler, BufReader::new(reader), writer, &options)
}

/// Limits for messages from this process.
pub(super) fn internal_limits() -> Limits {
    Limits::default()
        .message_depth(DEEPEST)
        .request_id_bytes(usize::MAX)
}

#[derive(Debug, Default)]
struct Replies {
    bytes: Vec<u8>,
    messages: usize,
}

impl<S: Side> Guard<S> {
    pub(super) fn new(side: S, backlog: Arc<Backlog>, limits: Limits) -> Self {
        Self {
            side,
            ids: Arc::default(),
            backlog,
            unread_input: None,
            limits,
            internal_limits: internal_limits(),
            replies: Mutex::default(),
            wake: Notify::new(),
            closing: AtomicBool::new(false),
        }
    }

    /// Ends writing after all messages have been written.
    pub(super) fn close(&self) {
        self.closing.store(true, Ordering::Release);
        self.wake.notify_one();
    }

    /// Forwards messages of the peer until its output ends.
    pub(super) async fn inward(
        &self,
        mut peer: impl AsyncRead + Unpin,
        jsoncall: &mut (impl AsyncWrite + Unpin),
    ) -> io::Result<()> {
        let mut lines = LineBuffer::new(self.limits.message_bytes);
        let mut inward = Vec::new();
        loop {
            // Back-pressure: a peer that does not read cannot add work.
            self.backlog.wait_until_readable().await;
            if let Some(unread_input) = &self.unread_input {
                unread_input.wait_for_room().await;
            }
            let count = peer.read(lines.room()).await?;
            lines.advance(count);
            while let Some(frame) = lines.next_frame() {
                self.receive(&frame, &mut inward);
            }
            if count == 0 {
                match lines.last() {
                    Some(Frame::Line(line)) if self.side.drops_last(line) => {}
                    Some(frame) => self.receive(&frame, &mut inward),
                    None => {}
                }
                self.side.on_end(&mut inward);
            }
            if jsoncall.write_all(&inward).await.is_err() || count == 0 {
                return Ok(());
            }
            inward.clear();
            inward.shrink_to(PIPE);
        }
    }

    /// Forwards messages of `jsoncall` in batches until the guard is closed.
    pub(super) async fn outward(
        &self,
        mut jsoncall: impl AsyncRead + Unpin,
        mut peer: impl AsyncWrite + Unpin,
    ) -> io::Result<()> {
        // The size of `jsoncall`'s messages is bounded at their origin.
        let mut lines = LineBuffer::new(usize::MAX);
        let mut outward = Vec::new();
        loop {
            let count = tokio::select! {
                count = jsoncall.read(lines.room()) => Some(count?),
                () = self.wake.notified() => None,
            };
            lines.advance(count.unwrap_or(0));
            let mut messages = 0;
            while let Some(frame) = lines.next_frame() {
                messages += 1;
                self.send(&frame, &mut outward);
            }
            messages += self.take_replies(&mut outward);
            if !outward.is_empty() {
                peer.write_all(&outward).await?;
                peer.flush().await?;
                outward.clear();
                outward.shrink_to(4 * PIPE);
            }
            self.backlog.written(messages);
            let is_closing = self.closing.load(Ordering::Acquire) && self.backlog.is_empty();
            if is_closing || count == Some(0) {
                return peer.shutdown().await;
            }
        }
    }

    fn receive(&self, frame: &Frame<'_>, inward: &mut Vec<u8>) {
        match frame {
            Frame::Line(line) => match parse(line, &self.limits) {
                Body::One(message) => self.receive_message(message, line, inward),
                Body::Batch(messages)
                    if messages.is_empty() || messages.len() > self.limits.batch_messages =>
                {
                    let max = self.limits.batch_messages;
                    let reason = format!("a batch must have between 1 and {max} messages");
                    let invalid = Invalid {
                        is_notification: false,
                        id: None,
                        answered: None,
                        is_unread: false,
                        error: Box::new(RpcError::invalid_request(reason)),
                    };
                    self.reject(Rejected::Invalid(&invalid, line), inward);
                }
                Body::Batch(messages) => {
                    for message in messages {
                        let text = message.as_bytes();
                        let message = parse_element(message, &self.limits);
                        self.receive_message(message, text, inward);
                    }
                }
            },
            Frame::TooLong { head, tail } => self.reject(Rejected::TooLong { head, tail }, inward),
        }
    }

    fn receive_message(
        &self,
        message: Result<Message<'_>, Invalid<'_>>,
        text: &[u8],
        inward: &mut Vec<u8>,
    ) {
        match message {
            Ok(Message::Request(id, envelope)) => {
                let number = self.ids.open(id);
                let params = envelope.params_text();
                push_request(inward, number, &envelope.method, params);
            }
            Ok(Message::Notification(envelope)) if envelope.method == END_OF_INPUT => {}
            Ok(Message::Notification(envelope)) => {
                let params = envelope.params_text();
                push_notification(inward, &envelope.method, params);
            }
            Ok(Message::Response(id, response)) => self.side.on_response(id, response, inward),
            Err(invalid) => self.reject(Rejected::Invalid(&invalid, text), inward),
        }
    }

    fn reject(&self, rejected: Rejected<'_>, inward: &mut Vec<u8>) {
        let mut replies = self.replies.lock().unwrap_or_else(PoisonError::into_inner);
        let before = replies.bytes.len();
        self.side.on_rejected(rejected, inward, &mut replies.bytes);
        let more = replies.bytes.len() - before;
        if more > 0 {
            replies.messages += 1;
            self.backlog.push(more);
            self.wake.notify_one();
        }
    }

    fn take_replies(&self, outward: &mut Vec<u8>) -> usize {
        let mut replies = self.replies.lock().unwrap_or_else(PoisonError::into_inner);
        outward.append(&mut replies.bytes);
        std::mem::take(&mut replies.messages)
    }

    /// Forwards one message of `jsoncall`.
    fn send(&self, frame: &Frame<'_>, outward: &mut Vec<u8>) {
        let Frame::Line(line) = frame else { return };
        let Body::One(message) = parse(line, &self.internal_limits) else {
            return;
        };
        match message {
            Ok(Message::Request(id, envelope)) => {
                let params = envelope.params_text();
                self.side
                    .write_request(id, &envelope.method, params, outward);
            }
            Ok(Message::Notification(envelope)) => {
                let params = envelope.params_text();
                push_notification(outward, &envelope.method, params);
            }
            Ok(Message::Response(number, response)) => {
                if let Some(id) = self.ids.close(number) {
                    let response = response.map_err(|error| {
                        let unreadable = || RpcError::internal("the error is not representable");
                        read_error(error).unwrap_or_else(unreadable)
                    });
                    push_response(outward, id, response.as_ref().copied());
                }
            }
            Err(invalid) => {
                tracing::debug!(error = %invalid.error, "jsoncall wrote an invalid message");
            }
        }
    }
}

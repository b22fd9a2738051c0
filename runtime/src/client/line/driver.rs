//! Driver task: writes the lines of a session and reads those of the server.

use std::future::Future;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep_until};

use crate::client::answers::{answered_request, is_cut_off, read_answer};
use crate::client::line::CloseReason;
use crate::client::line::inner::{Closing, Inner};
use crate::client::{ClientError, IncomingRequest};
use crate::deadline;
use crate::server::oversized;
use crate::wire::{
    Body, Frame, IdAtEnds, Invalid, LineBuffer, Message, RpcError, copied_id, id_at_ends, parse,
    parse_element,
};

pub(super) struct Driver<R, W> {
    inner: Arc<Inner>,
    reader: Pin<Box<R>>,
    /// `None` once the session is closing and all output has been written, or after an error.
    writer: Option<Pin<Box<W>>>,
    lines: LineBuffer,
    output: Vec<u8>,
    written: usize,
    flushed: bool,
    /// Deadline for the end of the streams, once the session is closing or the server has exited.
    deadline: Option<Pin<Box<Sleep>>>,
    /// The error that has ended writing.
    write_error: Option<io::Error>,
    phase: Phase,
    close_reason: CloseReason,
}

enum Phase {
    Running,
    /// The streams have ended, possibly with an error.
    Ended(Option<io::Error>),
}

impl<R: AsyncRead, W: AsyncWrite> Driver<R, W> {
    pub(super) fn new(
        inner: Arc<Inner>,
        reader: Pin<Box<R>>,
        writer: Pin<Box<W>>,
        close_reason: CloseReason,
    ) -> Self {
        let lines = LineBuffer::new(inner.limits.message_bytes);
        Self {
            inner,
            reader,
            writer: Some(writer),
            lines,
            output: Vec::new(),
            written: 0,
            flushed: true,
            deadline: None,
            write_error: None,
            phase: Phase::Running,
            close_reason,
        }
    }

    /// Writes and reads until the streams end.
    fn poll_streams(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let is_closing = self.inner.register_driver(context.waker()) == Closing(true);
        if self.deadline.is_none()
            && (is_closing || self.close_reason.exited.as_mut().poll(context).is_ready())
        {
            (self.close_reason.stop)();
            self.start_deadline();
        }
        loop {
            let mut progress = match self.poll_write(context) {
                Ok(progress) => progress,
                // The server may have sent answers before it closed its input, so its output is read to the end.
                Err(error) => {
                    self.writer = None;
                    self.write_error = Some(error);
                    self.start_deadline();
                    true
                }
            };
            // Otherwise the server could cause more output. It may read nothing until its own answers are read, so the
            // client's requests must not stop reading.
            if self.writer.is_none() || !self.inner.has_too_many_answers() {
                match self.poll_read(context)? {
                    Some(more) => progress |= more,
                    None => break,
                }
            }
            if let Some(deadline) = &mut self.deadline {
                if deadline::poll_timer(deadline.as_mut(), context).is_ready() {
                    break;
                }
            }
            if !progress {
                return Poll::Pending;
            }
        }
        Poll::Ready(self.write_error.take().map_or(Ok(()), Err))
    }

    /// Ends the session after the shutdown timeout, unless that has started before.
    fn start_deadline(&mut self) {
        let timeout = self.inner.limits.shutdown_timeout;
        self.deadline
            .get_or_insert_with(|| Box::pin(sleep_until(deadline::after(timeout))));
    }

    /// Writes as much as possible. Returns true on progress. Closes the input of the server after the last output.
    fn poll_write(&mut self, context: &mut Context<'_>) -> io::Result<bool> {
        let mut progress = false;
        let Some(writer) = &mut self.writer else {
            // It cannot be written any more.
            self.inner.take_output(&mut self.output);
            self.output.clear();
            return Ok(false);
        };
        let closing = loop {
            if self.written == self.output.len() {
                self.written = 0;
                let closing = self.inner.take_output(&mut self.output);
                if self.output.is_empty() {
                    break closing;
                }
            }
            match writer
                .as_mut()
                .poll_write(context, &self.output[self.written..])?
            {
                Poll::Ready(0) => return Err(ErrorKind::WriteZero.into()),
                Poll::Ready(count) => self.written += count,
                Poll::Pending => return Ok(progress),
            }
            (progress, self.flushed) = (true, false);
        };
        if !self.flushed {
            if writer.as_mut().poll_flush(context)?.is_pending() {
                return Ok(progress);
            }
            (progress, self.flushed) = (true, true);
        }
        if closing == Closing(true) && writer.as_mut().poll_shutdown(context)?.is_ready() {
            // Dropping a pipe closes it.
            self.writer = None;
            progress = true;
        }
        Ok(progress)
    }

    /// Reads available input. Returns true if there was any, and `None` at the end of the stream.
    fn poll_read(&mut self, context: &mut Context<'_>) -> io::Result<Option<bool>> {
        let mut buffer = ReadBuf::new(self.lines.room());
        match self.reader.as_mut().poll_read(context, &mut buffer)? {
            Poll::Pending => return Ok(Some(false)),
            Poll::Ready(()) => {}
        }
        let count = buffer.filled().len();
        self.lines.advance(count);
        if count == 0 {
            match self.lines.last() {
                Some(Frame::Line(line)) if is_cut_off(line) => {
                    let error = RpcError::invalid_request("the line is incomplete");
                    self.inner.stray.record(line, &error);
                }
                Some(frame) => receive_line(&self.inner, frame),
                None => {}
            }
            return Ok(None);
        }
        while let Some(frame) = self.lines.next_frame() {
            receive_line(&self.inner, frame);
        }
        Ok(Some(true))
    }
}

impl<R: AsyncRead, W: AsyncWrite> Future for Driver<R, W> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        if matches!(this.phase, Phase::Running) {
            let ended = ready!(this.poll_streams(context));
            this.writer = None;
            this.phase = Phase::Ended(ended.err());
        }
        let mut reason = ready!(this.close_reason.reason.as_mut().poll(context));
        if let Phase::Ended(Some(error)) = &this.phase {
            reason = format!("{reason} ({error})");
        }
        this.inner.close(&ClientError::closed(reason));
        Poll::Ready(())
    }
}

impl<R, W> Drop for Driver<R, W> {
    fn drop(&mut self) {
        let reason = "its tokio runtime has stopped";
        self.inner.close(&ClientError::closed(reason));
    }
}

/// Handles one line of the server.
fn receive_line(inner: &Arc<Inner>, frame: Frame<'_>) {
    let limits = inner.limits.parsing();
    match frame {
        Frame::Line(line) => match parse(line, &limits) {
            Body::One(message) => receive_message(inner, message, line),
            // Only revision 2025-03-26 has batches, but accepting them in every revision is harmless.
            Body::Batch(messages) => {
                for message in messages {
                    let parsed = parse_element(message, &limits);
                    receive_message(inner, parsed, message.as_bytes());
                }
            }
        },
        Frame::TooLong { head, tail } => reject_oversized(inner, head, tail),
    }
}

fn receive_message(inner: &Arc<Inner>, message: Result<Message<'_>, Invalid<'_>>, text: &[u8]) {
    match message {
        Ok(Message::Response(id, answer)) => {
            if let Some(id) = copied_id(id) {
                inner.complete(id, read_answer(answer, &inner.limits));
            } else {
                tracing::debug!("dropped an answer whose id is not that of a request");
            }
        }
        Ok(Message::Notification(envelope)) => {
            if let Some(incoming) = inner.incoming() {
                let params = envelope.params.text.unwrap_or("{}");
                incoming.notification(&envelope.method, params);
            }
        }
        Ok(Message::Request(id, envelope)) => {
            let responder = inner.responder(id);
            if let Some(incoming) = inner.incoming() {
                let params = envelope.params.text.unwrap_or("{}");
                incoming.request(IncomingRequest::new(
                    id,
                    &envelope.method,
                    params,
                    responder,
                ));
            }
        }
        Err(invalid) => reject_malformed(inner, &invalid, text),
    }
}

/// Drops a malformed text. If it answers a request, that request fails. A request of the server is answered with the error.
fn reject_malformed(inner: &Arc<Inner>, invalid: &Invalid<'_>, text: &[u8]) {
    let error = &invalid.error;
    if let Some(id) = answered_request(invalid, text) {
        let reason = format!("its answer is malformed: {}", error.message);
        inner.complete(id, Err(ClientError::protocol(reason)));
    } else if let Some(id) = invalid.id.filter(|_| accepts_requests(inner)) {
        inner.responder(id).respond(Err(RpcError::clone(error)));
    } else {
        inner.stray.record(text, error);
    }
}

/// Drops an oversized message, of which only the first and last bytes are available. If it answers a request, that request fails. A
/// request of the server is answered with the error.
fn reject_oversized(inner: &Arc<Inner>, head: &[u8], tail: &[u8]) {
    let limit = inner.limits.message_bytes;
    let IdAtEnds { id, answered, .. } = id_at_ends(head, tail);
    if let Some(id) = answered.and_then(copied_id) {
        tracing::debug!(limit, id, "dropped an oversized answer");
        return inner.complete(id, Err(ClientError::TooLong(limit)));
    }
    let error = oversized(limit);
    match id.filter(|_| accepts_requests(inner)) {
        Some(id) => inner.responder(id).respond(Err(error)),
        None => inner.stray.record(head, &error),
    }
}

/// Returns true if the server may send requests.
fn accepts_requests(inner: &Inner) -> bool {
    let incoming = inner.incoming();
    incoming.is_some_and(|incoming| incoming.accepts_requests())
}

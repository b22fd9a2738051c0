//! The task that writes the lines of a session and reads those of the server.

use std::future::Future;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep_until};

use crate::client::answers::{answered_id, id_at_ends, is_cut_off, read_answer};
use crate::client::line::Ending;
use crate::client::line::shared::{Closing, Shared};
use crate::client::{ClientError, IncomingRequest};
use crate::deadline;
use crate::wire::{Body, Frame, Invalid, LineBuffer, Message, RpcError, parse, parse_element};

pub(super) struct Driver<R, W> {
    shared: Arc<Shared>,
    reader: Pin<Box<R>>,
    /// Until all has been written and the session is to end.
    writer: Option<Pin<Box<W>>>,
    lines: LineBuffer,
    output: Vec<u8>,
    written: usize,
    flushed: bool,
    /// When a server that has been told to end, or has ended, is waited for no longer.
    deadline: Option<Pin<Box<Sleep>>>,
    phase: Phase,
    ending: Ending,
}

enum Phase {
    Running,
    /// The streams have ended; an error of theirs is kept.
    Ended(Option<io::Error>),
}

impl<R: AsyncRead, W: AsyncWrite> Driver<R, W> {
    pub(super) fn new(
        shared: Arc<Shared>,
        reader: Pin<Box<R>>,
        writer: Pin<Box<W>>,
        ending: Ending,
    ) -> Self {
        let lines = LineBuffer::new(shared.limits.message_bytes);
        Self {
            shared,
            reader,
            writer: Some(writer),
            lines,
            output: Vec::new(),
            written: 0,
            flushed: true,
            deadline: None,
            phase: Phase::Running,
            ending,
        }
    }

    /// Writes and reads until the streams end.
    fn run(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let is_closing = self.shared.register(context.waker()) == Closing(true);
        if self.deadline.is_none()
            && (is_closing || self.ending.exited.as_mut().poll(context).is_ready())
        {
            let within = self.shared.limits.shutdown_timeout;
            self.deadline = Some(Box::pin(sleep_until(deadline::after(within))));
        }
        loop {
            let mut progress = match self.write(context) {
                Ok(progress) => progress,
                // What the server has sent before it went away may be the answer that somebody waits for.
                Err(error) => {
                    while self.read(context).unwrap_or(Some(false)) == Some(true) {}
                    return Poll::Ready(Err(error));
                }
            };
            match self.read(context)? {
                Some(more) => progress |= more,
                None => return Poll::Ready(Ok(())),
            }
            if let Some(deadline) = &mut self.deadline {
                if deadline.as_mut().poll(context).is_ready() {
                    return Poll::Ready(Ok(()));
                }
            }
            if !progress {
                return Poll::Pending;
            }
        }
    }

    /// Writes what can be written now; ends the input of the server if that was the last.
    fn write(&mut self, context: &mut Context<'_>) -> io::Result<bool> {
        let mut progress = false;
        let Some(writer) = &mut self.writer else {
            return Ok(false);
        };
        let closing = loop {
            if self.written == self.output.len() {
                self.written = 0;
                let closing = self.shared.take_output(&mut self.output);
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
            // A pipe is closed by dropping it.
            self.writer = None;
            progress = true;
        }
        Ok(progress)
    }

    /// Reads what is there: whether there was something, or `None` at the end.
    fn read(&mut self, context: &mut Context<'_>) -> io::Result<Option<bool>> {
        if self.shared.is_full() {
            return Ok(Some(false));
        }
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
                    let error = RpcError::invalid_request("it has no end");
                    self.shared.stray.note(line, &error);
                }
                Some(frame) => receive(&self.shared, frame),
                None => {}
            }
            return Ok(None);
        }
        while let Some(frame) = self.lines.next_frame() {
            receive(&self.shared, frame);
        }
        Ok(Some(true))
    }
}

impl<R: AsyncRead, W: AsyncWrite> Future for Driver<R, W> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        if matches!(this.phase, Phase::Running) {
            let ended = ready!(this.run(context));
            this.writer = None;
            this.phase = Phase::Ended(ended.err());
        }
        let mut reason = ready!(this.ending.reason.as_mut().poll(context));
        if let Phase::Ended(Some(error)) = &this.phase {
            reason = format!("{reason} ({error})");
        }
        this.shared.end(&ClientError::closed(reason));
        Poll::Ready(())
    }
}

impl<R, W> Drop for Driver<R, W> {
    fn drop(&mut self) {
        let reason = "the runtime that drove it has stopped";
        self.shared.end(&ClientError::closed(reason));
    }
}

/// Takes one line of the server.
fn receive(shared: &Arc<Shared>, frame: Frame<'_>) {
    let limits = shared.limits.parsing();
    match frame {
        Frame::Line(line) => match parse(line, &limits) {
            Body::One(message) => receive_message(shared, message, line),
            // Only revision 2025-03-26 has batches; what their messages say is clear in all of them.
            Body::Batch(messages) => {
                for message in messages {
                    let parsed = parse_element(message, &limits);
                    receive_message(shared, parsed, message.as_bytes());
                }
            }
        },
        Frame::TooLong { head, tail } => {
            let limit = shared.limits.message_bytes;
            if let Some(id) = id_at_ends(head, tail) {
                tracing::debug!(limit, id, "an answer that is too long was dropped");
                let reason = format!("its answer is longer than {limit} bytes");
                shared.answer(id, Err(ClientError::protocol(reason)));
            } else {
                let reason = format!("longer than {limit} bytes");
                shared.stray.note(head, &RpcError::invalid_request(reason));
            }
        }
    }
}

fn receive_message(shared: &Arc<Shared>, message: Result<Message<'_>, Invalid<'_>>, text: &[u8]) {
    match message {
        Ok(Message::Response(id, answer)) => {
            if let Ok(id) = id.parse() {
                shared.answer(id, read_answer(answer, &shared.limits));
            } else {
                tracing::debug!("an answer to no request was dropped");
            }
        }
        Ok(Message::Notification(envelope)) => {
            if let Some(incoming) = shared.incoming() {
                let params = envelope.params.text.unwrap_or("{}");
                incoming.notification(&envelope.method, params);
            }
        }
        Ok(Message::Request(id, envelope)) => {
            let responder = shared.responder(id);
            if let Some(incoming) = shared.incoming() {
                let params = envelope.params.text.unwrap_or("{}");
                incoming.request(IncomingRequest::new(
                    id,
                    &envelope.method,
                    params,
                    responder,
                ));
            }
        }
        Err(invalid) => refuse(shared, &invalid, text),
    }
}

/// Drops a text that is no message. If it names a request, that one has been answered badly.
fn refuse(shared: &Shared, invalid: &Invalid<'_>, text: &[u8]) {
    let error = &invalid.error;
    let id = invalid.id.and_then(|id| id.parse().ok());
    match id.or_else(|| answered_id(text)) {
        Some(id) => {
            let reason = format!("its answer is no message: {}", error.message);
            shared.answer(id, Err(ClientError::protocol(reason)));
        }
        None => shared.stray.note(text, error),
    }
}

//! Line transport: one message per line, over any pair of byte streams.
//!
//! One task reads, handles and writes messages. Only a call that does not finish in its first poll gets a task of its own.
//! Unwritten output and unfinished calls stop reading, so a slow peer experiences back-pressure.

mod backlog;
mod calls;
mod capacity;
mod lines;
mod output;
mod serve;

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep_until};

use crate::deadline;
use crate::limits::Limits;
use crate::server::Connection;
use crate::transport::line::backlog::Backlog;
use crate::transport::line::calls::{CallTasks, EndedCall};
use crate::transport::line::capacity::PermitFuture;
use crate::transport::line::output::Output;
use crate::wire::LineBuffer;

/// State machine of one connection.
struct LineDriver<R, W> {
    connection: Connection,
    limits: Limits,
    reader: R,
    input: Input,
    output: Output<W>,
    calls: CallTasks,
    backlog: Backlog,
    /// Ready when the server has call permits for the first message of the backlog.
    permits: Option<PermitFuture>,
    /// Ready when the time for remaining calls and output after the end of the input has elapsed.
    deadline: Option<Pin<Box<Sleep>>>,
}

struct Input {
    lines: LineBuffer,
    ended: bool,
    /// The last line, which may be unterminated, has been handled.
    drained: bool,
}

impl Input {
    /// Stops reading. Only complete lines in the buffer are still handled.
    fn close(&mut self) {
        self.ended = true;
        self.drained = true;
    }
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> LineDriver<R, W> {
    fn new(connection: Connection, reader: R, writer: W) -> Self {
        let limits = connection.server().limits().clone();
        let input = Input {
            lines: LineBuffer::new(limits.message_bytes),
            ended: false,
            drained: false,
        };
        let output = Output::new(writer);
        let backlog = Backlog::new(limits.backlog_bytes);
        Self {
            connection,
            limits,
            reader,
            input,
            output,
            calls: CallTasks::default(),
            backlog,
            permits: None,
            deadline: None,
        }
    }

    /// Makes all possible progress. Ready when the connection has ended.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            if !self.input.ended && self.connection.server().is_closed() {
                self.input.close();
            }
            let mut progress = self.output.poll_write(context)?;
            progress |= self.collect_output(context);
            progress |= self.poll_permits(context);
            progress |= self.handle_lines();
            self.close_requests();
            progress |= self.read_input(context)?;
            let is_finished = self.input.drained && self.is_idle();
            if is_finished || (self.input.ended && self.is_past_deadline(context)) {
                return Poll::Ready(Ok(()));
            }
            if !progress {
                if self.output.pending_bytes() > self.limits.queued_output_bytes {
                    // No call starts before the peer reads, so others may have its place.
                    self.release_permits();
                }
                return Poll::Pending;
            }
        }
    }

    /// Ends the questions of calls to the client once all of its responses have been handled.
    fn close_requests(&mut self) {
        // If input could still be accepted, no line is left.
        let is_handled = self.input.drained && self.can_accept_input();
        if is_handled && !self.backlog.may_have_response() {
            self.connection.close_requests();
        }
    }

    fn is_idle(&self) -> bool {
        self.calls.is_empty() && self.backlog.is_empty() && self.output.is_empty()
    }

    /// Moves messages of calls in flight, and responses of finished calls, to the output.
    ///
    /// The messages take at most half of the room. A call that sends without pause would otherwise refill the output after each
    /// write, and no response or input would be handled, not even its own cancellation.
    fn collect_output(&mut self, context: &mut Context<'_>) -> bool {
        let mut progress = false;
        while self.output.pending_bytes() <= self.limits.queued_output_bytes {
            if let Poll::Ready(message) = self.poll_outgoing(context) {
                self.output.push_line(&message);
            } else if let Poll::Ready(Some(ended)) = self.calls.poll_next(context) {
                self.end_call(ended);
            } else {
                break;
            }
            progress = true;
        }
        progress
    }

    fn poll_outgoing(&mut self, context: &mut Context<'_>) -> Poll<Vec<u8>> {
        if self.output.pending_bytes() > self.limits.queued_output_bytes / 2 {
            // The writer wakes the task.
            return Poll::Pending;
        }
        self.connection.poll_outgoing(context)
    }

    /// Writes the response of a call after the messages that the call sent before it finished, or drops these if it was cancelled.
    fn end_call(&mut self, ended: EndedCall) {
        for message in self.connection.drain_outgoing() {
            self.output.push_line(&message);
        }
        match ended {
            EndedCall::Response(response) => self.output.push_line(&response),
            EndedCall::Cancelled(Some(call)) => self.connection.forget_call(call),
            EndedCall::Cancelled(None) => {}
        }
    }

    /// Reads more input if lines can be handled or little is buffered. The end of the input must be detected even while calls
    /// wait for capacity.
    fn read_input(&mut self, context: &mut Context<'_>) -> io::Result<bool> {
        let may_read = self.can_accept_input() || self.input.lines.is_low();
        if self.input.ended || !may_read {
            return Ok(false);
        }
        let mut buffer = ReadBuf::new(self.input.lines.room());
        match Pin::new(&mut self.reader).poll_read(context, &mut buffer)? {
            Poll::Pending => return Ok(false),
            Poll::Ready(()) => {}
        }
        let count = buffer.filled().len();
        self.input.lines.advance(count);
        if count == 0 {
            self.input.ended = true;
        }
        Ok(true)
    }

    /// Returns true if more lines can be handled.
    ///
    /// A full backlog does not stop input while calls wait for responses of the client, because the input may contain them.
    fn can_accept_input(&self) -> bool {
        self.output.pending_bytes() <= self.limits.queued_output_bytes
            && (!self.backlog.is_full() || self.connection.has_pending_requests())
    }

    /// Returns true if the shutdown timeout has elapsed since the end of the input.
    fn is_past_deadline(&mut self, context: &mut Context<'_>) -> bool {
        let timeout = self.limits.shutdown_timeout;
        let deadline = self
            .deadline
            .get_or_insert_with(|| Box::pin(sleep_until(deadline::after(timeout))));
        let is_past = deadline::poll_timer(deadline.as_mut(), context).is_ready();
        if is_past {
            let (calls, bytes) = (self.calls.in_flight(), self.output.pending_bytes());
            tracing::warn!(
                calls,
                bytes,
                "dropped unfinished calls and output after the shutdown timeout"
            );
        }
        is_past
    }
}

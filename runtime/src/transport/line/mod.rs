//! Line transport: one message per line, over any pair of byte streams.
//!
//! One task reads, handles and writes messages. Only a call that does not finish in its first poll gets a task of its own.
//! Unwritten output and unfinished calls stop reading, so a slow peer experiences back-pressure.

mod backlog;
mod calls;
mod capacity;
mod output;

use std::future::{Future as _, poll_fn};
use std::io::{self, ErrorKind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep_until};
use treenail_schema::RequestId;

use crate::deadline;
use crate::error::Result;
use crate::limits::Limits;
use crate::server::{Connection, Handled, Server};
use crate::transport::line::backlog::Backlog;
use crate::transport::line::calls::CallTasks;
use crate::transport::line::capacity::PermitFuture;
use crate::transport::line::output::Output;
use crate::wire::{Frame, LineBuffer};

impl Server {
    /// Serves one peer over a pair of byte streams, one message per line, until its input ends or the server
    /// [closes](Server::close).
    ///
    /// It then finishes the calls in flight, within [`Limits::shutdown_timeout`](crate::Limits::shutdown_timeout), and writes
    /// their responses. It must run on a tokio runtime with time enabled.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::Error::Io) if reading or writing fails. A disconnected peer is not an error.
    ///
    /// # Cancellation
    ///
    /// Dropping the future stops the calls in flight.
    pub async fn serve<R, W>(&self, reader: R, writer: W) -> Result<()>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        self.connect().serve(reader, writer).await
    }
}

impl Connection {
    /// Serves the peer of this connection over a pair of byte streams, like [`Server::serve`].
    ///
    /// Use it for a peer that is authenticated before its first message:
    ///
    /// ```
    /// use tokio::io::{AsyncRead, AsyncWrite};
    /// use treenail::Server;
    /// use treenail::context::Principal;
    ///
    /// async fn accept<S: AsyncRead + AsyncWrite>(server: &Server, user: String, stream: S) -> treenail::Result<()> {
    ///     let mut connection = server.connect();
    ///     connection.extensions_mut().insert(Principal::new(user));
    ///     let (reader, writer) = tokio::io::split(stream);
    ///     connection.serve(reader, writer).await
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::Error::Io) if reading or writing fails. A disconnected peer is not an error.
    ///
    /// # Cancellation
    ///
    /// Dropping the future stops the calls in flight.
    pub async fn serve<R, W>(self, reader: R, writer: W) -> Result<()>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let server = self.server().clone();
        let mut closed = pin!(server.closed());
        let mut driver = LineDriver::new(self, reader, writer);
        let ended = poll_fn(|context| {
            loop {
                let polled = driver.poll(context);
                let is_open = polled.is_pending() && !driver.input.ended;
                if !(is_open && closed.as_mut().poll(context).is_ready()) {
                    return polled;
                }
            }
        });
        let ended = ended.await;
        match ended {
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::BrokenPipe | ErrorKind::ConnectionReset
                ) =>
            {
                tracing::debug!(%error, "the peer has disconnected");
                Ok(())
            }
            other => Ok(other?),
        }
    }
}

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
            progress |= self.read_input(context)?;
            let is_finished = self.input.drained && self.is_idle();
            if is_finished || (self.input.ended && self.is_past_deadline(context)) {
                return Poll::Ready(Ok(()));
            }
            if !progress {
                return Poll::Pending;
            }
        }
    }

    fn is_idle(&self) -> bool {
        self.calls.is_empty() && self.backlog.is_empty() && self.output.is_empty()
    }

    /// Moves messages of calls in flight, and responses of finished calls, to the output.
    fn collect_output(&mut self, context: &mut Context<'_>) -> bool {
        let mut progress = false;
        while self.output.pending_bytes() <= self.limits.queued_output_bytes {
            if let Poll::Ready(message) = self.connection.poll_outgoing(context) {
                self.output.push_line(&message);
            } else if let Poll::Ready(Some(response)) = self.calls.poll_next(context) {
                // Messages that the call sent before it finished precede its response.
                self.send_outgoing();
                self.output.push_line(&response);
            } else {
                break;
            }
            progress = true;
        }
        progress
    }

    /// Inserts outgoing messages before the output from `start`, which may be the response of the call that sent them.
    fn insert_outgoing_at(&mut self, start: usize) {
        if let Some(message) = self.connection.next_outgoing() {
            let response = self.output.bytes.split_off(start);
            self.output.push_line(&message);
            self.send_outgoing();
            self.output.bytes.extend_from_slice(&response);
        }
    }

    fn send_outgoing(&mut self) {
        while let Some(message) = self.connection.next_outgoing() {
            self.output.push_line(&message);
        }
    }

    /// Handles the backlog, and then the lines in the buffer.
    fn handle_lines(&mut self) -> bool {
        let mut progress = self.release_backlog();
        while self.can_accept_input() {
            // Calls start in the order of their messages.
            let capacity = if self.backlog.is_empty() {
                self.call_capacity()
            } else {
                0
            };
            let frame = match self.input.lines.next_frame() {
                Some(frame) => Some(frame),
                None if self.input.ended && !self.input.drained => {
                    self.input.drained = true;
                    self.input.lines.last()
                }
                None => break,
            };
            progress = true;
            let Some(frame) = frame else { break };
            self.connection.set_call_capacity(capacity);
            self.connection.set_busy(self.calls.in_flight() > 0);
            let out = &mut self.output;
            let start = out.bytes.len();
            let handled = match frame {
                Frame::Line(line) => match self.connection.handle_message(line, &mut out.bytes) {
                    Handled::Deferred(_) if self.backlog.is_full() => {
                        self.connection.reject_over_capacity(line, &mut out.bytes);
                        Handled::Complete
                    }
                    Handled::Deferred(id) => {
                        self.backlog.push_back(id, line);
                        Handled::Complete
                    }
                    other => other,
                },
                Frame::TooLong { .. } => {
                    self.connection.reject_oversized(&mut out.bytes);
                    Handled::Complete
                }
            };
            self.finish_message(start, handled);
        }
        progress
    }

    /// Cancels a call, or a deferred one.
    fn cancel(&mut self, id: &RequestId) {
        self.calls.cancel(id);
        self.backlog.cancel(id);
        if self.backlog.is_empty() {
            self.release_permits();
        }
    }

    /// Releases the call permits for the first message of the backlog, which is gone.
    fn release_permits(&mut self) {
        self.permits = None;
        self.connection.set_places(None);
    }

    /// Completes the handling of a message, whose output starts at `start`.
    fn finish_message(&mut self, start: usize, handled: Handled) {
        self.output.end_line(start);
        self.insert_outgoing_at(start);
        for id in self.connection.take_cancelled() {
            self.cancel(&id);
        }
        match handled {
            Handled::Complete | Handled::Deferred(_) => {}
            Handled::Pending(response) => self.calls.spawn_call(response),
            Handled::Cancelled(id) => self.cancel(&id),
            Handled::Restarted => {
                self.calls = CallTasks::default();
                self.backlog = Backlog::new(self.limits.backlog_bytes);
                self.release_permits();
            }
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
        let is_past = deadline.as_mut().poll(context).is_ready();
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

//! One message a line, over any pair of byte streams.
//!
//! One task reads, answers and writes; only a call that is not ready at once gets a task of its own. What cannot be
//! written yet, and calls that are not finished, hold back reading: a slow peer slows the server down.

mod calls;
mod held;
mod output;
mod room;

use std::future::{Future as _, poll_fn};
use std::io::{self, ErrorKind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep_until};

use crate::deadline;
use crate::error::Result;
use crate::limits::Limits;
use crate::server::{Connection, Handled, Server};
use crate::transport::line::calls::Calls;
use crate::transport::line::held::Held;
use crate::transport::line::output::Output;
use crate::transport::line::room::Places;
use crate::wire::{Frame, LineBuffer};

impl Server {
    /// Serves one peer over a pair of byte streams, one message a line, until its input ends or the server
    /// [closes](Server::close).
    ///
    /// Calls that are in flight then are finished, within
    /// [`Limits::shutdown_timeout`](crate::Limits::shutdown_timeout), and their answers are written. It must run
    /// on a tokio runtime with time enabled.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::Error::Io) if reading or writing fails. A peer that has gone away is not an error.
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
    /// Serves the peer over a pair of byte streams, as [`Server::serve`] does with a connection of its own.
    ///
    /// It is for a peer that has been authenticated before its first message:
    ///
    /// ```
    /// use tokio::io::{AsyncRead, AsyncWrite};
    /// use treenail_runtime::{Principal, Server};
    ///
    /// async fn accept<S: AsyncRead + AsyncWrite>(server: &Server, user: String, stream: S) -> treenail_runtime::Result<()> {
    ///     let mut connection = server.connect();
    ///     connection.extensions_mut().insert(Principal::new(user));
    ///     let (reader, writer) = tokio::io::split(stream);
    ///     connection.serve(reader, writer).await
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::Error::Io) if reading or writing fails. A peer that has gone away is not an error.
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
        let mut session = LineSession::new(self, reader, writer);
        let ended = poll_fn(|context| {
            loop {
                let polled = session.poll(context);
                let open = polled.is_pending() && !session.input.ended;
                if !(open && closed.as_mut().poll(context).is_ready()) {
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
                tracing::debug!(%error, "the peer has gone away");
                Ok(())
            }
            other => Ok(other?),
        }
    }
}

struct LineSession<R, W> {
    connection: Connection,
    limits: Limits,
    reader: R,
    input: Input,
    output: Output<W>,
    calls: Calls,
    held: Held,
    /// Ready when the server has room for the first message that is held.
    places: Option<Places>,
    /// When calls and answers that are still under way after the end of the input are given up.
    deadline: Option<Pin<Box<Sleep>>>,
}

struct Input {
    lines: LineBuffer,
    ended: bool,
    /// The last line, which may lack its end, has been taken.
    drained: bool,
}

impl Input {
    /// Takes no more than the whole lines that are there.
    fn close(&mut self) {
        self.ended = true;
        self.drained = true;
    }
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> LineSession<R, W> {
    fn new(connection: Connection, reader: R, writer: W) -> Self {
        let limits = connection.server().limits().clone();
        let input = Input {
            lines: LineBuffer::new(limits.message_bytes),
            ended: false,
            drained: false,
        };
        let output = Output::new(writer);
        let held = Held::new(limits.backlog_bytes);
        Self {
            connection,
            limits,
            reader,
            input,
            output,
            calls: Calls::default(),
            held,
            places: None,
            deadline: None,
        }
    }

    /// Does all that can be done now; ready when the session has ended.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            if !self.input.ended && self.connection.server().is_closed() {
                self.input.close();
            }
            let mut progress = self.output.poll_write(context)?;
            progress |= self.collect(context);
            progress |= self.take_places(context);
            progress |= self.answer();
            progress |= self.read(context)?;
            let finished = self.input.drained && self.is_done();
            if finished || (self.input.ended && self.out_of_time(context)) {
                return Poll::Ready(Ok(()));
            }
            if !progress {
                return Poll::Pending;
            }
        }
    }

    fn is_done(&self) -> bool {
        self.calls.is_empty() && self.held.is_empty() && self.output.is_empty()
    }

    /// Takes over what calls in flight send, and the answers of those that are finished.
    fn collect(&mut self, context: &mut Context<'_>) -> bool {
        let mut progress = false;
        while self.output.waiting() <= self.limits.queued_output_bytes {
            if let Poll::Ready(message) = self.connection.poll_outgoing(context) {
                self.output.push_line(&message);
            } else if let Poll::Ready(Some(answer)) = self.calls.poll_next(context) {
                // What the call sent before it was finished comes before its answer.
                self.send_outgoing();
                self.output.push_line(&answer);
            } else {
                break;
            }
            progress = true;
        }
        progress
    }

    /// Puts what calls have sent before the answer that has been written since `start`: one of them may be answered there.
    fn put_outgoing_before(&mut self, start: usize) {
        if let Some(message) = self.connection.next_outgoing() {
            let answer = self.output.bytes.split_off(start);
            self.output.push_line(&message);
            self.send_outgoing();
            self.output.bytes.extend_from_slice(&answer);
        }
    }

    fn send_outgoing(&mut self) {
        while let Some(message) = self.connection.next_outgoing() {
            self.output.push_line(&message);
        }
    }

    /// Answers the lines that are there, after those that have been held.
    fn answer(&mut self) -> bool {
        let mut progress = self.release();
        while self.has_room() {
            // Calls begin in the order in which they came.
            let room = if self.held.is_empty() { self.room() } else { 0 };
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
            self.connection.set_call_capacity(room);
            self.connection.set_busy(self.calls.in_flight() > 0);
            let out = &mut self.output;
            let start = out.bytes.len();
            let received = match frame {
                Frame::Line(line) => match self.connection.handle_message(line, &mut out.bytes) {
                    Handled::Deferred(_) if self.held.is_full() => {
                        self.connection.reject_over_capacity(line, &mut out.bytes);
                        Handled::Complete
                    }
                    Handled::Deferred(id) => {
                        self.held.push(id, line);
                        Handled::Complete
                    }
                    other => other,
                },
                Frame::TooLong { .. } => {
                    self.connection.reject_oversized(&mut out.bytes);
                    Handled::Complete
                }
            };
            self.end(start, received);
        }
        progress
    }

    /// Ends what a message has brought: the answer that has been written since `start`, and what is left to do.
    fn end(&mut self, start: usize, received: Handled) {
        self.output.end_line(start);
        self.put_outgoing_before(start);
        match received {
            Handled::Complete | Handled::Deferred(_) => {}
            Handled::Pending(answer) => self.calls.start(answer),
            Handled::Cancelled(id) => {
                self.calls.cancel(&id);
                self.held.cancel(&id);
                if self.held.is_empty() {
                    self.places = None;
                    self.connection.set_places(None);
                }
            }
            Handled::Restarted => {
                self.calls = Calls::default();
                self.held = Held::new(self.limits.backlog_bytes);
            }
        }
    }

    /// Reads more, if all that was read before is being answered, or is little: the end of the input must be noticed also
    /// while calls are held back.
    fn read(&mut self, context: &mut Context<'_>) -> io::Result<bool> {
        let may_read = self.has_room() || self.input.lines.has_little();
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

    /// Whether more can be taken in. Calls that wait for answers of their client must not hold these back.
    fn has_room(&self) -> bool {
        self.output.waiting() <= self.limits.queued_output_bytes
            && (!self.held.is_full() || self.connection.has_pending_requests())
    }

    /// Whether the time for finishing and writing after the end of the input is over.
    fn out_of_time(&mut self, context: &mut Context<'_>) -> bool {
        let within = self.limits.shutdown_timeout;
        let deadline = self
            .deadline
            .get_or_insert_with(|| Box::pin(sleep_until(deadline::after(within))));
        let over = deadline.as_mut().poll(context).is_ready();
        if over {
            let (calls, bytes) = (self.calls.in_flight(), self.output.waiting());
            tracing::warn!(
                calls,
                bytes,
                "calls and answers were given up after the end of the input"
            );
        }
        over
    }
}

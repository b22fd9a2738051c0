//! Handling of the lines of the input, and the effects of their messages on the calls of the connection.

use tokio::io::{AsyncRead, AsyncWrite};
use treenail_schema::RequestId;

use super::LineDriver;
use super::backlog::Backlog;
use super::calls::CallTasks;
use crate::server::Handled;
use crate::wire::Frame;

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> LineDriver<R, W> {
    /// Handles the backlog, and then the lines in the buffer.
    pub(super) fn handle_lines(&mut self) -> bool {
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
                Frame::TooLong { head, tail } => {
                    self.connection.reject_oversized(head, tail, &mut out.bytes);
                    Handled::Complete
                }
            };
            self.finish_message(start, handled);
        }
        progress
    }

    /// Cancels a call, or a deferred one: of several with this id, the last. Those that are deferred are later than those in flight.
    fn cancel(&mut self, id: &RequestId) {
        if !self.backlog.cancel(id) {
            if let Some(call) = self.calls.cancel(id) {
                self.connection.cancel_call(call);
            }
        }
        if self.backlog.is_empty() {
            self.release_permits();
        }
    }

    /// Releases the call permits for the first message of the backlog, which is gone or cannot start now.
    pub(super) fn release_permits(&mut self) {
        self.permits = None;
        self.connection.release_call_permits();
    }

    /// Completes the handling of a message, whose output starts at `start`.
    pub(super) fn finish_message(&mut self, start: usize, handled: Handled) {
        self.output.end_line(start);
        for id in self.connection.take_cancelled() {
            self.cancel(&id);
        }
        if let Handled::Cancelled(id) = &handled {
            self.cancel(id);
        }
        // After the cancellations, which drop queued messages.
        self.insert_outgoing_at(start);
        match handled {
            Handled::Complete | Handled::Deferred(_) | Handled::Cancelled(_) => {}
            Handled::Pending(response) => self.calls.spawn_call(response),
            Handled::Restarted => {
                self.calls = CallTasks::default();
                self.backlog = Backlog::new(self.limits.backlog_bytes);
                self.release_permits();
            }
        }
    }

    /// Inserts outgoing messages before the output from `start`, which may be the response of the call that sent them.
    fn insert_outgoing_at(&mut self, start: usize) {
        let mut messages = self.connection.drain_outgoing().peekable();
        if messages.peek().is_none() {
            return;
        }
        let response = self.output.bytes.split_off(start);
        for message in messages {
            self.output.push_line(&message);
        }
        self.output.bytes.extend_from_slice(&response);
    }
}

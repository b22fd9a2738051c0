//! Capacity for calls, of the connection and of the server as a whole.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite};

use super::LineDriver;
use super::backlog::Blocked;
use crate::server::{CallPermits, Handled};

/// Future for call permits of the server.
pub(super) type PermitFuture = Pin<Box<dyn Future<Output = CallPermits> + Send>>;

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> LineDriver<R, W> {
    /// Returns the number of calls that the connection may start.
    pub(super) fn call_capacity(&self) -> usize {
        let max_calls = self.limits.calls_in_flight.max(1);
        max_calls.saturating_sub(self.calls.in_flight())
    }

    /// Handles messages of the backlog as long as there is capacity for their calls.
    pub(super) fn release_backlog(&mut self) -> bool {
        let mut progress = false;
        while self.output.pending_bytes() <= self.limits.queued_output_bytes {
            if self.is_blocked() {
                break;
            }
            let Some(mut message) = self.backlog.pop_front() else {
                break;
            };
            let is_busy = self.calls.in_flight() > 0;
            self.connection.set_call_capacity(self.call_capacity());
            self.connection.set_busy(is_busy);
            let start = self.output.bytes.len();
            let out = &mut self.output.bytes;
            let handled = self.connection.handle_message(&message.text, out);
            if let Handled::Deferred(_) = handled {
                let blocked = Blocked {
                    calls: self.connection.deferred_calls(),
                    is_busy,
                };
                let before = message.blocked.replace(blocked);
                if before.is_some_and(|before| before.is_busy != is_busy) {
                    // They may be reserved for peers without running calls, or not any more.
                    self.permits = None;
                }
                self.backlog.push_front(message);
                // A new future has to be polled before the driver may wait for its waker.
                progress |= self.request_permits();
                break;
            }
            self.finish_message(start, handled);
            progress = true;
        }
        progress
    }

    /// Returns true if the first message of the backlog was deferred, and would be deferred again. Parsing it to find that out
    /// could take long.
    fn is_blocked(&self) -> bool {
        let blocked = self.backlog.front().and_then(|message| message.blocked);
        blocked.is_some_and(|Blocked { calls, is_busy }| {
            let waits = self.permits.is_some() && is_busy == (self.calls.in_flight() > 0);
            calls > self.call_capacity() || waits
        })
    }

    /// Starts waiting for call permits of the server, unless the first message waits for capacity of the connection. Returns true
    /// if it has just started.
    fn request_permits(&mut self) -> bool {
        let calls = self.connection.deferred_calls();
        if self.permits.is_some() || calls > self.call_capacity() {
            return false;
        }
        self.permits = Some(Box::pin(self.connection.call_permits()));
        true
    }

    /// Passes acquired call permits to the connection, for the first message of the backlog.
    pub(super) fn poll_permits(&mut self, context: &mut Context<'_>) -> bool {
        let Some(permits) = &mut self.permits else {
            return false;
        };
        if self.backlog.is_empty() {
            self.permits = None;
            return false;
        }
        let Poll::Ready(permits) = permits.as_mut().poll(context) else {
            return false;
        };
        self.permits = None;
        self.connection.set_call_permits(permits);
        true
    }
}

//! Calls that the future of their own request polls, until they must outlive it.
//!
//! Most calls end while their client waits for them. A task for each would be woken on another thread, and would wake the request
//! in turn.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread;

use tokio::runtime::Handle;

use crate::exchange::Exchange;
use crate::legacy::calls::CallGuard;
use crate::legacy::session::Session;

/// Call that is polled in place. If it is dropped before its end, a task continues it.
pub(super) struct AttendedCall {
    session: Arc<Session>,
    stream: u64,
    /// `None` after the end of the call, or once a task continues it.
    running: Option<(Box<Exchange>, CallGuard)>,
    /// The runtime of the request, for a drop outside of it.
    runtime: Handle,
}

/// Outcome of [`AttendedCall::poll_response`].
pub(super) enum Attended {
    /// The response, before all other messages.
    Response(Vec<u8>),
    /// A task continues the call, or it was stopped. Its output is on the stream.
    Detached,
}

impl AttendedCall {
    pub(super) fn new(
        session: Arc<Session>,
        stream: u64,
        exchange: Exchange,
        guard: CallGuard,
    ) -> Self {
        Self {
            session,
            stream,
            running: Some((Box::new(exchange), guard)),
            runtime: Handle::current(),
        }
    }

    /// Polls the call until its response, or until it has another message.
    pub(super) fn poll_response(&mut self, context: &mut Context<'_>) -> Poll<Attended> {
        let Some((mut exchange, guard)) = self.running.take() else {
            return Poll::Ready(Attended::Detached);
        };
        if !guard.is_running() {
            return Poll::Ready(Attended::Detached);
        }
        // A panic drops the call.
        match exchange.poll_next(context) {
            Poll::Ready(Some((response, true))) => Poll::Ready(Attended::Response(response)),
            Poll::Ready(first) => {
                self.running = Some((exchange, guard));
                self.detach(first.map(|(message, _)| message));
                Poll::Ready(Attended::Detached)
            }
            Poll::Pending => {
                self.running = Some((exchange, guard));
                Poll::Pending
            }
        }
    }

    /// Lets a task continue the call, after it has sent `first`.
    pub(super) fn detach(&mut self, first: Option<Vec<u8>>) {
        let Some((exchange, guard)) = self.running.take() else {
            return;
        };
        if !guard.is_running() {
            return;
        }
        let output = (self.stream, first);
        self.session
            .continue_call(&self.runtime, *exchange, guard, output);
    }
}

impl Drop for AttendedCall {
    fn drop(&mut self) {
        if !thread::panicking() {
            self.detach(None);
        }
    }
}

//! Calls that were held for want of room, in the connection or in the server as a whole.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::OwnedSemaphorePermit;

use super::LineSession;
use crate::server::Handled;

/// Places in the budget of the server, once they are free.
pub(super) type Places = Pin<Box<dyn Future<Output = Option<OwnedSemaphorePermit>> + Send>>;

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> LineSession<R, W> {
    /// How many calls may begin.
    pub(super) fn room(&self) -> usize {
        let most = self.limits.calls_in_flight;
        most.saturating_sub(self.calls.in_flight())
    }

    /// Begins calls that have been held, as far as there is room for them.
    pub(super) fn release(&mut self) -> bool {
        let mut progress = false;
        while self.output.waiting() <= self.limits.queued_output_bytes {
            let Some(message) = self.held.pop() else {
                break;
            };
            self.connection.set_call_capacity(self.room());
            self.connection.set_busy(self.calls.in_flight() > 0);
            let start = self.output.bytes.len();
            let out = &mut self.output.bytes;
            let received = self.connection.handle_message(&message.text, out);
            if let Handled::Deferred(_) = received {
                self.held.put_back(message);
                self.wait_for_places();
                break;
            }
            self.end(start, received);
            progress = true;
        }
        progress
    }

    /// Waits for places in the budget of the server, if these are what the first message lacks.
    fn wait_for_places(&mut self) {
        let calls = self.connection.wanted();
        if self.places.is_none() && calls <= self.room() {
            let budget = self.connection.server().calls();
            self.places = Some(Box::pin(budget.wait(calls)));
        }
    }

    /// Takes over the places that have become free for the first message that is held.
    pub(super) fn take_places(&mut self, context: &mut Context<'_>) -> bool {
        let Some(places) = &mut self.places else {
            return false;
        };
        if self.held.is_empty() {
            self.places = None;
            return false;
        }
        let Poll::Ready(places) = places.as_mut().poll(context) else {
            return false;
        };
        self.places = None;
        self.connection.set_places(places);
        true
    }
}

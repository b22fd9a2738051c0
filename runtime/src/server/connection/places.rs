//! Room for calls: that of the connection, and that of the server as a whole.

use std::future::Future;

use tokio::sync::OwnedSemaphorePermit;

use super::Connection;

/// Permits for the calls of a deferred message, out of [`Limits::server_calls_in_flight`](crate::Limits::server_calls_in_flight).
/// Dropping it releases them.
#[derive(Debug)]
pub struct CallPermits(Option<OwnedSemaphorePermit>);

impl Connection {
    /// Waits until the server may start the calls of the message that was [deferred](super::Handled::Deferred) last, and reserves
    /// permits for them. Connections get permits in the order in which they wait.
    ///
    /// It waits for the bound of the server only, and may be ready at once. A message with more
    /// [calls](Connection::deferred_calls) than the [capacity](Connection::set_call_capacity) of the connection would be deferred
    /// again in spite of its permits: it waits for the calls of the connection instead. Drop the future when the message is
    /// cancelled.
    pub fn call_permits(&self) -> impl Future<Output = CallPermits> + Send + 'static + use<> {
        let permits = self.server.calls().wait(self.wanted, self.busy);
        async move { CallPermits(permits.await) }
    }

    /// Sets the permits that the calls of the next message take. The rest is released when that message has been handled.
    pub fn set_call_permits(&mut self, permits: CallPermits) {
        self.places = permits.0;
    }

    /// Sets whether the peer has calls in flight, which keeps it from the places that are reserved for others.
    #[doc(hidden)]
    pub fn set_busy(&mut self, busy: bool) {
        self.busy = busy;
    }

    /// Returns the number of calls that the message that was [deferred](super::Handled::Deferred) last starts: one, unless it is a
    /// batch.
    pub fn deferred_calls(&self) -> usize {
        self.wanted
    }

    /// Returns whether the server has room for `calls` more calls of this peer.
    #[doc(hidden)]
    pub fn has_places(&self, calls: usize) -> bool {
        let taken = self.places.as_ref();
        taken.is_some_and(|taken| taken.num_permits() >= calls)
            || self.server.calls().has_room(calls, self.busy)
    }

    /// Releases the permits for the next message.
    pub(crate) fn release_call_permits(&mut self) {
        self.places = None;
    }

    /// Takes the places of a message with `calls` calls, unless there are too few; it keeps those that it has already.
    pub(super) fn take_places(&mut self, calls: usize) -> bool {
        let taken = self
            .places
            .as_ref()
            .map_or(0, OwnedSemaphorePermit::num_permits);
        if taken < calls {
            let budget = self.server.calls();
            self.places = match calls {
                1 => budget.take(self.busy),
                _ => budget.take_many(calls),
            };
        }
        taken >= calls || self.places.is_some()
    }

    /// Returns whether one more call may start.
    pub(super) fn has_room(&self) -> bool {
        self.room > 0 && self.has_places(1)
    }

    /// The place of a call that is not ready at once.
    pub(super) fn take_place(&mut self) -> Option<OwnedSemaphorePermit> {
        let taken = self.places.as_mut().filter(|taken| taken.num_permits() > 0);
        let place = taken.and_then(|taken| taken.split(1));
        place.or_else(|| self.server.calls().take(self.busy))
    }
}

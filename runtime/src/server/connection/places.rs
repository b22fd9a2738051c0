//! Room for calls: that of the connection, and that of the server as a whole.

use tokio::sync::OwnedSemaphorePermit;

use super::Connection;

impl Connection {
    /// Sets whether the peer has calls in flight, which keeps it from the places that are reserved for others.
    #[doc(hidden)]
    pub fn set_busy(&mut self, busy: bool) {
        self.busy = busy;
    }

    /// The number of calls in the message that was held last.
    #[doc(hidden)]
    pub fn wanted(&self) -> usize {
        self.wanted
    }

    /// Returns whether the server has room for `calls` more calls of this peer.
    #[doc(hidden)]
    pub fn has_places(&self, calls: usize) -> bool {
        let taken = self.places.as_ref();
        taken.is_some_and(|taken| taken.num_permits() >= calls)
            || self.server.calls().has_room(calls, self.busy)
    }

    /// Sets the places that the calls of the next message take.
    pub(crate) fn set_places(&mut self, places: Option<OwnedSemaphorePermit>) {
        self.places = places;
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

//! Streams on which a server only listens for changes, and the connections that they leave to others.

use std::sync::Arc;

use http::StatusCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits::Limits;
use crate::transport::http::reply::Refusal;

/// Share of the connections, as a divisor, that no listening stream takes.
const RESERVED: usize = 4;

/// Slots for listening streams; without a listener of our own, any number.
#[derive(Clone, Debug, Default)]
pub(super) struct StreamSlots(Option<Arc<Semaphore>>);

/// The slot of one stream, free again when it is dropped.
#[derive(Debug)]
pub(super) struct StreamSlot(
    #[allow(dead_code, reason = "it is held")] Option<OwnedSemaphorePermit>,
);

impl StreamSlots {
    /// As many as `limits` allow, which is never so many that all connections are taken.
    pub(super) fn within(limits: &Limits) -> Self {
        let connections = limits.http.connections.max(1);
        let most = connections - connections / RESERVED;
        let most = limits.http.listen_streams.min(most);
        Self(Some(Arc::new(Semaphore::new(
            most.min(Semaphore::MAX_PERMITS),
        ))))
    }

    /// Takes a slot.
    pub(super) fn take(&self) -> Result<StreamSlot, Refusal> {
        let Some(slots) = &self.0 else {
            return Ok(StreamSlot(None));
        };
        let slot = Arc::clone(slots).try_acquire_owned();
        let slot = slot.map_err(|_| {
            let why = "as many streams listen as there may be";
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, why)
        })?;
        Ok(StreamSlot(Some(slot)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::HttpLimits;

    #[test]
    fn a_quarter_of_the_connections_is_left_to_others() {
        let cases = [
            (1, 768, 1),
            (4, 768, 3),
            (1_024, 768, 768),
            (1_024, 10, 10),
            (1_024, 2_000, 768),
            (1_024, 0, 0),
        ];
        for (connections, listen_streams, most) in cases {
            let limits = Limits::default().http(
                HttpLimits::default()
                    .connections(connections)
                    .listen_streams(listen_streams),
            );
            let slots = StreamSlots::within(&limits);
            let taken: Vec<_> = (0..most).map(|_| slots.take()).collect();
            assert!(taken.iter().all(Result::is_ok), "{connections}");
            assert!(slots.take().is_err(), "{connections}");
            drop(taken);
            assert_eq!(slots.take().is_ok(), most > 0, "{connections}");
        }
    }
}

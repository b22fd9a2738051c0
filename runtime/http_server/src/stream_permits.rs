//! Limit on listening streams: those on which a client only waits for notifications.
//!
//! It reserves a share of the connections for requests.

use std::sync::Arc;

use http::StatusCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use treenail_runtime::Limits;

use crate::response::Rejection;

/// Divisor for the share of connections that is reserved for requests.
const RESERVED: usize = 4;

/// Permits for listening streams. Unlimited unless the service has a listener of its own.
#[derive(Clone, Debug, Default)]
pub(super) struct StreamPermits(Option<Arc<Semaphore>>);

/// Permit of one listening stream, released when it is dropped.
#[derive(Debug)]
pub(super) struct StreamPermit(
    #[allow(dead_code, reason = "held until it is dropped")] Option<OwnedSemaphorePermit>,
);

impl StreamPermits {
    /// Creates as many permits as `limits` allow, minus the reserved share of the connections.
    pub(super) fn new(limits: &Limits) -> Self {
        let connections = limits.http.connections.max(1);
        let unreserved = connections - connections / RESERVED;
        let permits = limits.http.listen_streams.min(unreserved);
        Self(Some(Arc::new(Semaphore::new(
            permits.min(Semaphore::MAX_PERMITS),
        ))))
    }

    pub(super) fn try_acquire(&self) -> Result<StreamPermit, Rejection> {
        let Some(permits) = &self.0 else {
            return Ok(StreamPermit(None));
        };
        let permit = Arc::clone(permits).try_acquire_owned();
        let permit = permit.map_err(|_| {
            let message = "too many listening streams are open";
            Rejection::new(StatusCode::SERVICE_UNAVAILABLE, message)
        })?;
        Ok(StreamPermit(Some(permit)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use treenail_runtime::HttpLimits;

    #[test]
    fn a_quarter_of_the_connections_is_reserved_for_requests() {
        let cases = [
            (1, 768, 1),
            (4, 768, 3),
            (1_024, 768, 768),
            (1_024, 10, 10),
            (1_024, 2_000, 768),
            (1_024, 0, 0),
        ];
        for (connections, listen_streams, expected) in cases {
            let limits = Limits::default().http(
                HttpLimits::default()
                    .connections(connections)
                    .listen_streams(listen_streams),
            );
            let permits = StreamPermits::new(&limits);
            let acquired: Vec<_> = (0..expected).map(|_| permits.try_acquire()).collect();
            assert!(acquired.iter().all(Result::is_ok), "{connections}");
            assert!(permits.try_acquire().is_err(), "{connections}");
            drop(acquired);
            assert_eq!(permits.try_acquire().is_ok(), expected > 0, "{connections}");
        }
    }
}

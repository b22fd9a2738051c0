//! Bounds of a series of requests.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use crate::AuthError;

/// Maximum duration of one request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum duration of a discovery.
const DISCOVERY_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum number of requests of a discovery, with redirects.
const DISCOVERY_REQUESTS: u32 = 16;

/// Bounds of a series of requests that belong together.
#[derive(Debug)]
pub(crate) struct Budget {
    requests: AtomicU32,
    end: Instant,
}

impl Budget {
    /// Returns the bounds of one discovery: 16 requests and 30 s.
    pub(crate) fn discovery() -> Self {
        Self {
            requests: AtomicU32::new(DISCOVERY_REQUESTS),
            end: Instant::now() + DISCOVERY_TIMEOUT,
        }
    }

    /// Returns the bounds of a single request: 10 s, and its redirects.
    pub(crate) fn request() -> Self {
        Self {
            requests: AtomicU32::new(DISCOVERY_REQUESTS),
            end: Instant::now() + REQUEST_TIMEOUT,
        }
    }

    /// Counts a request, and returns its latest end.
    ///
    /// # Errors
    ///
    /// [`AuthError::Unavailable`] if a bound is exceeded.
    pub(super) fn take(&self) -> Result<Instant, AuthError> {
        let now = Instant::now();
        let taken = self
            .requests
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            });
        if taken.is_err() {
            let reason = format!("the discovery needs more than {DISCOVERY_REQUESTS} requests");
            return Err(AuthError::Unavailable(reason.into()));
        }
        if now >= self.end {
            let seconds = DISCOVERY_TIMEOUT.as_secs();
            let reason = format!("the discovery takes longer than {seconds} s");
            return Err(AuthError::Unavailable(reason.into()));
        }
        Ok(self.end.min(now + REQUEST_TIMEOUT))
    }
}

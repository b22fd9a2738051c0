//! Delays between attempts while the store fails.

use std::time::Duration;

use tokio::time::Instant;
use treenail_runtime::internal::Backoff;

/// Backoff after failures of the store.
pub(crate) const BACKOFF: Backoff = Backoff {
    initial: Duration::from_millis(50),
    max: Duration::from_secs(2),
};

/// Attempts to store one change, until a time.
#[derive(Default)]
pub(crate) struct StoreRetry {
    failures: u32,
}

impl StoreRetry {
    /// Returns the delay after a failure, unless the next attempt would start at `end` or later.
    pub(crate) fn next_delay(&mut self, end: Instant) -> Option<Duration> {
        self.failures = self.failures.saturating_add(1);
        let delay = BACKOFF.delay(self.failures);
        (Instant::now() + delay < end).then_some(delay)
    }
}

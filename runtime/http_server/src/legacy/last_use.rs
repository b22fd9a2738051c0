//! Time of the last use of a session.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// Time of the last use of a session: of a request, or of the end of a call or a stream.
///
/// The end of a call or a stream is recorded before it is removed from its table. A reader that finds neither then sees their
/// end.
#[derive(Debug)]
pub(super) struct LastUse {
    start: Instant,
    /// Nanoseconds since `start`.
    elapsed: AtomicU64,
}

impl LastUse {
    /// Creates it with a use now.
    pub(super) fn now() -> Arc<Self> {
        Arc::new(Self {
            start: Instant::now(),
            elapsed: AtomicU64::new(0),
        })
    }

    /// Records a use now.
    pub(super) fn touch(&self) {
        let elapsed = u64::try_from(self.start.elapsed().as_nanos());
        let elapsed = elapsed.unwrap_or(u64::MAX);
        self.elapsed.store(elapsed, Ordering::Relaxed);
    }

    pub(super) fn time(&self) -> Instant {
        self.start + Duration::from_nanos(self.elapsed.load(Ordering::Relaxed))
    }
}

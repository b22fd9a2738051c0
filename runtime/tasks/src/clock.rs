//! Clock of the computer. Tests can shift that of their process.

#[cfg(feature = "test-tasks")]
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::UNIX_EPOCH;

use treenail_runtime::internal::system_time;

/// Milliseconds by which the clock of this process is ahead.
#[cfg(feature = "test-tasks")]
static AHEAD_MS: AtomicI64 = AtomicI64::new(0);

/// Returns the time in milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    let now = system_time().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, crate::record::time::to_ms);
    #[cfg(feature = "test-tasks")]
    let now = now.saturating_add_signed(AHEAD_MS.load(Ordering::Relaxed));
    now
}

/// Makes the clock of this process differ from that of the computer, for all of its tasks and stores.
#[cfg(feature = "test-tasks")]
pub(crate) fn shift(ahead_ms: i64) {
    AHEAD_MS.store(ahead_ms, Ordering::Relaxed);
}

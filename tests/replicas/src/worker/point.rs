//! Points at which the process can be killed.

use std::env;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Signal, getpid, kill_process};

/// Number of the point at which the process is killed. Zero is none.
static KILL_AT: LazyLock<u64> = LazyLock::new(|| {
    let number = env::var("KILL_AT").ok();
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
});
static PASSED: AtomicU64 = AtomicU64::new(0);

/// Kills the process if this is the chosen point.
pub(crate) fn pass() {
    if PASSED.fetch_add(1, Ordering::SeqCst) + 1 == *KILL_AT {
        // An error would show as a process that lives on, and fail the test.
        let _ = kill_process(getpid(), Signal::KILL);
    }
}

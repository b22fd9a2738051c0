//! Points at which the process can be killed or stopped.

use std::env;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Number of the point at which the process is killed. Zero is none.
static KILL_AT: LazyLock<u64> = LazyLock::new(|| number("KILL_AT"));
/// Number of the first point at which the process can stop. Zero is none.
static STOP_AT: LazyLock<u64> = LazyLock::new(|| number("STOP_AT"));
static PASSED: AtomicU64 = AtomicU64::new(0);
static HAS_STOPPED: AtomicBool = AtomicBool::new(false);
/// Number of changes that a store is making. It may hold a lock that other processes need.
static CHANGES: AtomicU64 = AtomicU64::new(0);

fn number(variable: &str) -> u64 {
    let number = env::var(variable).ok();
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Kills or stops the process if this is the chosen point. A stopped one continues here.
pub(crate) fn pass() {
    let point = PASSED.fetch_add(1, Ordering::SeqCst) + 1;
    if point == *KILL_AT {
        signal::kill();
    }
    let can_stop = *STOP_AT > 0 && point >= *STOP_AT && CHANGES.load(Ordering::SeqCst) == 0;
    if can_stop && !HAS_STOPPED.swap(true, Ordering::SeqCst) {
        signal::stop();
    }
}

/// Signals to this process. An error would show as a process that lives on, and fail the test.
#[cfg(unix)]
mod signal {
    use rustix::process::{Signal, getpid, kill_process};

    pub(super) fn kill() {
        let _ = kill_process(getpid(), Signal::KILL);
    }

    pub(super) fn stop() {
        let _ = kill_process(getpid(), Signal::STOP);
    }
}

/// The tests need signals, so they run on Unix only.
#[cfg(not(unix))]
mod signal {
    pub(super) fn kill() {}

    pub(super) fn stop() {}
}

/// Change of a store, until it is dropped.
pub(crate) struct Changing(());

impl Changing {
    pub(crate) fn begin() -> Self {
        CHANGES.fetch_add(1, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for Changing {
    fn drop(&mut self) {
        CHANGES.fetch_sub(1, Ordering::SeqCst);
    }
}

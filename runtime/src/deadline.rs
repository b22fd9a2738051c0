//! Instants in the future, for durations of any length, and their timers.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::task::coop::{has_budget_remaining, unconstrained};
use tokio::time::{Instant, Sleep};

/// Some thirty years: longer than any process runs, and within the range of every clock.
pub const NEVER: Duration = Duration::from_secs(60 * 60 * 24 * 365 * 30);

/// Returns the instant at which `duration`, counted from now, is over.
///
/// `Instant + Duration` panics on overflow, which a limit such as [`Duration::MAX`] causes. Such an instant is never reached
/// instead.
pub fn after(duration: Duration) -> Instant {
    from(Instant::now(), duration)
}

/// As [`after`], counted from `start`.
pub fn from(start: Instant, duration: Duration) -> Instant {
    start + duration.min(NEVER)
}

/// Polls a timer outside of the cooperative budget of the task. Work that uses up the budget in each poll would otherwise delay a
/// timer that is polled after it for good.
#[inline]
pub fn poll_timer(timer: Pin<&mut Sleep>, context: &mut Context<'_>) -> Poll<()> {
    if has_budget_remaining() {
        timer.poll(context)
    } else {
        pin!(unconstrained(timer)).poll(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_duration_is_a_late_deadline() {
        let start = Instant::now();
        assert_eq!(from(start, Duration::MAX), start + NEVER);
        assert_eq!(from(start, Duration::ZERO), start);
        let second = Duration::from_secs(1);
        assert_eq!(from(start, second), start + second);
    }
}

//! Suspensions of the computer: its clock continues meanwhile, and the timers that renew leases do not.

use std::time::Duration;

use tokio::time::Instant;
use treenail_runtime::internal::deadline;

use crate::clock;
use crate::record::time::to_ms;

/// Leases that have ended by the clock of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leases {
    /// Their runs have ended too, or have lost their tasks.
    Ended,
    /// A suspension may have ended them, and their runs have not had the time to renew them.
    Unknown,
}

/// Detector of suspensions. A clock that is set ahead looks the same.
#[derive(Debug)]
pub(crate) struct Suspensions {
    lease: Duration,
    start: Instant,
    /// Least time by which the clock was ahead of the timers since the last suspension, in milliseconds.
    ahead_ms: i64,
    /// End of the time in which runs renew their leases after the last suspension.
    renewed: Option<Instant>,
}

impl Suspensions {
    /// Starts the detection, for tasks with this lease.
    pub(crate) fn new(lease: Duration) -> Self {
        Self::starting(lease, Instant::now(), clock::now_ms())
    }

    fn starting(lease: Duration, start: Instant, now_ms: u64) -> Self {
        Self {
            lease,
            start,
            ahead_ms: signed(now_ms),
            renewed: None,
        }
    }

    /// Compares the clocks, and returns the state of leases that have ended.
    pub(crate) fn check(&mut self) -> Leases {
        self.check_at(Instant::now(), clock::now_ms())
    }

    fn check_at(&mut self, now: Instant, now_ms: u64) -> Leases {
        let elapsed = now.saturating_duration_since(self.start);
        let ahead_ms = signed(now_ms).saturating_sub(signed(to_ms(elapsed)));
        // A run renews its lease after a third of it. A gain of another third does not end it.
        let tolerated = signed(to_ms(self.lease / 3));
        if ahead_ms.saturating_sub(self.ahead_ms) > tolerated {
            tracing::info!(
                "the clock has jumped ahead, as after a suspension; tasks are not taken over for the time of a lease"
            );
            self.renewed = Some(deadline::from(now, self.lease));
            self.ahead_ms = ahead_ms;
        }
        self.ahead_ms = self.ahead_ms.min(ahead_ms);
        match self.renewed {
            Some(renewed) if now < renewed => Leases::Unknown,
            _ => Leases::Ended,
        }
    }
}

fn signed(ms: u64) -> i64 {
    i64::try_from(ms).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: u64 = 30_000;

    /// Checks at times of the timers, with times of the clock. All are in milliseconds.
    fn check(times: &[(u64, i64)]) -> Vec<Leases> {
        let (start, now_ms) = (Instant::now(), 1_000_000_u64);
        let mut suspensions = Suspensions::starting(Duration::from_millis(LEASE), start, now_ms);
        let times = times.iter().map(|(timers, clock)| {
            let now = start + Duration::from_millis(*timers);
            suspensions.check_at(now, now_ms.saturating_add_signed(*clock))
        });
        times.collect()
    }

    #[test]
    fn a_suspension_leaves_the_time_of_a_lease_for_renewals() {
        use Leases::{Ended, Unknown};

        let cases: [(&[_], &[_]); 6] = [
            // Both clocks advance.
            (&[(0, 0), (10_000, 10_000)], &[Ended, Ended]),
            // A suspension, also before the first check.
            (
                &[(1_000, 600_000), (30_999, 629_999), (31_000, 630_000)],
                &[Unknown, Unknown, Ended],
            ),
            // One that ends no lease.
            (&[(1_000, 11_000), (2_000, 12_000)], &[Ended, Ended]),
            // Several of them end one together.
            (
                &[(1_000, 7_000), (2_000, 14_000), (40_000, 52_000)],
                &[Ended, Unknown, Ended],
            ),
            // The clock is set back, and later ahead.
            (
                &[(1_000, -600_000), (2_000, -599_000), (3_000, 3_000)],
                &[Ended, Ended, Unknown],
            ),
            // A second suspension.
            (
                &[(1_000, 60_000), (20_000, 120_000), (49_999, 149_999)],
                &[Unknown, Unknown, Unknown],
            ),
        ];
        for (times, expected) in cases {
            assert_eq!(check(times), expected, "{times:?}");
        }
    }
}

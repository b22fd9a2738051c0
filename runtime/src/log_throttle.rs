//! Rate limit for warnings that a peer can trigger at will.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Minimum time between two warnings.
const INTERVAL: Duration = Duration::from_secs(60);

/// Allows one warning per interval, so that a flood of messages does not flood the log.
#[derive(Debug, Default)]
pub struct LogThrottle(Mutex<Option<Instant>>);

impl LogThrottle {
    /// Returns true if the warning may be logged now, and starts the next interval in that case.
    pub fn is_due(&self) -> bool {
        self.is_due_at(Instant::now())
    }

    fn is_due_at(&self, now: Instant) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let due = last.is_none_or(|last| now.saturating_duration_since(last) >= INTERVAL);
        if due {
            *last = Some(now);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_not_repeated_within_the_interval() {
        let (throttle, now) = (LogThrottle::default(), Instant::now());
        let after = |time: Duration| throttle.is_due_at(now + time);
        assert!(after(Duration::ZERO));
        assert!(!after(INTERVAL / 2));
        assert!(after(INTERVAL));
        assert!(!after(INTERVAL));
    }
}

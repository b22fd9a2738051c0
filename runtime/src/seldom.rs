//! Rate limit for warnings that a peer can trigger at will.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a warning is not repeated.
const PAUSE: Duration = Duration::from_secs(60);

/// Lets a warning through, and then none for a while: a flood of messages must not flood the log.
#[derive(Debug, Default)]
pub(crate) struct Seldom(Mutex<Option<Instant>>);

impl Seldom {
    /// Whether it is time for the warning.
    pub(crate) fn is_due(&self) -> bool {
        self.is_due_at(Instant::now())
    }

    fn is_due_at(&self, now: Instant) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let due = last.is_none_or(|last| now.saturating_duration_since(last) >= PAUSE);
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
    fn a_warning_is_not_repeated_at_once() {
        let (seldom, now) = (Seldom::default(), Instant::now());
        let after = |time: Duration| seldom.is_due_at(now + time);
        assert!(after(Duration::ZERO));
        assert!(!after(PAUSE / 2));
        assert!(after(PAUSE));
        assert!(!after(PAUSE));
    }
}

//! Warnings that clients can bring about as often as they like.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How long a warning is not repeated.
const PAUSE: Duration = Duration::from_secs(60);

/// Lets a warning through, and then none for a while: a flood of requests is not to be one of the log.
#[derive(Debug, Default)]
pub(super) struct Seldom(Mutex<Option<Instant>>);

impl Seldom {
    /// Whether it is time for the warning.
    pub(super) fn is_due(&self) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let due = last.is_none_or(|last| last.elapsed() >= PAUSE);
        if due {
            *last = Some(Instant::now());
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_warning_is_not_repeated_at_once() {
        let seldom = Seldom::default();
        assert!(seldom.is_due());
        assert!(!seldom.is_due());
        tokio::time::advance(PAUSE).await;
        assert!(seldom.is_due());
        assert!(!seldom.is_due());
    }
}

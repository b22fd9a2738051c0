//! Source of the time.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use treenail_runtime::internal::system_time;

/// Source of the time for expiry, caches and proofs: the system, or a time that a test sets. Clones share the time.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use treenail::auth::Clock;
///
/// let clock = Clock::manual(SystemTime::UNIX_EPOCH);
/// clock.advance(Duration::from_secs(60));
/// assert_eq!(clock.now(), SystemTime::UNIX_EPOCH + Duration::from_secs(60));
/// ```
#[derive(Clone, Default)]
#[cfg(any(
    feature = "oauth",
    feature = "authorization",
    feature = "test-authorization"
))]
pub struct Clock(Option<Arc<Mutex<SystemTime>>>);

impl Clock {
    /// Returns the clock of the system. It is the default.
    pub fn system() -> Self {
        Self::default()
    }

    /// Returns a clock that moves only when it is [advanced](Self::advance).
    pub fn manual(start: SystemTime) -> Self {
        Self(Some(Arc::new(Mutex::new(start))))
    }

    /// Returns the time.
    pub fn now(&self) -> SystemTime {
        self.0.as_ref().map_or_else(system_time, |time| {
            *time.lock().unwrap_or_else(PoisonError::into_inner)
        })
    }

    /// Moves a [manual](Self::manual) clock forward. Has no effect on the clock of the system.
    pub fn advance(&self, duration: Duration) {
        if let Some(time) = &self.0 {
            *time.lock().unwrap_or_else(PoisonError::into_inner) += duration;
        }
    }
}

#[cfg(all(test, feature = "authorization", feature = "test-authorization"))]
impl Clock {
    /// Sets a manual clock back, as a correction of the system clock does.
    pub(crate) fn set_back(&self, duration: Duration) {
        if let Some(time) = &self.0 {
            *time.lock().unwrap_or_else(PoisonError::into_inner) -= duration;
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Clock").field(&self.now()).finish()
    }
}

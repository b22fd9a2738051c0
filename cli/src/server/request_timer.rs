//! Timeout of a request, which pauses while the user is prompted and restarts on progress.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// Timer of the request in flight.
#[derive(Debug)]
pub(crate) struct RequestTimer {
    limit: Duration,
    state: Mutex<TimerState>,
}

#[derive(Debug)]
struct TimerState {
    since: Instant,
    /// Number of elicitation requests that wait for the user.
    open_requests: usize,
}

impl RequestTimer {
    pub(crate) fn new(limit: Duration) -> Arc<Self> {
        Arc::new(Self {
            limit,
            state: Mutex::new(TimerState {
                since: Instant::now(),
                open_requests: 0,
            }),
        })
    }

    pub(crate) fn limit(&self) -> Duration {
        self.limit
    }

    /// Restarts the timeout.
    pub(crate) fn restart(&self) {
        self.state().since = Instant::now();
    }

    /// Pauses the timer until the guard is dropped.
    pub(crate) fn pause(self: &Arc<Self>) -> PauseGuard {
        self.state().open_requests += 1;
        PauseGuard(Arc::clone(self))
    }

    /// Returns the function that pauses this timer.
    pub(crate) fn pauser(self: &Arc<Self>) -> PauseTimers {
        let timer = Arc::clone(self);
        PauseTimers::new(move || vec![timer.pause()])
    }

    /// Returns whether the user is being prompted.
    pub(crate) fn is_paused(&self) -> bool {
        self.state().open_requests > 0
    }

    /// Completes when the timeout has expired.
    pub(crate) async fn expired(&self) {
        loop {
            let now = Instant::now();
            let end = {
                let mut state = self.state();
                if state.open_requests > 0 {
                    state.since = now;
                }
                deadline(state.since, self.limit)
            };
            if end <= now {
                return;
            }
            sleep_until(end).await;
        }
    }

    fn state(&self) -> MutexGuard<'_, TimerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the end of the timeout. The limit is capped, because adding a huge duration would overflow.
fn deadline(since: Instant, limit: Duration) -> Instant {
    since + limit.min(super::UNBOUNDED)
}

/// Guard that pauses the timer while it is alive.
#[derive(Debug)]
pub(crate) struct PauseGuard(Arc<RequestTimer>);

impl Drop for PauseGuard {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.open_requests -= 1;
        state.since = Instant::now();
    }
}

/// Function that pauses the timers of the requests in flight.
#[derive(Clone)]
pub(crate) struct PauseTimers(Arc<dyn Fn() -> Vec<PauseGuard> + Send + Sync>);

impl PauseTimers {
    pub(crate) fn new(pause: impl Fn() -> Vec<PauseGuard> + Send + Sync + 'static) -> Self {
        Self(Arc::new(pause))
    }

    /// Pauses the timers until the guards are dropped.
    pub(super) fn pause(&self) -> Vec<PauseGuard> {
        (self.0)()
    }
}

impl fmt::Debug for PauseTimers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PauseTimers")
            .finish_non_exhaustive()
    }
}

//! How long a request may take: the clock stops while somebody is asked, and begins anew with progress.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

#[derive(Debug)]
pub(crate) struct Clock {
    limit: Duration,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    since: Instant,
    /// Questions that wait for somebody.
    questions: usize,
}

impl Clock {
    pub(crate) fn new(limit: Duration) -> Arc<Self> {
        Arc::new(Self {
            limit,
            state: Mutex::new(State {
                since: Instant::now(),
                questions: 0,
            }),
        })
    }

    pub(crate) fn limit(&self) -> Duration {
        self.limit
    }

    /// Begins anew.
    pub(crate) fn restart(&self) {
        self.state().since = Instant::now();
    }

    /// Stops, until what is returned is dropped.
    pub(crate) fn stop(self: &Arc<Self>) -> Stopped {
        self.state().questions += 1;
        Stopped(Arc::clone(self))
    }

    /// Whether somebody is being asked.
    pub(crate) fn is_stopped(&self) -> bool {
        self.state().questions > 0
    }

    /// Ready when the time is over.
    pub(crate) async fn is_over(&self) {
        loop {
            let now = Instant::now();
            let end = {
                let mut state = self.state();
                if state.questions > 0 {
                    state.since = now;
                }
                later(state.since, self.limit)
            };
            if end <= now {
                return;
            }
            sleep_until(end).await;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A time so long that it cannot be told never ends.
fn later(since: Instant, limit: Duration) -> Instant {
    since + limit.min(super::UNBOUNDED)
}

/// The clock stands still as long as this lives.
#[derive(Debug)]
pub(crate) struct Stopped(Arc<Clock>);

impl Drop for Stopped {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.questions -= 1;
        state.since = Instant::now();
    }
}

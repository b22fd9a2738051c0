//! Timeout of a request, which pauses while the user is prompted and restarts on progress.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// Timer of the request in flight.
#[derive(Debug)]
pub(crate) struct RequestTimer {
    limit: Duration,
    restarted: Mutex<Instant>,
    /// Pauses of this timer.
    own: Pauses,
    /// Pauses of all timers of a connection.
    shared: Pauses,
}

impl RequestTimer {
    pub(crate) fn new(limit: Duration) -> Arc<Self> {
        Self::with_pauses(limit, Pauses::default())
    }

    /// Returns a timer that also pauses with others.
    pub(crate) fn with_pauses(limit: Duration, shared: Pauses) -> Arc<Self> {
        Arc::new(Self {
            limit,
            restarted: Mutex::new(Instant::now()),
            own: Pauses::default(),
            shared,
        })
    }

    pub(crate) fn limit(&self) -> Duration {
        self.limit
    }

    /// Restarts the timeout.
    pub(crate) fn restart(&self) {
        *self.restarted() = Instant::now();
    }

    /// Returns the pauses of this timer.
    pub(crate) fn pauses(&self) -> &Pauses {
        &self.own
    }

    /// Returns whether the user is being prompted.
    pub(crate) fn is_paused(&self) -> bool {
        self.own.is_open() || self.shared.is_open()
    }

    /// Completes when the timeout has expired.
    pub(crate) async fn expired(&self) {
        loop {
            let now = Instant::now();
            let since = if self.is_paused() { now } else { self.since() };
            let end = deadline(since, self.limit);
            if end <= now {
                return;
            }
            sleep_until(end).await;
        }
    }

    /// Returns the time at which the timeout has started, or started again.
    fn since(&self) -> Instant {
        let ends = [self.own.last_end(), self.shared.last_end()];
        let restarted = *self.restarted();
        ends.into_iter().flatten().fold(restarted, Instant::max)
    }

    fn restarted(&self) -> MutexGuard<'_, Instant> {
        self.restarted
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the end of the timeout. The limit is capped, because adding a huge duration would overflow.
fn deadline(since: Instant, limit: Duration) -> Instant {
    since + limit.min(super::UNBOUNDED)
}

/// Pauses of one timer or of several, also of those that start during a pause.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pauses(Arc<Mutex<PauseState>>);

#[derive(Debug, Default)]
struct PauseState {
    /// Number of prompts that wait for the user.
    open: usize,
    last_end: Option<Instant>,
}

impl Pauses {
    /// Pauses the timers until the guard is dropped.
    pub(crate) fn pause(&self) -> PauseGuard {
        self.state().open += 1;
        PauseGuard(self.clone())
    }

    fn is_open(&self) -> bool {
        self.state().open > 0
    }

    fn last_end(&self) -> Option<Instant> {
        self.state().last_end
    }

    fn state(&self) -> MutexGuard<'_, PauseState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Guard that pauses timers while it is alive.
#[derive(Debug)]
pub(crate) struct PauseGuard(Pauses);

impl Drop for PauseGuard {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.open -= 1;
        state.last_end = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_timer_pauses_with_others_that_started_before() {
        let shared = Pauses::default();
        let pause = shared.pause();
        let timer = RequestTimer::with_pauses(Duration::from_secs(10), shared.clone());
        let mut expired = std::pin::pin!(timer.expired());
        let waited = tokio::time::timeout(Duration::from_secs(300), &mut expired);
        assert!(waited.await.is_err(), "it expired during a pause");
        assert!(timer.is_paused());
        drop(pause);
        let resumed = Instant::now();
        expired.await;
        assert_eq!(resumed.elapsed(), Duration::from_secs(10));
    }

    #[tokio::test(start_paused = true)]
    async fn a_timer_starts_again_while_it_runs() {
        let timer = RequestTimer::new(Duration::from_secs(10));
        let mut expired = std::pin::pin!(timer.expired());
        for _ in 0..5 {
            let waited = tokio::time::timeout(Duration::from_secs(9), &mut expired);
            assert!(waited.await.is_err(), "it was not restarted");
            timer.restart();
        }
        let restarted = Instant::now();
        expired.await;
        assert_eq!(restarted.elapsed(), Duration::from_secs(10));
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_of_one_timer_is_none_of_others() {
        let limit = Duration::from_secs(10);
        let shared = Pauses::default();
        let paused = RequestTimer::with_pauses(limit, shared.clone());
        let other = RequestTimer::with_pauses(limit, shared);
        let _pause = paused.pauses().pause();
        assert!(paused.is_paused() && !other.is_paused());
        let start = Instant::now();
        other.expired().await;
        assert_eq!(start.elapsed(), limit);
    }
}

//! Throttle for the event that everything may have changed.
//!
//! That event is expensive: every subscriber reloads everything it subscribed to.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use crate::deadline;
use crate::server::subscriptions::{Event, Hub};

/// Forwards [`Event::Resync`] to a hub: the first one immediately, later ones at most once per interval.
#[derive(Debug)]
pub(super) struct Refresh {
    hub: Arc<Hub>,
    interval: Duration,
    state: Mutex<State>,
    delayed: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// Earliest time for the next event.
    next: Option<Instant>,
    /// An event is delayed until then.
    pending: bool,
}

impl Refresh {
    pub(super) fn new(hub: Arc<Hub>, interval: Duration) -> Self {
        Self {
            hub,
            interval,
            state: Mutex::default(),
            delayed: Notify::new(),
        }
    }

    /// Forwards the event, now or at the end of the interval.
    #[inline]
    pub(super) fn notify(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.next.is_some_and(|next| Instant::now() < next) {
            state.pending = true;
            self.delayed.notify_one();
            return;
        }
        *state = State {
            next: Some(deadline::after(self.interval)),
            pending: false,
        };
        drop(state);
        self.hub.notify_local(&Event::Resync);
    }

    /// Forwards each delayed event at the end of its interval. Never completes.
    pub(super) async fn run(&self) {
        loop {
            match self.next_due() {
                Some(due) => {
                    sleep_until(due).await;
                    self.notify();
                }
                None => self.delayed.notified().await,
            }
        }
    }

    /// Returns the time at which the delayed event is due, if there is one.
    fn next_due(&self) -> Option<Instant> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.next.filter(|_| state.pending)
    }
}

//! Throttle for the event that anything may have changed, which is expensive: all listeners read all that they listen to again.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use crate::deadline;
use crate::server::subscriptions::{Event, Hub};

/// Passes [`Event::Resync`] on to a hub, at once and then no more often than once in an interval.
#[derive(Debug)]
pub(super) struct Refresh {
    hub: Arc<Hub>,
    interval: Duration,
    state: Mutex<State>,
    delayed: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// When the next event may be passed on.
    next: Option<Instant>,
    /// Whether an event waits for that.
    waiting: bool,
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

    /// Passes the event on, now or at the end of the interval.
    pub(super) fn tell(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.next.is_some_and(|next| Instant::now() < next) {
            state.waiting = true;
            self.delayed.notify_one();
            return;
        }
        *state = State {
            next: Some(deadline::after(self.interval)),
            waiting: false,
        };
        drop(state);
        self.hub.notify_local(&Event::Resync);
    }

    /// Passes on what waits, whenever its time has come. It never ends.
    pub(super) async fn run(&self) {
        loop {
            match self.due() {
                Some(due) => {
                    sleep_until(due).await;
                    self.tell();
                }
                None => self.delayed.notified().await,
            }
        }
    }

    /// When the event that waits, if there is one, is to be passed on.
    fn due(&self) -> Option<Instant> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.next.filter(|_| state.waiting)
    }
}

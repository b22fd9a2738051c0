//! Times at which a client renews its state after a gap of the connection, or after a change of a list.

use std::future::pending;
use std::time::Duration;

use tokio::time::Instant;

use crate::client::cache::background::BACKOFF;

/// Next renewal: of the subscriptions of a stream, or of the lists.
pub(super) struct Renewal {
    /// Renewals in a row, none of which has lasted.
    count: u32,
    at: Option<Instant>,
    /// Time of the last renewal.
    since: Instant,
}

impl Renewal {
    pub(super) fn new() -> Self {
        Self {
            count: 0,
            at: None,
            since: Instant::now(),
        }
    }

    /// Plans a renewal after a gap or a change: at once, or with a delay if the last one was shortly before.
    pub(super) fn plan(&mut self) {
        if self.at.is_some() {
            return;
        }
        if self.since.elapsed() >= BACKOFF.max {
            self.count = 0;
        }
        let delay = match self.count {
            0 => Duration::ZERO,
            count => BACKOFF.jittered_delay(count),
        };
        self.count = self.count.saturating_add(1);
        self.at = Some(Instant::now() + delay);
    }

    /// Plans the next attempt.
    pub(super) fn note_failure(&mut self) {
        self.count = self.count.saturating_add(1);
        self.at = Some(Instant::now() + BACKOFF.jittered_delay(self.count));
    }

    pub(super) fn note_success(&mut self) {
        self.at = None;
        self.since = Instant::now();
    }

    pub(super) fn is_due(&self) -> bool {
        self.at.is_some_and(|at| at <= Instant::now())
    }

    /// Waits for the planned renewal; forever if there is none.
    pub(super) async fn wait(&self) {
        match self.at {
            Some(at) => tokio::time::sleep_until(at).await,
            None => pending().await,
        }
    }
}

//! Deadline of a request.

use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};
use treenail_runtime::internal::deadline::{from as after, poll_timer};

use crate::limits::ProxyLimits;

/// Reason for a pause of a deadline.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pause {
    /// A client is asked.
    Question,
    /// The credentials of the request are obtained, perhaps by a user who signs in.
    SignIn,
}

/// Deadline of a request, which progress restarts. It pauses while there is a reason.
pub(crate) struct Deadline {
    timeout: Duration,
    /// Latest end.
    latest: Instant,
    /// Start, later by all pauses.
    started: Instant,
    sleep: Pin<Box<Sleep>>,
    paused: Option<Instant>,
    /// Reasons of the pause, by their number.
    reasons: [bool; 2],
}

impl Deadline {
    pub(crate) fn start(limits: &ProxyLimits) -> Self {
        let started = Instant::now();
        let latest = after(started, limits.call_duration.max(limits.call_timeout));
        let next = after(started, limits.call_timeout);
        Self {
            timeout: limits.call_timeout,
            latest,
            started,
            sleep: Box::pin(sleep_until(next)),
            paused: None,
            reasons: [false; 2],
        }
    }

    /// Starts the timeout again. A pause does not end.
    pub(crate) fn restart(&mut self) {
        let is_paused = self.paused.is_some();
        // A pause counts only from now on.
        self.end_pause();
        let next = after(Instant::now(), self.timeout).min(self.latest);
        self.sleep.as_mut().reset(next);
        if is_paused {
            self.start_pause();
        }
    }

    /// Adds or removes a reason for a pause. Setting it twice has no further effect.
    pub(crate) fn set_paused(&mut self, reason: Pause, is_set: bool) {
        self.reasons[reason as usize] = is_set;
        if self.reasons.contains(&true) {
            self.start_pause();
        } else {
            self.end_pause();
        }
    }

    fn start_pause(&mut self) {
        self.paused.get_or_insert_with(Instant::now);
    }

    fn end_pause(&mut self) {
        if let Some(paused) = self.paused.take() {
            let pause = paused.elapsed();
            self.started = after(self.started, pause);
            self.latest = after(self.latest, pause);
            let next = after(self.sleep.deadline(), pause);
            self.sleep.as_mut().reset(next);
        }
    }

    /// Returns true after the latest end, which progress does not defer.
    pub(crate) fn is_over(&self) -> bool {
        self.paused.is_none() && Instant::now() >= self.latest
    }

    pub(crate) fn poll(&mut self, task: &mut TaskContext<'_>) -> Poll<()> {
        if self.paused.is_some() {
            return Poll::Pending;
        }
        poll_timer(self.sleep.as_mut(), task)
    }

    /// Returns the time since the start, without pauses.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

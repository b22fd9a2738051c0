//! Times of the polls of one task.

use std::time::Duration;

use tokio::time::Instant;
use treenail_runtime::client::TaskWaitLimits;
use treenail_runtime::internal::deadline;

use crate::client::snapshot::TaskUpdate;

/// Failed polls delay the next one by as many intervals, up to this number.
const MAX_DELAY: u32 = 8;

/// Times of the polls of one task, and the end of waiting for it.
#[derive(Debug)]
pub(super) struct Schedule {
    limits: TaskWaitLimits,
    /// Creation of the task, as far as this process knows it.
    created: Instant,
    /// Start of the observation.
    started: Instant,
    ttl: Option<Duration>,
    interval: Option<Duration>,
    /// The last state or attempt.
    last: Instant,
    /// The first failure after the last state.
    failing_since: Option<Instant>,
    failures: u32,
    /// True if the server pushes all changes, and a poll has closed the gap before the subscription.
    is_pushed: bool,
}

impl Schedule {
    /// Starts with a task that has existed for `age`.
    pub(super) fn new(limits: TaskWaitLimits, age: Duration) -> Self {
        let now = Instant::now();
        Self {
            limits,
            created: now.checked_sub(age).unwrap_or(now),
            started: now,
            ttl: None,
            interval: None,
            last: now,
            failing_since: None,
            failures: 0,
            is_pushed: false,
        }
    }

    /// Notes the start of the observation.
    pub(super) fn start(&mut self) {
        self.started = Instant::now();
    }

    /// Notes a state of the task.
    pub(super) fn note_update(&mut self, update: &TaskUpdate) {
        self.ttl = update.ttl;
        self.interval = update.poll_interval;
        self.last = Instant::now();
        self.failing_since = None;
        self.failures = 0;
    }

    /// Notes a failed poll. Returns false if the server has been out of reach for too long.
    pub(super) fn note_failure(&mut self) -> bool {
        self.last = Instant::now();
        self.failures = (self.failures + 1).min(MAX_DELAY);
        let since = *self.failing_since.get_or_insert(self.last);
        since.elapsed() < self.limits.unreachable_timeout
    }

    /// Sets whether the server pushes changes that no poll needs to find.
    pub(super) fn set_pushed(&mut self, is_pushed: bool) {
        self.is_pushed = is_pushed;
    }

    /// Returns the time of the next poll, at the latest the end of waiting.
    pub(super) fn next_poll(&self) -> Instant {
        let limits = &self.limits;
        let asked = self.interval.unwrap_or(limits.poll_interval);
        let mut interval = asked.max(limits.min_poll_interval);
        if self.is_pushed {
            interval = interval.max(limits.pushed_poll_interval);
        }
        interval = interval.saturating_mul(self.failures + 1);
        deadline::from(self.last, interval.min(limits.max_poll_interval)).min(self.end())
    }

    /// Returns the end of waiting: that of the TTL, or of the longest wait from the start of the observation on.
    pub(super) fn end(&self) -> Instant {
        let end = deadline::from(self.started, self.limits.max_wait);
        self.end_of_ttl().map_or(end, |ttl| ttl.min(end))
    }

    /// Returns the time that ends with [`end`](Self::end): the TTL, or the longest wait.
    pub(super) fn longest(&self) -> Duration {
        let is_ttl = self.end_of_ttl().is_some_and(|end| end <= self.end());
        let ttl = self.ttl.filter(|_| is_ttl);
        ttl.unwrap_or(self.limits.max_wait)
    }

    fn end_of_ttl(&self) -> Option<Instant> {
        Some(deadline::from(self.created, self.ttl?))
    }
}

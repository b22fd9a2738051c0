//! Tasks in the background of a client, and the delay of their retries.

use std::time::Duration;

use tokio::task::AbortHandle;

use crate::retry::Backoff;

/// Backoff before a subscription is opened again.
pub(super) const BACKOFF: Backoff = Backoff {
    initial: Duration::from_millis(500),
    max: Duration::from_secs(32),
};

/// Running tasks, aborted on drop.
#[derive(Debug)]
pub(super) struct Watcher(Vec<AbortHandle>);

impl Watcher {
    pub(super) fn new(tasks: Vec<AbortHandle>) -> Self {
        Self(tasks)
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        for task in &self.0 {
            task.abort();
        }
    }
}

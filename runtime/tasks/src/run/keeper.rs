//! Keeper of a run: it renews the lease, looks for changes by other processes, and stores messages.

use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout_at};
use treenail_runtime::RpcError;
use treenail_runtime::internal::deadline;

use super::change::NotStored;
use super::{Pending, Run, Stop};
use crate::record::Record;

/// Least intervals, so that no setting makes a busy loop.
const LEAST: Duration = Duration::from_millis(100);

impl Run {
    /// Watches over the run until it has to stop.
    pub(super) async fn watch_over(&self) -> Stop {
        let limits = &self.engine.limits;
        let record = self.record();
        let deadline = deadline::after(record.time_left(self.key.created_ms));
        let renewal = (limits.lease / 3).max(LEAST);
        let interval = limits.watch_interval.max(LEAST);
        let (mut renew, mut look) = (deadline::after(renewal), deadline::after(interval));
        let mut next_message = Instant::now();
        loop {
            if let Some(stop) = self.stopped() {
                return stop;
            }
            let now = Instant::now();
            if now >= deadline {
                return Stop::TimedOut;
            }
            if now >= self.lease_end() {
                tracing::error!(id = ?self.key.id, "the lease of a task could not be renewed");
                return Stop::Lost;
            }
            if let Some(pending) = self.take_pending(now >= next_message) {
                let stored = self.keep(|record| pending.apply(record)).await;
                next_message = deadline::after(limits.message_interval.max(LEAST));
                if stored {
                    renew = deadline::after(renewal);
                } else {
                    self.put_back(pending);
                }
                continue;
            }
            if now >= renew {
                // Any change renews the lease.
                let stored = self.keep(|_| true).await;
                renew = deadline::after(if stored { renewal } else { LEAST });
                continue;
            }
            if now >= look {
                self.look().await;
                look = deadline::after(interval);
                continue;
            }
            let message = self.pending().message.is_some();
            let next = if message { next_message } else { look };
            let until = next
                .min(look)
                .min(renew)
                .min(deadline)
                .min(self.lease_end());
            self.rest(until).await;
        }
    }

    /// Waits until a time, or until it is woken.
    async fn rest(&self, until: Instant) {
        // Either outcome continues the loop.
        let _ = timeout_at(until, self.wake.notified()).await;
    }

    /// Stores a change of the keeper. Returns `false` if it has to be repeated.
    async fn keep(&self, edit: impl Fn(&mut Record) -> bool + Send + Sync) -> bool {
        let mut edit = |record: &mut Record| Ok::<_, RpcError>(edit(record));
        let Err(NotStored::Store(error)) = self.change(&mut edit).await else {
            return true;
        };
        let id = &self.key.id;
        tracing::warn!(?id, %error, "the lease of a task could not be renewed; trying again");
        let soon = Instant::now() + LEAST;
        sleep_until(soon.min(self.lease_end())).await;
        false
    }

    /// Looks for answers and cancellations that other processes have stored.
    async fn look(&self) {
        if let Err(NotStored::Store(error)) = self.refresh().await {
            tracing::warn!(id = ?self.key.id, %error, "a running task could not be read");
        }
    }

    /// Takes the changes that wait for the keeper, if there are any: messages only if it is time for one.
    fn take_pending(&self, message: bool) -> Option<Pending> {
        let mut pending = self.pending();
        let taken = Pending {
            message: pending.message.take_if(|_| message),
            withdrawn: std::mem::take(&mut pending.withdrawn),
        };
        let any = taken.message.is_some() || !taken.withdrawn.is_empty();
        any.then_some(taken)
    }

    /// Puts changes back that could not be stored. A newer message stays.
    fn put_back(&self, taken: Pending) {
        let mut pending = self.pending();
        pending.withdrawn.extend(taken.withdrawn);
        if pending.message.is_none() {
            pending.message = taken.message;
        }
    }
}

impl Pending {
    fn apply(&self, record: &mut Record) -> bool {
        let mut changed = false;
        for key in &self.withdrawn {
            changed |= record.withdraw(key);
        }
        if self.message.is_some() && record.message != self.message {
            record.message.clone_from(&self.message);
            record.touch();
            changed = true;
        }
        changed
    }
}

//! Keeper of a run: it renews the lease, looks for changes by other processes, and stores messages.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};
use treenail_runtime::RpcError;
use treenail_runtime::internal::deadline;

use super::change::NotStored;
use super::{BACKOFF, Pending, Run, Stop};
use crate::record::Record;

/// Least interval between two changes, so that no setting makes a busy loop.
const LEAST: Duration = Duration::from_millis(100);

impl Run {
    /// Watches over the run until it has to stop.
    pub(super) async fn watch_over(&self) -> Stop {
        let (mut ending, mut keeping) = (pin!(self.ending()), pin!(self.keep()));
        poll_fn(|context| {
            // The end does not wait for the store.
            let ended = ending.as_mut().poll(context);
            if ended.is_pending() {
                let _: Poll<Infallible> = keeping.as_mut().poll(context);
            }
            ended
        })
        .await
    }

    /// Waits until the run has to stop.
    async fn ending(&self) -> Stop {
        let deadline = deadline::after(self.record().time_left(self.key.created_ms));
        let mut stopped = self.stopped.subscribe();
        loop {
            if let Some(stop) = *stopped.borrow_and_update() {
                return stop;
            }
            let (now, lease_end) = (Instant::now(), self.lease().end);
            if now >= deadline {
                return Stop::TimedOut;
            }
            if now >= lease_end {
                tracing::error!(id = ?self.key.id, "the lease of a task could not be renewed");
                return Stop::Lost;
            }
            // Either outcome continues the loop.
            let _ = timeout_at(deadline.min(lease_end), stopped.changed()).await;
        }
    }

    /// Renews the lease, looks for changes, and stores messages.
    async fn keep(&self) -> Infallible {
        let limits = &self.engine.limits;
        let interval = limits.watch_interval;
        let mut look = deadline::after(interval);
        let mut next_message = Instant::now();
        let (mut failures, mut lease_end) = (0, self.lease().end);
        loop {
            let (now, lease) = (Instant::now(), self.lease());
            if lease.end != lease_end {
                // A change was stored, by the keeper or by the function.
                (failures, lease_end) = (0, lease.end);
            }
            if let Some(pending) = self.take_pending(now >= next_message) {
                let mut taken = Taken { run: self, pending };
                let change = |record: &mut Record| taken.pending.apply(record);
                if self.try_change(change, &mut failures).await {
                    taken.pending = Pending::default();
                }
                next_message = deadline::after(limits.message_interval.max(LEAST));
            } else if now >= lease.renewal {
                // Any change renews the lease.
                self.try_change(|_| true, &mut failures).await;
            } else if now >= look {
                self.look().await;
                look = deadline::after(interval);
            } else {
                let message = self.pending().message.is_some();
                let next = if message {
                    next_message.min(look)
                } else {
                    look
                };
                // Either outcome continues the loop.
                let _ = timeout_at(next.min(lease.renewal), self.wake.notified()).await;
            }
        }
    }

    /// Stores a change of the keeper. Returns `false`, after a while, if it has to be repeated. Attempts are more frequent before the
    /// end of the lease: an outage may end in time.
    async fn try_change(
        &self,
        edit: impl Fn(&mut Record) -> bool + Send + Sync,
        failures: &mut u32,
    ) -> bool {
        let mut edit = |record: &mut Record| Ok::<_, RpcError>(edit(record));
        let Err(problem) = self.change(&mut edit).await else {
            return true;
        };
        if !matches!(problem, NotStored::Stopped) && self.engine.store_failing.is_due() {
            let id = &self.key.id;
            tracing::warn!(?id, %problem, "the lease of a task could not be renewed; trying again");
        }
        *failures = failures.saturating_add(1);
        let left = self.lease().end.duration_since(Instant::now());
        let delay = BACKOFF.delay(*failures).min(left / 2).max(LEAST);
        sleep(delay).await;
        false
    }

    /// Looks for answers and cancellations that other processes have stored.
    async fn look(&self) {
        if let Err(NotStored::Store(error)) = self.refresh().await {
            if self.engine.store_failing.is_due() {
                tracing::warn!(id = ?self.key.id, %error, "a running task could not be read");
            }
        }
    }

    /// Takes the changes that wait for the keeper, if there are any: messages only if it is time for one.
    pub(super) fn take_pending(&self, message: bool) -> Option<Pending> {
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

/// Changes that are being stored. If this is dropped before, they are put back.
struct Taken<'a> {
    run: &'a Run,
    pending: Pending,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.run.put_back(std::mem::take(&mut self.pending));
    }
}

impl Pending {
    /// Applies the changes. Returns `false` if there were none.
    pub(super) fn apply(&self, record: &mut Record) -> bool {
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

//! A run of a task in this process: it owns the record as long as no other run has taken the task over.
//!
//! The id of the run is in the record. Every change is a compare-and-swap on the version of the record; after a conflict the run
//! reads the record, and continues only if its own id is still there. So clients may answer and cancel through any process, and
//! a run that has lost its task stores nothing more.

mod change;
mod drive;
mod keeper;
mod link;
mod question;
mod start;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::engine::Engine;
use crate::record::{Record, TaskKey};

pub(crate) use self::drive::{Work, drive};
pub(crate) use self::start::{NewTask, Refused};

/// Run of a task.
pub(crate) struct Run {
    pub(crate) engine: Arc<Engine>,
    pub(crate) key: TaskKey,
    /// Id of this run, see [`Record::run`].
    pub(crate) id: String,
    held: Mutex<Held>,
    /// Held while a change is stored, so that the changes of this run have an order.
    writing: tokio::sync::Mutex<()>,
    /// The version of the record, for those that wait for a change.
    version: watch::Sender<u64>,
    /// Set once this run has to stop.
    stopped: Mutex<Option<Stop>>,
    /// Wakes the keeper.
    wake: Notify,
    pending: Mutex<Pending>,
    /// Keys of work that an earlier run has begun, and that is not safe to repeat.
    begun_before: BTreeSet<String>,
}

/// The record, as this run knows it.
struct Held {
    version: u64,
    record: Arc<Record>,
    /// The time at which the lease ends.
    lease_end: Instant,
}

/// Changes that the keeper stores later.
#[derive(Default)]
struct Pending {
    message: Option<String>,
    /// Keys of questions whose futures have been dropped.
    withdrawn: Vec<String>,
}

/// Reason to stop a run before its work has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The task has ended otherwise: it was cancelled, or completed by a token.
    Ended,
    /// Another run has taken the task over, or its lease has ended.
    Lost,
    /// The process gives its tasks up.
    Abandoned,
    /// The maximum run time is over.
    TimedOut,
}

impl fmt::Debug for Run {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Run")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

impl Run {
    /// Makes a run that owns `record` in `version`. Its lease starts at `since`, which is before the record was stored.
    pub(crate) fn new(
        engine: &Arc<Engine>,
        key: TaskKey,
        (version, record): (u64, Record),
        since: Instant,
    ) -> Arc<Self> {
        let unsafe_to_repeat = record.attempts > 1 && !record.policy.repeatable;
        let begun = record.journal.begun.iter().filter(|_| unsafe_to_repeat);
        Arc::new(Self {
            begun_before: begun.cloned().collect(),
            id: record.run.clone().unwrap_or_default(),
            held: Mutex::new(Held {
                version,
                record: Arc::new(record),
                lease_end: since + engine.limits.lease,
            }),
            engine: Arc::clone(engine),
            key,
            writing: tokio::sync::Mutex::new(()),
            version: watch::Sender::new(version),
            stopped: Mutex::default(),
            wake: Notify::new(),
            pending: Mutex::default(),
        })
    }

    /// Returns the record.
    pub(crate) fn record(&self) -> Arc<Record> {
        Arc::clone(&self.held().record)
    }

    /// Returns a receiver that is woken by each change of the record.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }

    /// Takes over a change that has been stored in this process or read from the store.
    pub(crate) fn adopt(&self, version: u64, record: &Record) {
        let mut held = self.held();
        if version <= held.version {
            return;
        }
        held.version = version;
        held.record = Arc::new(record.clone());
        drop(held);
        self.version.send_replace(version);
        if record.is_final() {
            self.stop(Stop::Ended);
        } else if record.run.as_ref() != Some(&self.id) {
            self.stop(Stop::Lost);
        }
    }

    /// Stops the run, unless it has been stopped.
    pub(crate) fn stop(&self, reason: Stop) {
        lock(&self.stopped).get_or_insert(reason);
        // There is one keeper; it may not wait yet.
        self.wake.notify_one();
    }

    fn stopped(&self) -> Option<Stop> {
        *lock(&self.stopped)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        lock(&self.held)
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        lock(&self.pending)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

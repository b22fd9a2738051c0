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
mod retry;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use treenail_runtime::internal::deadline;
use treenail_runtime::internal::task::Journal;

use crate::engine::{Engine, Place};
use crate::record::{Record, TaskKey};
use crate::store::TaskId;

pub(crate) use self::drive::drive;
pub(crate) use self::retry::{BACKOFF, StoreRetry};

/// Run of a task.
pub(crate) struct Run {
    pub(crate) engine: Arc<Engine>,
    pub(crate) key: TaskKey,
    /// Id of this run, see [`Record::run`].
    pub(crate) id: String,
    held: Mutex<Held>,
    creation: watch::Sender<Creation>,
    /// Held while a change is stored, so that the changes of this run have an order.
    writing: tokio::sync::Mutex<()>,
    /// The version of the record, for those that wait for a change.
    version: watch::Sender<u64>,
    /// Set once this run has to stop.
    stopped: watch::Sender<Option<Stop>>,
    /// Wakes the keeper.
    wake: Notify,
    pending: Mutex<Pending>,
    /// Place among the waiting tasks of the process, which the open questions share.
    place: Mutex<Weak<Place>>,
    /// Keys of work that an earlier run has begun, and that is not safe to repeat.
    begun_before: BTreeSet<String>,
    /// Set once the run has ended.
    dismissed: watch::Sender<bool>,
}

/// The record, as this run knows it.
struct Held {
    version: u64,
    record: Arc<Record>,
    lease: Lease,
}

/// Time in which no other run takes the task over. Each stored change starts a new one.
#[derive(Clone, Copy)]
struct Lease {
    /// The time at which the keeper renews it.
    renewal: Instant,
    end: Instant,
}

impl Lease {
    fn new(since: Instant, lease: Duration) -> Self {
        Self {
            renewal: deadline::from(since, lease / 3),
            end: deadline::from(since, lease),
        }
    }
}

/// State of the creation of the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Creation {
    /// The first version of the record is not stored yet.
    Pending,
    Stored,
    /// The record could not be stored, and the call continues as a plain one.
    Plain,
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
    /// The process leaves its tasks to others.
    Released,
    /// The maximum run time is over.
    TimedOut,
}

impl Drop for Run {
    fn drop(&mut self) {
        self.engine.dismiss(self);
    }
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
        Self::make(engine, key, (version, record), (since, Creation::Stored))
    }

    /// Makes a run whose record is not stored yet.
    pub(crate) fn before_creation(engine: &Arc<Engine>, key: TaskKey, record: Record) -> Arc<Self> {
        let creation = (Instant::now(), Creation::Pending);
        Self::make(engine, key, (1, record), creation)
    }

    fn make(
        engine: &Arc<Engine>,
        key: TaskKey,
        (version, record): (u64, Record),
        (since, creation): (Instant, Creation),
    ) -> Arc<Self> {
        let begun = record.journal.begun.iter();
        let begun = begun.filter(|_| !record.policy.repeatable);
        Arc::new(Self {
            begun_before: begun.cloned().collect(),
            id: record.run.clone().unwrap_or_default(),
            held: Mutex::new(Held {
                version,
                record: Arc::new(record),
                lease: Lease::new(since, engine.limits.lease),
            }),
            engine: Arc::clone(engine),
            key,
            creation: watch::Sender::new(creation),
            writing: tokio::sync::Mutex::new(()),
            version: watch::Sender::new(version),
            stopped: watch::Sender::default(),
            wake: Notify::new(),
            pending: Mutex::default(),
            place: Mutex::default(),
            dismissed: watch::Sender::new(false),
        })
    }

    /// Sets the values that the call has obtained before it became a task. The record is not stored yet.
    pub(crate) fn set_journal(&self, journal: Journal) {
        Arc::make_mut(&mut self.held().record).journal = journal;
    }

    /// Puts the progress that the call has reported before it became a task into the record, which is not stored yet.
    pub(crate) fn set_progress(&self) {
        if let Some(pending) = self.take_pending(true) {
            pending.apply(Arc::make_mut(&mut self.held().record));
        }
    }

    /// Notes that the first version of the record has been stored, with the lease from `since` on.
    pub(crate) async fn created(&self, since: Instant) {
        let confirms = {
            let mut held = self.held();
            held.lease = Lease::new(since, self.engine.limits.lease);
            std::mem::take(&mut Arc::make_mut(&mut held.record).unconfirmed)
        };
        self.creation.send_replace(Creation::Stored);
        if confirms {
            // Any change confirms it, so a failure delays this only.
            let _ = self.change(&mut |_| Ok(true)).await;
        }
    }

    /// Notes that the record could not be stored.
    pub(crate) fn not_created(&self) {
        self.creation.send_replace(Creation::Plain);
    }

    /// Returns the version of the record.
    pub(crate) fn version(&self) -> u64 {
        self.held().version
    }

    /// Returns the record.
    pub(crate) fn record(&self) -> Arc<Record> {
        Arc::clone(&self.held().record)
    }

    /// Returns a receiver that is woken by each change of the record.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }

    /// Takes over a change that has been stored in this process or read from the store. The end of a task counts in any version: a
    /// store may have lost those that this run has stored.
    pub(crate) fn adopt(&self, version: u64, record: &Record) {
        let mut held = self.held();
        if version <= held.version && !record.is_final() {
            return;
        }
        held.version = version;
        held.record = Arc::new(record.clone());
        drop(held);
        // The stop first: the function must not see the end of its task.
        if record.is_final() {
            self.stop(Stop::Ended);
        } else if record.run.as_ref() != Some(&self.id) {
            self.stop(Stop::Lost);
        }
        self.version.send_replace(version);
    }

    /// Stops the run, unless it has been stopped.
    pub(crate) fn stop(&self, reason: Stop) {
        self.stopped.send_if_modified(|stopped| {
            let first = stopped.is_none();
            stopped.get_or_insert(reason);
            first
        });
    }

    /// Removes it from the runs of the process.
    pub(crate) fn dismiss(&self) {
        self.engine.dismiss(self);
        self.dismissed.send_replace(true);
    }

    /// Waits until it has been removed.
    pub(crate) async fn dismissed(&self) {
        // The sender is in `self`.
        let _ = self
            .dismissed
            .subscribe()
            .wait_for(|dismissed| *dismissed)
            .await;
    }

    fn stopped(&self) -> Option<Stop> {
        *self.stopped.borrow()
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        lock(&self.held)
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        lock(&self.pending)
    }
}

/// Returns the id of a new run.
pub(crate) fn random_run_id() -> Option<String> {
    TaskId::random().ok().map(|id| id.as_str().to_owned())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

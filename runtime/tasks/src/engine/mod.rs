//! Shared state of the tasks of a server: the store, the limits, and the tasks that run in this process.

mod access;
mod creations;
mod disowned;
mod edit;
mod stores;
mod waiting;

use std::collections::BTreeMap;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::Instant;
use treenail_runtime::internal::LogThrottle;
use treenail_runtime::{RequestStateKey, Server};

use crate::limits::TaskLimits;
use crate::methods::Carried;
use crate::push::Watch;
use crate::record::{Record, TaskKey};
use crate::run::Run;
use crate::store::{TaskId, TaskStore};
use crate::sweep::sweep;

use self::creations::Creations;
use self::disowned::Disowned;
use self::waiting::Waiting;

pub(crate) use self::access::{Loaded, owner};
pub(crate) use self::creations::Creation;
pub(crate) use self::edit::not_written;
pub(crate) use self::stores::store_failed;
pub(crate) use self::waiting::{NoPlace, Place};

/// Shortest lease, so that no setting makes a busy loop.
const LEAST_LEASE: Duration = Duration::from_secs(1);
/// Shortest interval of a loop, for the same reason.
const LEAST_INTERVAL: Duration = Duration::from_millis(100);

/// Shared state of the tasks of a server.
#[derive(Debug)]
pub(crate) struct Engine {
    store: Arc<dyn TaskStore>,
    pub(crate) limits: TaskLimits,
    /// Seals the tokens of external tasks.
    pub(crate) key: Option<RequestStateKey>,
    /// A run ends when its future is dropped.
    running: Mutex<BTreeMap<TaskId, Weak<Run>>>,
    /// Tasks that are being created.
    pub(crate) creations: Arc<Creations>,
    /// Tasks that may be stored although no client knows them.
    disowned: Mutex<Vec<Disowned>>,
    /// Tasks that wait for an answer.
    pub(crate) waiting: Arc<Waiting>,
    pub(crate) watch: Watch,
    /// Questions that sessions of this process have been sent, in revision 2025-11-25.
    pub(crate) carried: Carried,
    /// The start of the sweeper.
    started: OnceLock<Instant>,
    /// Set once the process leaves its tasks to others.
    halted: AtomicBool,
    /// Warnings about tasks that are not created, which a caller can trigger with every call.
    pub(crate) not_created: LogThrottle,
    /// Warnings about full journals, likewise.
    pub(crate) journal_full: LogThrottle,
    /// Warnings about due tasks of a newer version, which each sweep finds.
    pub(crate) newer: LogThrottle,
    /// Warnings about changes and reads of running tasks that have failed, which each of them repeats.
    pub(crate) store_failing: LogThrottle,
}

impl Engine {
    pub(crate) fn new(
        store: Arc<dyn TaskStore>,
        mut limits: TaskLimits,
        key: Option<RequestStateKey>,
    ) -> Self {
        limits.lease = limits.lease.max(LEAST_LEASE);
        limits.watch_interval = limits.watch_interval.max(LEAST_INTERVAL);
        limits.sweep_interval = limits.sweep_interval.max(LEAST_INTERVAL);
        Self {
            store,
            waiting: Arc::new(Waiting::new(limits.waiting)),
            watch: Watch::new(limits.watched),
            limits,
            key,
            running: Mutex::default(),
            creations: Arc::default(),
            disowned: Mutex::default(),
            carried: Carried::default(),
            started: OnceLock::new(),
            halted: AtomicBool::new(false),
            not_created: LogThrottle::default(),
            journal_full: LogThrottle::default(),
            newer: LogThrottle::default(),
            store_failing: LogThrottle::default(),
        }
    }

    /// Returns an engine of the same store and key, without its tasks in this process.
    pub(crate) fn with_limits(&self, limits: TaskLimits) -> Self {
        Self::new(Arc::clone(&self.store), limits, self.key.clone())
    }

    /// Starts the sweeper for a server, unless it runs or there is no tokio runtime.
    pub(crate) fn start(self: &Arc<Self>, server: &Server) {
        if self.started.get().is_some() {
            return;
        }
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        if self.started.set(Instant::now()).is_ok() {
            self.watch.serve(server);
            runtime.spawn(sweep(Arc::clone(self), server.downgrade()));
        }
    }

    /// Returns `true` within a lease after the start of the process. Until then, edits may still add tools of interrupted tasks.
    pub(crate) fn is_starting(&self) -> bool {
        let started = self.started.get();
        started.is_some_and(|started| started.elapsed() < self.limits.lease)
    }

    /// Returns a task that runs in this process.
    pub(crate) fn local(&self, id: &TaskId) -> Option<Arc<Run>> {
        self.runs().get(id).and_then(Weak::upgrade)
    }

    /// Adds a running task, unless the process has as many as it may have.
    pub(crate) fn admit(&self, run: &Arc<Run>) -> bool {
        let mut runs = self.runs();
        let admitted = runs.len() < self.limits.running && !self.is_halted();
        if admitted {
            runs.insert(run.key.id.clone(), Arc::downgrade(run));
        }
        admitted
    }

    /// Returns `true` if the process may run one more task.
    pub(crate) fn has_room(&self) -> bool {
        self.runs().len() < self.limits.running && !self.is_halted()
    }

    /// Removes a running task.
    pub(crate) fn dismiss(&self, run: &Run) {
        let mut runs = self.runs();
        let known = runs.get(&run.key.id);
        if known.is_some_and(|known| ptr::eq(known.as_ptr(), run)) {
            runs.remove(&run.key.id);
        }
    }

    /// Creates and continues no more tasks.
    pub(crate) fn halt(&self) {
        self.halted.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_halted(&self) -> bool {
        self.halted.load(Ordering::SeqCst)
    }

    /// Returns all running tasks.
    pub(crate) fn all_local(&self) -> Vec<Arc<Run>> {
        self.runs().values().filter_map(Weak::upgrade).collect()
    }

    /// Passes a stored change on to the run of the task and to subscribers.
    pub(crate) fn on_change(&self, key: &TaskKey, version: u64, record: &Record) {
        if let Some(run) = self.local(&key.id) {
            run.adopt(version, record);
        }
        self.watch.publish(key, version, record);
    }

    fn runs(&self) -> MutexGuard<'_, BTreeMap<TaskId, Weak<Run>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::MemoryStore;

    #[test]
    fn no_setting_makes_a_busy_loop() {
        let none = Duration::ZERO;
        let limits = TaskLimits::default().lease(none);
        let limits = limits.watch_interval(none).sweep_interval(none);
        let engine = Engine::new(Arc::new(MemoryStore::new()), limits, None);
        assert_eq!(engine.limits.lease, LEAST_LEASE);
        assert_eq!(engine.limits.watch_interval, LEAST_INTERVAL);
        assert_eq!(engine.limits.sweep_interval, LEAST_INTERVAL);
    }
}

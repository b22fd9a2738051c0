//! Detection of steps that do not end in real time.
//!
//! Virtual time does not advance while blocking work runs, and while a task is always ready. Such a step has no other end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, Once, PoisonError};
use std::task::Waker;
use std::thread;
use std::time::{Duration, Instant};

use crate::world::lock;

/// Time between two looks at all steps.
const INTERVAL: Duration = Duration::from_millis(250);

/// All runs that are in progress. One thread watches them, because the memory of a run is measured on the thread of the run.
static RUNS: Mutex<Vec<Arc<Run>>> = Mutex::new(Vec::new());
static NEW_RUN: Condvar = Condvar::new();

/// Watchdog of the steps of one run.
pub(crate) struct Watchdog(Arc<Run>);

struct Run {
    limit: Duration,
    /// Start of the step in progress, with the waker of its main work.
    step: Mutex<Option<(Instant, Waker)>>,
    is_late: AtomicBool,
}

/// Step in progress, until it is dropped.
pub(crate) struct Step<'a>(&'a Run);

impl Watchdog {
    /// Creates the watchdog of a run whose steps take at most `limit` of real time each.
    pub(crate) fn new(limit: Duration) -> Self {
        static THREAD: Once = Once::new();
        THREAD.call_once(|| {
            let thread = thread::Builder::new().name("treenail-sim-watchdog".to_owned());
            // Without a thread, a step without an end is not found.
            let _ = thread.spawn(watch);
        });
        let run = Arc::new(Run {
            limit,
            step: Mutex::new(None),
            is_late: AtomicBool::new(false),
        });
        lock(&RUNS).push(Arc::clone(&run));
        NEW_RUN.notify_one();
        Self(run)
    }

    pub(crate) fn limit(&self) -> Duration {
        self.0.limit
    }

    /// Starts a step. The waker is woken once the step is late.
    pub(crate) fn begin(&self, waker: &Waker) -> Step<'_> {
        self.0.set(Some((Instant::now(), waker.clone())));
        Step(&self.0)
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        lock(&RUNS).retain(|run| !Arc::ptr_eq(run, &self.0));
    }
}

impl Step<'_> {
    pub(crate) fn is_late(&self) -> bool {
        self.0.is_late.load(Ordering::Relaxed)
    }
}

impl Drop for Step<'_> {
    fn drop(&mut self) {
        self.0.set(None);
    }
}

impl Run {
    fn set(&self, step: Option<(Instant, Waker)>) {
        let before = std::mem::replace(&mut *lock(&self.step), step);
        drop(before);
    }

    /// Returns the waker of the step in progress if that has become late.
    fn late(&self) -> Option<Waker> {
        let step = lock(&self.step);
        let (_, waker) = step.as_ref().filter(|step| step.0.elapsed() > self.limit)?;
        self.is_late.store(true, Ordering::Relaxed);
        Some(waker.clone())
    }
}

/// Wakes the main work of late steps, without an end.
fn watch() {
    loop {
        let runs = lock(&RUNS);
        let runs = NEW_RUN.wait_while(runs, |runs| runs.is_empty());
        let runs = runs.unwrap_or_else(PoisonError::into_inner);
        let late: Vec<_> = runs.iter().filter_map(|run| run.late()).collect();
        drop(runs);
        late.into_iter().for_each(Waker::wake);
        thread::sleep(INTERVAL);
    }
}

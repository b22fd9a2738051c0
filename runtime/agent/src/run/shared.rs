//! State shared between a run and its engine.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use tokio::time::Instant;
use treenail_runtime::internal::deadline;

use super::background::BackgroundTasks;
use crate::RunEvent;
use crate::checkpoint::RunState;
use crate::event::Events;
use crate::tool_loop::Config;

/// State shared between a run and its engine.
pub(super) struct Shared {
    pub(super) config: Arc<Config>,
    state: Mutex<RunState>,
    events: Mutex<Events>,
    /// Waker of the task that reads events.
    waker: Mutex<Option<Waker>>,
    has_reader: AtomicBool,
    pub(super) background: BackgroundTasks,
    pausing: AtomicBool,
}

impl Shared {
    pub(super) fn new(config: Arc<Config>, state: RunState) -> Self {
        let events = Events::new(&config.limits);
        Self {
            config,
            state: Mutex::new(state),
            events: Mutex::new(events),
            waker: Mutex::default(),
            has_reader: AtomicBool::new(false),
            background: BackgroundTasks::default(),
            pausing: AtomicBool::new(false),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, RunState> {
        lock(&self.state)
    }

    /// Registers a consumer of events.
    pub(super) fn attach_reader(&self, waker: &Waker) {
        self.has_reader.store(true, Ordering::Relaxed);
        let mut current = lock(&self.waker);
        match &mut *current {
            Some(current) => current.clone_from(waker),
            None => *current = Some(waker.clone()),
        }
    }

    /// Removes the consumer of events and drops unread events.
    pub(super) fn detach_reader(&self) {
        self.has_reader.store(false, Ordering::Relaxed);
        lock(&self.waker).take();
        lock(&self.events).clear();
    }

    pub(super) fn has_reader(&self) -> bool {
        self.has_reader.load(Ordering::Relaxed)
    }

    /// Emits an event from within the run, if there is a consumer.
    pub(super) fn emit(&self, event: RunEvent) {
        if self.has_reader() {
            lock(&self.events).push(event);
        }
    }

    /// Emits an event from another task, if there is a consumer.
    pub(super) fn emit_and_wake(&self, event: RunEvent) {
        if self.has_reader() {
            lock(&self.events).push(event);
            let waker = lock(&self.waker).clone();
            waker.into_iter().for_each(Waker::wake);
        }
    }

    pub(super) fn next_event(&self) -> Option<RunEvent> {
        lock(&self.events).pop()
    }

    /// Prevents further requests and calls from starting.
    pub(super) fn pause(&self) {
        self.pausing.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_pausing(&self) -> bool {
        self.pausing.load(Ordering::Relaxed)
    }

    /// Returns the reason for the end of a call at the deadline of the run.
    pub(super) fn timeout_reason(&self) -> String {
        let limit = self.config.limits.timeout;
        format!("the run exceeded its timeout of {limit:?}")
    }

    /// Returns the deadline of the run, provided that its clock does not stop.
    pub(super) fn deadline(&self) -> Instant {
        let state = self.state();
        let left = self.config.limits.timeout.saturating_sub(state.spent);
        let since = state.running_since.unwrap_or_else(Instant::now);
        deadline::from(since, left)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

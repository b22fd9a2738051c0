//! What a run and its engine both know.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use tokio::time::Instant;

use crate::deadline;
use crate::tool_loop::Event;
use crate::tool_loop::agent::Setup;
use crate::tool_loop::event::Events;
use crate::tool_loop::paused::State;

/// What a run and its engine both know.
pub(super) struct Shared {
    pub(super) setup: Arc<Setup>,
    state: Mutex<State>,
    events: Mutex<Events>,
    /// Of the one who reads events.
    waker: Mutex<Option<Waker>>,
    is_read: AtomicBool,
    pausing: AtomicBool,
}

impl Shared {
    pub(super) fn new(setup: Arc<Setup>, state: State) -> Self {
        let events = Events::new(setup.limits.queued_progress);
        Self {
            setup,
            state: Mutex::new(state),
            events: Mutex::new(events),
            waker: Mutex::default(),
            is_read: AtomicBool::new(false),
            pausing: AtomicBool::new(false),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Somebody reads events.
    pub(super) fn listen(&self, waker: &Waker) {
        self.is_read.store(true, Ordering::Relaxed);
        let mut known = lock(&self.waker);
        match &mut *known {
            Some(known) => known.clone_from(waker),
            None => *known = Some(waker.clone()),
        }
    }

    /// Nobody reads events any more.
    pub(super) fn stop_listening(&self) {
        self.is_read.store(false, Ordering::Relaxed);
        lock(&self.waker).take();
        lock(&self.events).clear();
    }

    pub(super) fn is_read(&self) -> bool {
        self.is_read.load(Ordering::Relaxed)
    }

    /// Tells of an event, if somebody reads them, from within the run.
    pub(super) fn emit(&self, event: Event) {
        if self.is_read() {
            lock(&self.events).push(event);
        }
    }

    /// Tells of an event, if somebody reads them, from another task.
    pub(super) fn emit_from_outside(&self, event: Event) {
        if self.is_read() {
            lock(&self.events).push(event);
            let waker = lock(&self.waker).clone();
            waker.into_iter().for_each(Waker::wake);
        }
    }

    pub(super) fn next_event(&self) -> Option<Event> {
        lock(&self.events).pop()
    }

    /// Nothing more is begun.
    pub(super) fn pause(&self) {
        self.pausing.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_pausing(&self) -> bool {
        self.pausing.load(Ordering::Relaxed)
    }

    /// When the time of the run is over, if it goes on without a break.
    pub(super) fn deadline(&self) -> Instant {
        let state = self.state();
        let left = self.setup.limits.timeout.saturating_sub(state.spent);
        let since = state.running_since.unwrap_or_else(Instant::now);
        deadline::from(since, left)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! State shared between a run and its engine.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use tokio::time::Instant;
use treenail_runtime::internal::deadline;
use treenail_schema::{CallToolResult, ContentBlock};

use super::background::BackgroundTasks;
use crate::RunEvent;
use crate::checkpoint::RunState;
use crate::event::Events;
use crate::model_call::json_bytes;
use crate::results::for_model;
use crate::tool_loop::Config;

/// State shared between a run and its engine.
pub(super) struct Shared {
    pub(super) config: Arc<Config>,
    state: Mutex<RunState>,
    /// Size of the conversation in bytes.
    bytes: AtomicUsize,
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
        let bytes = state.messages.iter().map(json_bytes).sum();
        Self {
            config,
            bytes: AtomicUsize::new(bytes),
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

    /// Appends messages to the conversation.
    pub(super) fn append(&self, append: impl FnOnce(&mut RunState)) {
        let mut state = self.state();
        let before = state.messages.len();
        append(&mut state);
        let added: usize = state.messages[before..].iter().map(json_bytes).sum();
        let bytes = self.bytes().saturating_add(added);
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    /// Returns the size of the conversation in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Converts a result for the model. Its media leave half of the room in the conversation to texts and to further messages.
    pub(super) fn for_model(&self, result: &CallToolResult) -> Vec<ContentBlock> {
        let (model, limits) = (&self.config.model, &self.config.limits);
        let used = self.bytes().saturating_add(self.state().waiting_bytes());
        let room = limits.transcript_bytes.saturating_sub(used) / 2;
        let max_media = limits.media_bytes.min(room);
        let limits = limits.clone().media_bytes(max_media);
        for_model(result, model.capabilities(), &limits)
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

    /// Returns true if there are unread events, and all of them are progress.
    pub(super) fn has_only_progress(&self) -> bool {
        lock(&self.events).has_only_progress()
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

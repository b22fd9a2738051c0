//! The items of a stream that come before its result.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};

use serde_json::Value;
use treenail_schema::ProgressNotificationParams;

use crate::client::ClientLimits;
use crate::client::typed::rest::Seen;
use crate::stream::ITEM;

/// What has come live and has not been taken yet.
///
/// What is taken of the items is always their beginning, without a gap: where one is missing, or there is no room for it,
/// no more are taken, and the result of the call has the others.
#[derive(Debug)]
pub(super) struct Live(Mutex<State>);

#[derive(Debug)]
struct State {
    waiting: VecDeque<(Value, usize)>,
    bytes: usize,
    most: usize,
    most_bytes: usize,
    /// The last progress that was told, with an item or without.
    told: Option<f64>,
    seen: Seen,
    waker: Option<Waker>,
}

impl Live {
    pub(super) fn new(limits: &ClientLimits, seen: Seen) -> Arc<Self> {
        Arc::new(Self(Mutex::new(State {
            waiting: VecDeque::new(),
            bytes: 0,
            most: limits.queued_notifications,
            most_bytes: limits.queued_notification_bytes,
            told: None,
            seen,
            waker: None,
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what the server tells of its progress.
    pub(super) fn hear(&self, mut progress: ProgressNotificationParams) {
        let item = progress
            .meta
            .as_mut()
            .and_then(|meta| meta.extra.shift_remove(ITEM));
        let mut state = self.state();
        if state.hear(progress.progress.as_f64(), item) {
            if let Some(waker) = state.waker.take() {
                waker.wake();
            }
        }
    }

    /// The next item that has come, if there is one.
    pub(super) fn take(&self) -> Option<Value> {
        let mut state = self.state();
        let (item, bytes) = state.waiting.pop_front()?;
        state.bytes -= bytes;
        Some(item)
    }

    /// Whom to wake for the next item.
    pub(super) fn wait(&self, context: &Context<'_>) {
        self.state().waker = Some(context.waker().clone());
    }

    /// What has been seen by the end of the call.
    pub(super) fn take_seen(&self) -> Seen {
        std::mem::take(&mut self.state().seen)
    }
}

impl State {
    /// Whether there is an item more.
    fn hear(&mut self, progress: f64, item: Option<Value>) -> bool {
        let next = self.next();
        if self.told.is_some_and(|told| progress <= told) {
            // Told before.
            return false;
        }
        self.told = Some(progress);
        let Some(item) = item else {
            return false;
        };
        let bytes = item.to_string().len();
        let has_room = self.waiting.len() < self.most && self.bytes + bytes <= self.most_bytes;
        if self.seen.has_gap || !has_room || (progress - next).abs() > f64::EPSILON {
            self.seen.has_gap = true;
            return false;
        }
        self.seen.add(&item);
        self.bytes += bytes;
        self.waiting.push_back((item, bytes));
        true
    }

    /// The progress that comes with the next item: how many there are, unless the function itself has told more.
    #[allow(clippy::cast_precision_loss, reason = "so many items never come")]
    fn next(&self) -> f64 {
        let count = (self.seen.items + 1) as f64;
        match self.told {
            Some(told) if count <= told => told + 1.0,
            _ => count,
        }
    }
}

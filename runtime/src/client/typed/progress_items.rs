//! Items of a stream that arrive in progress notifications, before the result.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};

use serde_json::Value;
use treenail_schema::ProgressNotificationParams;

use crate::client::ClientLimits;
use crate::client::typed::remainder::ReceivedItems;
use crate::stream::ITEM;

/// Buffer of the items that have arrived and have not been taken yet.
///
/// The items taken from it are always the first ones, without a gap. After a missing item, or one without room in the
/// buffer, no more are accepted; the result of the call contains the others.
#[derive(Debug)]
pub(super) struct ProgressItems(Mutex<Buffer>);

#[derive(Debug)]
struct Buffer {
    items: VecDeque<(Value, usize)>,
    bytes: usize,
    max_items: usize,
    max_bytes: usize,
    /// Progress of the latest notification, with or without an item.
    last_progress: Option<f64>,
    received: ReceivedItems,
    waker: Option<Waker>,
}

impl ProgressItems {
    pub(super) fn new(limits: &ClientLimits, received: ReceivedItems) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Buffer {
            items: VecDeque::new(),
            bytes: 0,
            max_items: limits.queued_notifications,
            max_bytes: limits.queued_notification_bytes,
            last_progress: None,
            received,
            waker: None,
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Buffer> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Handles a progress notification.
    pub(super) fn handle_progress(&self, mut progress: ProgressNotificationParams) {
        let item = progress
            .meta
            .as_mut()
            .and_then(|meta| meta.extra.shift_remove(ITEM));
        let mut buffer = self.lock();
        if buffer.add_progress(progress.progress.as_f64(), item) {
            if let Some(waker) = buffer.waker.take() {
                waker.wake();
            }
        }
    }

    /// Takes the next item, if one has arrived.
    pub(super) fn pop(&self) -> Option<Value> {
        let mut buffer = self.lock();
        let (item, bytes) = buffer.items.pop_front()?;
        buffer.bytes -= bytes;
        Some(item)
    }

    /// Registers the task to wake for the next item.
    pub(super) fn register_waker(&self, context: &Context<'_>) {
        self.lock().waker = Some(context.waker().clone());
    }

    /// Takes the summary of the received items at the end of the call.
    pub(super) fn take_received(&self) -> ReceivedItems {
        std::mem::take(&mut self.lock().received)
    }
}

impl Buffer {
    /// Handles a progress notification. Returns whether an item was added.
    fn add_progress(&mut self, progress: f64, item: Option<Value>) -> bool {
        let expected = self.expected_progress();
        if self.last_progress.is_some_and(|last| progress <= last) {
            // A repeated or outdated notification.
            return false;
        }
        self.last_progress = Some(progress);
        let Some(item) = item else {
            return false;
        };
        let bytes = item.to_string().len();
        let has_room = self.items.len() < self.max_items && self.bytes + bytes <= self.max_bytes;
        if self.received.has_gap || !has_room || (progress - expected).abs() > f64::EPSILON {
            self.received.has_gap = true;
            return false;
        }
        self.received.add(&item);
        self.bytes += bytes;
        self.items.push_back((item, bytes));
        true
    }

    /// Returns the expected progress of the next item: the number of items, unless the function itself has reported
    /// more.
    #[allow(
        clippy::cast_precision_loss,
        reason = "the number of items stays far below 2^52"
    )]
    fn expected_progress(&self) -> f64 {
        let count = (self.received.items + 1) as f64;
        match self.last_progress {
            Some(last) if count <= last => last + 1.0,
            _ => count,
        }
    }
}

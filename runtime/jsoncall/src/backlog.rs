//! Byte budget for messages between `jsoncall` and the peer, for back-pressure.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Sizes of outgoing messages.
#[derive(Debug)]
pub(super) struct Backlog {
    queue: Mutex<Queue>,
    changed: Notify,
    max_bytes: usize,
}

#[derive(Debug, Default)]
struct Queue {
    sizes: VecDeque<usize>,
    bytes: usize,
}

impl Backlog {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self {
            queue: Mutex::default(),
            changed: Notify::new(),
            max_bytes,
        }
    }

    /// Adds a message of about this size.
    pub(super) fn push(&self, bytes: usize) {
        // Size of a message without its contents.
        const ENVELOPE_BYTES: usize = 64;

        let mut queue = self.queue();
        queue.sizes.push_back(bytes + ENVELOPE_BYTES);
        queue.bytes += bytes + ENVELOPE_BYTES;
    }

    /// Removes messages that have been written.
    pub(super) fn written(&self, messages: usize) {
        let mut queue = self.queue();
        for _ in 0..messages {
            let Some(bytes) = queue.sizes.pop_front() else {
                break;
            };
            queue.bytes -= bytes;
        }
        drop(queue);
        self.changed.notify_waiters();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue().sizes.is_empty()
    }

    /// Waits for room for further messages.
    pub(super) async fn wait_for_room(&self) {
        self.wait_until(|queue| queue.bytes <= self.max_bytes).await;
    }

    /// Waits until all messages have been written.
    pub(super) async fn wait_until_empty(&self) {
        self.wait_until(|queue| queue.sizes.is_empty()).await;
    }

    /// Removes all messages and releases the waiting tasks, because nothing more is written.
    pub(super) fn clear(&self) {
        *self.queue() = Queue::default();
        self.changed.notify_waiters();
    }

    async fn wait_until(&self, condition: impl Fn(&Queue) -> bool) {
        loop {
            let changed = self.changed.notified();
            if condition(&self.queue()) {
                return;
            }
            changed.await;
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

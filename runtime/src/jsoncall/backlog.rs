//! What has been given to `jsoncall` and has not reached the peer, so that it can be held back.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The sizes of messages on their way out.
#[derive(Debug)]
pub(super) struct Backlog {
    waiting: Mutex<Waiting>,
    changed: Notify,
    most: usize,
}

#[derive(Debug, Default)]
struct Waiting {
    sizes: VecDeque<usize>,
    bytes: usize,
}

impl Backlog {
    pub(super) fn new(most: usize) -> Self {
        Self {
            waiting: Mutex::default(),
            changed: Notify::new(),
            most,
        }
    }

    /// Counts a message of about so many bytes.
    pub(super) fn push(&self, bytes: usize) {
        // What is around its contents.
        const AROUND: usize = 64;

        let mut waiting = self.waiting();
        waiting.sizes.push_back(bytes + AROUND);
        waiting.bytes += bytes + AROUND;
    }

    /// So many messages have been written.
    pub(super) fn written(&self, messages: usize) {
        let mut waiting = self.waiting();
        for _ in 0..messages {
            let Some(bytes) = waiting.sizes.pop_front() else {
                break;
            };
            waiting.bytes -= bytes;
        }
        drop(waiting);
        self.changed.notify_waiters();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting().sizes.is_empty()
    }

    /// Ready when there is room for more.
    pub(super) async fn room(&self) {
        self.until(|waiting| waiting.bytes <= self.most).await;
    }

    /// Ready when all has been written.
    pub(super) async fn empty(&self) {
        self.until(|waiting| waiting.sizes.is_empty()).await;
    }

    /// Nothing will be written any more, so nobody should wait for that.
    pub(super) fn clear(&self) {
        *self.waiting() = Waiting::default();
        self.changed.notify_waiters();
    }

    async fn until(&self, is_so: impl Fn(&Waiting) -> bool) {
        loop {
            let changed = self.changed.notified();
            if is_so(&self.waiting()) {
                return;
            }
            changed.await;
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

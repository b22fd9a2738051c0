//! Byte budget for messages between `jsoncall` and the peer, for back-pressure.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use treenail_runtime::client::ClientLimits;

/// Sizes of outgoing messages.
#[derive(Debug)]
pub(super) struct Backlog {
    queue: Mutex<Queue>,
    changed: Notify,
    max_bytes: usize,
    stops_reading: StopsReading,
}

/// Messages that stop reading while they exceed the budget.
#[derive(Clone, Copy, Debug)]
enum StopsReading {
    All,
    /// Responses, if there are more than this number.
    Responses(usize),
}

#[derive(Debug, Default)]
struct Queue {
    messages: VecDeque<Message>,
    all: Total,
    responses: Total,
}

#[derive(Clone, Copy, Debug)]
struct Message {
    bytes: usize,
    is_response: bool,
}

#[derive(Debug, Default)]
struct Total {
    messages: usize,
    bytes: usize,
}

impl Backlog {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self {
            queue: Mutex::default(),
            changed: Notify::new(),
            max_bytes,
            stops_reading: StopsReading::All,
        }
    }

    /// Creates the backlog of a client, whose own requests do not stop reading.
    pub(super) fn of_client(limits: &ClientLimits) -> Self {
        Self {
            stops_reading: StopsReading::Responses(limits.pending_server_requests),
            ..Self::new(limits.queued_output_bytes)
        }
    }

    /// Adds a message of about this size.
    pub(super) fn push(&self, bytes: usize) {
        self.queue().push(bytes, false);
    }

    /// Adds a response of a client.
    pub(super) fn push_response(&self, bytes: usize) {
        self.queue().push(bytes, true);
    }

    /// Removes messages that have been written.
    pub(super) fn written(&self, messages: usize) {
        let mut queue = self.queue();
        for _ in 0..messages {
            queue.pop();
        }
        drop(queue);
        self.changed.notify_waiters();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue().messages.is_empty()
    }

    /// Waits for room for further messages.
    pub(super) async fn wait_for_room(&self) {
        self.wait_until(|queue| queue.all.bytes <= self.max_bytes)
            .await;
    }

    /// Waits until the peer may cause further messages.
    pub(super) async fn wait_until_readable(&self) {
        let StopsReading::Responses(allowed) = self.stops_reading else {
            return self.wait_for_room().await;
        };
        self.wait_until(|Queue { responses, .. }| {
            responses.messages <= allowed || responses.bytes <= self.max_bytes
        })
        .await;
    }

    /// Waits until all messages have been written.
    pub(super) async fn wait_until_empty(&self) {
        self.wait_until(|queue| queue.messages.is_empty()).await;
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

impl Queue {
    fn push(&mut self, bytes: usize, is_response: bool) {
        // Size of a message without its contents.
        const ENVELOPE_BYTES: usize = 64;

        let bytes = bytes + ENVELOPE_BYTES;
        self.messages.push_back(Message { bytes, is_response });
        self.all.add(bytes);
        if is_response {
            self.responses.add(bytes);
        }
    }

    /// Removes the oldest message.
    fn pop(&mut self) {
        let Some(Message { bytes, is_response }) = self.messages.pop_front() else {
            return;
        };
        self.all.remove(bytes);
        if is_response {
            self.responses.remove(bytes);
        }
    }
}

impl Total {
    fn add(&mut self, bytes: usize) {
        self.messages += 1;
        self.bytes += bytes;
    }

    fn remove(&mut self, bytes: usize) {
        self.messages -= 1;
        self.bytes -= bytes;
    }
}

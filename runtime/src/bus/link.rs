//! A bus's end of its server.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::bus::EventQueue;
use crate::bus::message::Sender;
use crate::bus::refresh::Refresh;
use crate::server::subscriptions::{Event, Hub};

/// What connects an [`EventBus`](crate::EventBus) with its server: messages for the other replicas come out of it, and those
/// of other replicas go into it. Clones are the same link.
///
/// Messages are short pieces of UTF-8 text, at most six times
/// [`SubscriptionLimits::bytes`](crate::SubscriptionLimits::bytes) long and some more. They hold no secrets, unless the URIs
/// of resources do.
#[derive(Clone)]
pub struct EventLink {
    shared: Arc<Shared>,
}

struct Shared {
    hub: Arc<Hub>,
    refresh: Refresh,
    queue: Arc<EventQueue>,
    sender: Sender,
    dropped: AtomicU64,
}

impl fmt::Debug for EventLink {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("EventLink").finish_non_exhaustive()
    }
}

impl EventLink {
    pub(super) fn new(
        hub: Arc<Hub>,
        queue: Arc<EventQueue>,
        sender: Sender,
        refresh_interval: Duration,
    ) -> Self {
        let shared = Shared {
            refresh: Refresh::new(Arc::clone(&hub), refresh_interval),
            hub,
            queue,
            sender,
            dropped: AtomicU64::new(0),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Tells the server that from now on all that others publish is received.
    ///
    /// What they published before may have been missed, so whoever listens to this replica is told that all of that may
    /// have changed. A bus that knows that it has missed something later can call this again.
    pub fn connected(&self) {
        tracing::info!("the event bus is connected");
        self.shared.refresh.tell();
    }

    /// The next message to publish, once there is one.
    ///
    /// A message counts as published when the next one is asked for. If the bus ends before that, its next run gets the
    /// message again; so other replicas may hear of it twice, which does no harm.
    ///
    /// # Cancellation
    ///
    /// Dropping the future before it is ready loses nothing.
    pub async fn next(&self) -> Vec<u8> {
        let event = self.shared.queue.next().await;
        self.shared.sender.write(&event)
    }

    /// Takes a message that this or another replica published. What is not such a message is dropped.
    ///
    /// It returns at once.
    pub fn receive(&self, message: &[u8]) {
        match self.shared.sender.read(message) {
            Ok(Some(Event::Resync)) => self.shared.refresh.tell(),
            Ok(Some(event)) => self.shared.hub.notify_local(&event),
            Ok(None) => {}
            Err(reason) => self.drop_message(reason, message.len()),
        }
    }

    /// Bytes of the longest message that another replica can have sent.
    #[cfg(feature = "redis")]
    pub(super) fn longest_message(&self) -> usize {
        self.shared.sender.longest()
    }

    /// Tells the server, later, what it was not told at once. It never ends.
    pub(super) async fn refresh(&self) {
        self.shared.refresh.run().await;
    }

    /// Notes that a message was dropped, though not each time, so that a flood of them does not flood the log.
    fn drop_message(&self, reason: &'static str, bytes: usize) {
        let count = self.shared.dropped.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_power_of_two() {
            tracing::warn!(
                reason,
                bytes,
                count,
                "a message of the event bus was dropped"
            );
        }
    }
}

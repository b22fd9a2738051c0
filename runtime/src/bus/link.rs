//! The bus's handle to its server.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::bus::EventQueue;
use crate::bus::message::MessageCodec;
use crate::bus::refresh::Refresh;
use crate::server::subscriptions::{Event, Hub};

/// Connection between an [`EventBus`](crate::EventBus) and its server. All clones refer to the same connection.
///
/// The bus takes messages for the other replicas from it, and passes their messages to it.
///
/// Messages are short UTF-8 texts. Their length is at most six times
/// [`SubscriptionLimits::bytes`](crate::SubscriptionLimits::bytes), plus six times the length of the server's name, plus 256
/// bytes. They contain no secrets, unless resource URIs do.
#[derive(Clone)]
pub struct EventLink {
    shared: Arc<Shared>,
}

struct Shared {
    hub: Arc<Hub>,
    refresh: Refresh,
    queue: Arc<EventQueue>,
    codec: MessageCodec,
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
        codec: MessageCodec,
        refresh_interval: Duration,
    ) -> Self {
        let shared = Shared {
            refresh: Refresh::new(Arc::clone(&hub), refresh_interval),
            hub,
            queue,
            codec,
            dropped: AtomicU64::new(0),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Notifies the server that the bus now receives all events of the other replicas.
    ///
    /// Events published earlier may have been missed, so all subscribers of this replica are notified that everything they
    /// subscribed to may have changed. Call it again whenever the bus detects that it has missed events.
    #[inline]
    pub fn connected(&self) {
        tracing::info!("the event bus is connected");
        self.shared.refresh.notify();
    }

    /// Waits for the next message to publish.
    ///
    /// A message counts as published when the bus requests the next one. If the bus ends before that, its next run receives
    /// the same message again. Other replicas may therefore receive it twice, which is harmless.
    ///
    /// # Cancellation
    ///
    /// Dropping the future before it is ready loses nothing.
    pub async fn next(&self) -> Vec<u8> {
        let event = self.shared.queue.next().await;
        self.shared.codec.encode(&event)
    }

    /// Notifies the other replicas, with the next message, that everything may have changed.
    ///
    /// For a bus that has learned that messages which it had published may not have reached them.
    #[inline]
    pub fn resync_others(&self) {
        self.shared.queue.push(&Event::Resync);
    }

    /// Handles a message published by this or another replica. Invalid messages are dropped.
    ///
    /// It never blocks.
    #[inline]
    pub fn receive(&self, message: &[u8]) {
        match self.shared.codec.decode(message) {
            Ok(Some(Event::Resync)) => self.shared.refresh.notify(),
            Ok(Some(event)) => self.shared.hub.notify_local(&event),
            Ok(None) => {}
            Err(reason) => self.drop_message(reason, message.len()),
        }
    }

    /// Returns the length in bytes of the longest message that another replica can send.
    #[doc(hidden)]
    pub fn max_message_bytes(&self) -> usize {
        self.shared.codec.max_message_bytes()
    }

    /// Delivers throttled refresh events. Never completes.
    pub(super) async fn run_refresh(&self) {
        self.shared.refresh.run().await;
    }

    /// Logs a dropped message: the first, second, fourth, eighth and so on, so that a flood of them does not flood the log.
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

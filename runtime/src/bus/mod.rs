//! Propagation of events between the replicas of a server.
//!
//! `queue` holds the events of this server until its bus has published them. `supervise` runs the bus and restarts it after
//! a failure. `link` is the handle that the bus gets, for both directions. `message` encodes events, and `refresh` throttles
//! the event that everything may have changed.

mod link;
mod message;
mod queue;
mod refresh;
mod supervise;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

pub use self::link::EventLink;
pub(crate) use self::queue::EventQueue;
pub(crate) use self::supervise::{StartBus, Supervised};

/// A run of an [`EventBus`].
pub type BusFuture<'a> =
    Pin<Box<dyn Future<Output = Result<(), Box<dyn Error + Send + Sync>>> + Send + 'a>>;

/// Transport for events between the replicas of a server: list changes and resource updates.
///
/// A server without a bus notifies its own subscribers only. With a bus
/// ([`ServerBuilder::event_bus`](crate::ServerBuilder::event_bus)), [`Server::edit`](crate::Server::edit) and
/// [`Server::resource_updated`](crate::Server::resource_updated) on one replica notify the subscribers of all replicas.
/// *Only the notification is transmitted.* An edit changes only the replica on which it is made. Apply the same edits to all
/// replicas that must offer the same features.
///
/// The feature `redis` provides an implementation, `RedisBus`. An implementation for another engine is one method: it
/// connects and then moves messages in both directions until the connection fails. The server does the rest:
///
/// - It queues events while the engine is unavailable or slow. Equal events are queued once, and the queue is bounded
///   ([`EventLimits::queued`](crate::EventLimits::queued)).
/// - It restarts the bus after a failure or a panic, with exponential backoff up to
///   [`EventLimits::max_backoff`](crate::EventLimits::max_backoff).
/// - Events published by others while the bus is disconnected are lost. After each new connection the server therefore
///   notifies its subscribers that everything they subscribed to may have changed, at most once per
///   [`EventLimits::refresh_interval`](crate::EventLimits::refresh_interval).
/// - It ignores its own messages and those of servers with another name. It drops and logs messages that are not events.
///
/// A party with write access to the engine can make clients reload the items they subscribed to, and nothing else.
///
/// An implementation for replicas in one process:
///
/// ```
/// use tokio::sync::broadcast;
/// use treenail::Server;
/// use treenail::events::{BusFuture, EventBus, EventLink};
///
/// #[derive(Debug)]
/// struct InProcess(broadcast::Sender<Vec<u8>>);
///
/// impl EventBus for InProcess {
///     fn run(&self, link: EventLink) -> BusFuture<'_> {
///         Box::pin(async move {
///             let mut others = self.0.subscribe();
///             link.connected();
///             loop {
///                 tokio::select! {
///                     message = link.next() => { self.0.send(message)?; }
///                     // A receiver that falls behind gets an error here, and the server reconnects it.
///                     message = others.recv() => link.receive(&message?),
///                 }
///             }
///         })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> treenail::Result<()> {
/// let bus = std::sync::Arc::new(InProcess(broadcast::channel(64).0));
/// let replicas = [bus.clone(), bus].map(|bus| {
///     Server::builder("demo", "1.0.0").event_bus(bus).build()
/// });
/// # for replica in replicas { replica?; }
/// # Ok(())
/// # }
/// ```
pub trait EventBus: fmt::Debug + Send + Sync + 'static {
    /// Connects to the engine, calls [`EventLink::connected`], and moves messages until the connection ends.
    ///
    /// The server runs it on the tokio runtime on which the server was built, and never twice concurrently. It runs it again
    /// whenever it ends, with or without an error. A bus shared by several servers runs once for each of them.
    ///
    /// # Errors
    ///
    /// Any reason for which the connection ended. The server logs the error, so it must contain no secrets.
    ///
    /// # Cancellation
    ///
    /// The future is dropped together with the server.
    fn run(&self, link: EventLink) -> BusFuture<'_>;
}

impl<T: EventBus + ?Sized> EventBus for Arc<T> {
    fn run(&self, link: EventLink) -> BusFuture<'_> {
        (**self).run(link)
    }
}

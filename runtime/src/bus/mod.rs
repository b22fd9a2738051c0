//! How replicas of a server hear of each other's changes.
//!
//! What a server tells its own subscribers, its `queue` keeps for the others until the bus of the server has taken it.
//! `supervise` runs that bus, again and again when it fails; `link` is the bus's end of both directions, and `message` what
//! an event is while it travels. `refresh` keeps a flood of events from the listeners.

#[cfg(feature = "redis")]
mod guarded;
mod link;
mod message;
mod queue;
#[cfg(feature = "redis")]
mod redis;
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
#[cfg(feature = "redis")]
pub use self::redis::RedisBus;
pub(crate) use self::supervise::Supervised;

/// A run of an [`EventBus`].
pub type BusFuture<'a> =
    Pin<Box<dyn Future<Output = Result<(), Box<dyn Error + Send + Sync>>> + Send + 'a>>;

/// What carries events between the replicas of a server: that a list has changed, or a resource been updated.
///
/// A server without a bus tells its own subscribers only. With one
/// ([`ServerBuilder::event_bus`](crate::ServerBuilder::event_bus)) those of all replicas hear of
/// [`Server::edit`](crate::Server::edit) and [`Server::resource_updated`](crate::Server::resource_updated), wherever these
/// are called. *Only the notification crosses.* An edit changes the replica where it is made and no other; replicas that
/// shall offer the same have to be edited alike.
///
/// The feature `redis` has an implementation, `RedisBus`. To write one for another engine is to write one method, which
/// connects and then moves messages both ways until the connection fails. All else is the server's part:
///
/// - What is published while the engine is away, or slow, waits, each event once and in bounds
///   ([`EventLimits::queued`](crate::EventLimits::queued)).
/// - After a failure, or a panic, the bus is run again, after a pause that grows up to
///   [`EventLimits::max_backoff`](crate::EventLimits::max_backoff).
/// - What others published meanwhile is lost. So with each new connection the server tells its subscribers that all they
///   listen to may have changed, but no more often than
///   [`EventLimits::refresh_interval`](crate::EventLimits::refresh_interval) allows.
/// - Messages of this replica that come back, and those of servers with another name, are passed over. What is no message of
///   an event is dropped, with a line in the log.
///
/// Who can write to the engine can make clients read again what they have subscribed to, and nothing more.
///
/// This one is for replicas in one process:
///
/// ```
/// use tokio::sync::broadcast;
/// use treenail_runtime::{BusFuture, EventBus, EventLink, Server};
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
///                     // Who has been too slow gets an error here, and is connected anew.
///                     message = others.recv() => link.receive(&message?),
///                 }
///             }
///         })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> treenail_runtime::Result<()> {
/// let bus = std::sync::Arc::new(InProcess(broadcast::channel(64).0));
/// let replicas = [bus.clone(), bus].map(|bus| {
///     Server::builder("demo", "1.0.0").event_bus(bus).build()
/// });
/// # for replica in replicas { replica?; }
/// # Ok(())
/// # }
/// ```
pub trait EventBus: fmt::Debug + Send + Sync + 'static {
    /// Connects to the engine, tells [`EventLink::connected`], and moves messages until the connection ends.
    ///
    /// The server runs it on the tokio runtime where it was built, never twice at once, and again whenever it has ended,
    /// well or not. A bus that several servers share is run for each of them.
    ///
    /// # Errors
    ///
    /// Whatever ended it; that goes to the log, so it must hold no secrets.
    ///
    /// # Cancellation
    ///
    /// The future is dropped when the server is.
    fn run(&self, link: EventLink) -> BusFuture<'_>;
}

impl<T: EventBus + ?Sized> EventBus for Arc<T> {
    fn run(&self, link: EventLink) -> BusFuture<'_> {
        (**self).run(link)
    }
}

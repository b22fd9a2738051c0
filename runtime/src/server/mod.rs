//! The server: what it offers, and how one message is answered. It knows no transport.

mod answer;
mod budget;
mod builder;
mod catalog;
mod connection;
mod edit;
mod list;
mod namespace;
mod offer;
mod offers;
mod resources;
mod setup;
mod shelf;
pub(crate) mod subscriptions;
mod table;

use std::sync::Arc;

use tokio::sync::Semaphore;
use treenail_schema::Revision;

pub use self::answer::PendingResponse;
#[cfg(feature = "http-server")]
pub(crate) use self::answer::{error_code, write_error};
use self::budget::CallBudget;
pub use self::builder::ServerBuilder;
#[cfg(feature = "http-server")]
pub(crate) use self::connection::begins_call;
pub use self::connection::{Connection, Handled};
pub use self::edit::{Component, Edit};
pub use self::namespace::Namespace;
use self::offers::Offers;
use self::setup::Setup;
use self::subscriptions::{Event, Hub};
use crate::ask::Asker;
use crate::bus::Supervised;
use crate::limits::Limits;
use crate::revision::ResultFormat;

/// A server of the Model Context Protocol.
///
/// It is made once by [`Server::builder`], is cheap to clone, and serves any number of connections. It answers one
/// message at a time and knows nothing of how messages travel: [`Server::serve`] drives it over a pair of byte streams,
/// `Server::serve_stdio` over the standard streams of the process, and [`Server::connect`] is for transports of your own.
#[derive(Clone, Debug)]
pub struct Server {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    limits: Limits,
    setup: Setup,
    offers: Offers,
    hub: Arc<Hub>,
    /// The turns of functions that block.
    blocking: Arc<Semaphore>,
    /// The places of calls in flight.
    calls: CallBudget,
    /// What calls need in order to ask their clients.
    asker: Arc<Asker>,
    /// The bus that `hub` is told of other replicas by.
    #[allow(dead_code, reason = "it runs until it is dropped")]
    bus: Option<Supervised>,
}

impl Server {
    /// Starts the description of a server with the name and version that peers are told.
    ///
    /// The macro `treenail::server!()` takes both from the crate in which it stands.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> ServerBuilder {
        ServerBuilder::new(name.into(), version.into())
    }

    /// The bounds of the server.
    pub fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    /// The turns of functions that block.
    pub(crate) fn blocking(&self) -> &Arc<Semaphore> {
        &self.shared.blocking
    }

    /// The places of calls in flight.
    pub(crate) fn calls(&self) -> &CallBudget {
        &self.shared.calls
    }

    /// What calls need in order to ask their clients.
    pub(crate) fn asker(&self) -> &Arc<Asker> {
        &self.shared.asker
    }

    /// Begins with a new peer.
    pub fn connect(&self) -> Connection {
        Connection::new(self.clone())
    }

    /// Tells those who have subscribed to the resource at `uri` that it is not what it was.
    ///
    /// A resource can be subscribed to if its `#[resource]` has the key `subscribable`. Peers are told of exactly the URIs that they
    /// named, as they wrote them; several updates that a peer has not taken yet are told once. With an
    /// [event bus](crate::ServerBuilder::event_bus), the other replicas tell those who have subscribed there.
    ///
    /// ```
    /// # use treenail_runtime::Context;
    /// async fn forget(cx: &Context, id: String) {
    ///     // …
    ///     cx.server().resource_updated(&format!("weather://places/{id}"));
    /// }
    /// ```
    pub fn resource_updated(&self, uri: impl AsRef<str>) {
        let uri = uri.as_ref().into();
        self.shared.hub.publish(&Event::ResourceUpdated(uri));
    }

    /// Closes the server, for all its clones: subscriptions end with their results, and [`Server::serve`] reads no more
    /// messages and returns once the calls in flight are finished, within
    /// [`Limits::shutdown_timeout`](crate::Limits::shutdown_timeout).
    ///
    /// It returns at once, and doing it twice is doing it once. A [`Connection`] of a transport of your own goes on
    /// answering; end it when [`Server::closed`] is over, calls are finished and nothing is outgoing.
    pub fn close(&self) {
        self.shared.hub.close();
    }

    /// Waits until the [event bus](crate::ServerBuilder::event_bus) has published all that this server has had to tell other
    /// replicas. Without a bus that is at once; with one whose engine is away it takes until the engine is back.
    ///
    /// It is for the end of a process, with a timeout around it. `HttpServer::serve` does so itself.
    pub async fn flush_events(&self) {
        self.shared.hub.published().await;
    }

    /// Whether [`Server::close`] has been called.
    pub fn is_closed(&self) -> bool {
        self.shared.hub.is_closed()
    }

    /// Waits for [`Server::close`].
    pub async fn closed(&self) {
        self.shared.hub.closed().await;
    }

    pub(crate) fn style(&self, revision: Revision) -> &ResultFormat {
        &self.shared.setup.styles[revision.index()]
    }
}

//! The server: its registry, and the response to each message. It knows no transport.

pub(crate) mod absence;
mod budget;
mod builder;
mod config;
mod connection;
mod edit;
#[cfg(feature = "tower")]
pub mod layer;
mod namespace;
pub mod observe;
pub(crate) mod provider;
mod registry;
#[cfg(feature = "resource-sources")]
pub(crate) mod resource_source;
mod response;
mod resume;
pub(crate) mod subscriptions;
mod visible;
mod weak;

use std::any::Any;
use std::collections::HashSet;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::time::timeout;
use treenail_schema::Revision;

use self::budget::CallBudget;
pub use self::builder::ServerBuilder;
use self::config::ServerConfig;
pub use self::connection::{CallPermits, Connection, Handled};
pub use self::connection::{ParsedMessage, oversized};
pub use self::edit::{Component, Edit};
pub use self::namespace::Namespace;
#[cfg(feature = "dynamic")]
pub(crate) use self::namespace::Parts;
pub use self::response::PendingResponse;
use self::subscriptions::{Event, Hub};
pub use self::weak::{SubscribedResources, WeakServer};
use crate::ask::ElicitConfig;
use crate::bus::Supervised;
use crate::extension::Publication;
use crate::limits::Limits;
use crate::revision::ResultFormat;

/// A server of the Model Context Protocol.
///
/// It is made once by [`Server::builder`], is cheap to clone, and serves any number of connections. It answers one
/// message at a time and is independent of the transport: [`Server::serve`] drives it over a pair of byte streams,
/// `Server::serve_stdio` over the standard streams of the process, and [`Server::connect`] is for transports of your own.
#[derive(Clone, Debug)]
pub struct Server {
    state: Arc<ServerState>,
}

/// State that all connections and calls of a server share.
#[derive(Debug)]
struct ServerState {
    config: ServerConfig,
    limits: Limits,
    hub: Arc<Hub>,
    /// Permits of functions that block.
    blocking_permits: Arc<Semaphore>,
    /// Places of calls in flight.
    calls: CallBudget,
    /// Settings for questions to clients.
    elicit_config: Arc<ElicitConfig>,
    /// The observer of requests, if there is one.
    observer: Option<Arc<dyn observe::ServerObserver>>,
    /// The layers around requests, if there are any.
    #[cfg(feature = "tower")]
    layers: Option<layer::RequestService>,
    /// The `Registry`, see `Registry::of`. Its type is erased because it contains the functions, and their calls contain the
    /// server: no module of a call depends on the registry.
    registry: Arc<dyn Any + Send + Sync>,
    /// The bus that informs `hub` of events at other replicas.
    #[allow(dead_code, reason = "it runs until it is dropped")]
    bus: Option<Supervised>,
}

impl Server {
    /// Returns the bounds of the server.
    pub fn limits(&self) -> &Limits {
        &self.state.limits
    }

    /// Returns the permits of functions that block.
    pub(crate) fn blocking_permits(&self) -> &Arc<Semaphore> {
        &self.state.blocking_permits
    }

    /// Returns the places of calls in flight.
    pub(crate) fn calls(&self) -> &CallBudget {
        &self.state.calls
    }

    /// Returns the settings for questions to clients.
    pub(crate) fn elicit_config(&self) -> &Arc<ElicitConfig> {
        &self.state.elicit_config
    }

    /// Notifies the subscribers of the resource at `uri` that it has changed.
    ///
    /// A resource can be subscribed to if its `#[resource]` has the key `subscribable`. The URI must be written exactly as the
    /// peer wrote it when it subscribed. Several updates that a peer has not received yet become one notification. With an
    /// [event bus](crate::ServerBuilder::event_bus), the other replicas notify their subscribers too.
    ///
    /// ```
    /// # use treenail::Context;
    /// async fn forget(cx: &Context, id: String) {
    ///     // …
    ///     cx.server().resource_updated(&format!("weather://places/{id}"));
    /// }
    /// ```
    pub fn resource_updated(&self, uri: impl AsRef<str>) {
        let uri = uri.as_ref().into();
        self.state.hub.publish(&Event::ResourceUpdated(uri));
    }

    /// Returns the name of a method of an extension.
    pub(crate) fn extension_method(&self, name: &str) -> Option<&str> {
        self.state.config.extensions.method(name)
    }

    /// Returns the member of the parameters that the header `Mcp-Name` repeats, for a method of an extension.
    #[cfg(feature = "http-server")]
    #[doc(hidden)]
    pub fn name_header(&self, method: &str) -> Option<&str> {
        self.state.config.extensions.name_header(method)
    }

    pub(crate) fn has_extension(&self, id: &str) -> bool {
        self.state.config.extensions.has(id)
    }

    /// Returns the value of an extension, by its type.
    pub(crate) fn extension_state<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.state.config.extensions.states.get()
    }

    /// Sends a message of an extension to its subscribers at this replica.
    #[inline]
    pub(crate) fn publish_message(&self, publication: &Arc<Publication>) {
        self.state.hub.publish_message(publication);
    }

    /// Returns the keys of the topics that clients at this replica have subscribed to.
    #[inline]
    pub(crate) fn subscribed_topics(&self) -> HashSet<Arc<str>> {
        self.state.hub.topics()
    }

    /// Closes the server, for all its clones: subscriptions end with their results. [`Server::serve`] reads no more messages,
    /// and returns once the calls in flight have finished, within
    /// [`Limits::shutdown_timeout`](crate::Limits::shutdown_timeout).
    ///
    /// It returns at once, and a second call has no effect. A [`Connection`] of a transport of your own continues to respond;
    /// end it when [`Server::closed`] has returned, all calls have finished and no message is outgoing.
    pub fn close(&self) {
        self.state.hub.close();
    }

    /// Waits until the [event bus](crate::ServerBuilder::event_bus) has published all events of this server. It returns at once
    /// without a bus, and waits while the engine of the bus is unavailable.
    ///
    /// Call it at the end of a process, with a timeout. `HttpServer::serve` and [`Server::serve_stdio`] do so themselves.
    pub async fn flush_events(&self) {
        self.state.hub.flush_events().await;
    }

    /// Publishes the events of the last calls before the process ends.
    #[doc(hidden)]
    pub async fn flush_last_events(&self) {
        let limit = self.limits().events.flush_timeout;
        if timeout(limit, self.flush_events()).await.is_err() {
            tracing::warn!("the event bus has not published the last events");
        }
    }

    /// Returns `true` if [`Server::close`] has been called.
    pub fn is_closed(&self) -> bool {
        self.state.hub.is_closed()
    }

    /// Waits for [`Server::close`].
    pub async fn closed(&self) {
        self.state.hub.closed().await;
    }

    /// Returns the style of results for peers of a revision.
    pub(crate) fn style(&self, revision: Revision) -> &ResultFormat {
        &self.state.config.styles[revision.index()]
    }
}

//! Settings of a server: its description, its bounds, and the observer and the layers of its requests.

use std::sync::Arc;
use std::time::Duration;

use treenail_schema::{CacheScope, Icon};

use super::ServerBuilder;
use crate::ask::RequestStateKey;
use crate::bus::{EventBus, Supervised};
use crate::extension::Extension;
use crate::limits::Limits;
use crate::revision::WrapResults;
use crate::server::config::Caching;
#[cfg(feature = "tower")]
use crate::server::layer::{BoxError, Request, RequestService, Response};
use crate::server::observe::ServerObserver;

impl ServerBuilder {
    /// Sets the display name of the server.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.info.title = Some(title.into());
        self
    }

    /// Sets a one-sentence description of the server for users.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.info.description = Some(description.into());
        self
    }

    /// Sets the website of the server.
    pub fn website_url(mut self, url: impl Into<String>) -> Self {
        self.info.website_url = Some(url.into());
        self
    }

    /// Sets the icons of the server.
    pub fn icons(mut self, icons: impl IntoIterator<Item = Icon>) -> Self {
        self.info.icons = Some(icons.into_iter().collect());
        self
    }

    /// Adds instructions for the model. They precede those of mounted types.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions.insert(0, instructions.into());
        self
    }

    /// Sets when results other than JSON objects, such as numbers and lists, are wrapped as structured content
    /// `{"result": …}`. Default: [`WrapResults::Legacy`], for peers that accept only objects.
    ///
    /// ```
    /// use treenail::Server;
    /// use treenail::tool::WrapResults;
    ///
    /// // For hosts that expect objects in every revision.
    /// let server = Server::builder("demo", "1.0.0").wrap_results(WrapResults::Always).build()?;
    /// # Ok::<(), treenail::Error>(())
    /// ```
    pub fn wrap_results(mut self, when: WrapResults) -> Self {
        self.wrap_results = when;
        self
    }

    /// Sets the time for which clients may cache lists (default: zero), and whether users may share them (default:
    /// [`CacheScope::Private`]). Revisions before 2026-07-28 do not transmit it.
    pub fn cache_lists(mut self, ttl: Duration, scope: CacheScope) -> Self {
        self.caching = Caching { ttl, scope };
        self
    }

    /// Sets the bounds of the server.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the key that encrypts the state of clients of the modern era between the rounds of a request, when a function
    /// [asks](crate::Context::elicit). Default: a random key for each server, unknown to other replicas and later processes.
    pub fn request_state_key(mut self, key: RequestStateKey) -> Self {
        self.request_state_key = Some(key);
        self
    }

    /// Sends the events of [`Server::edit`](crate::Server::edit) and
    /// [`Server::resource_updated`](crate::Server::resource_updated) to the subscribers at all replicas of the server, see
    /// [`EventBus`]. The server must then be built on the tokio runtime on which the bus runs. Building does not wait for a
    /// connection.
    pub fn event_bus(mut self, bus: impl EventBus) -> Self {
        self.event_bus = Some((Arc::new(bus), Supervised::start));
        self
    }

    /// Sets the observer of all requests and sessions, for telemetry. A second one replaces the first.
    pub fn observe(mut self, observer: impl ServerObserver) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// Adds an [`Extension`] of the protocol, which the server declares to its clients.
    pub fn extension(mut self, extension: impl Into<Extension>) -> Self {
        self.extensions.push(extension.into());
        self
    }

    /// Adds a [`Layer`](tower_layer::Layer) around requests, such as a rate limit: calls of tools, prompts, resources, completions,
    /// and lists. See [`layer`](crate::layer). Needs the feature `tower`.
    ///
    /// Requests pass through the layers in the order in which they were added, and through those of one `ServiceBuilder` in its
    /// order. The services of the layers are made once for the server. A service takes one request after another, each when the
    /// service is ready for it (`poll_ready`). It does not need to be `Clone`, so a rate limit works. This waiting time does not
    /// count towards the timeout of a tool, because the policy of a tool is inside of the layers.
    ///
    /// - [`only`](crate::layer::only) restricts a layer to some requests.
    /// - The response of a layer, a [`Response`] or a result such as `CallToolResult`, is the result.
    /// - An [`RpcError`](crate::RpcError) of a layer becomes a JSON-RPC error. Any other error, and a panic, becomes a result with
    ///   `isError` if it is the call of a tool, and otherwise an internal error (-32603) with its message.
    /// - Layers that react to each other, such as load shedding and a limit, belong in one `ServiceBuilder`. The service inside
    ///   of each call of this method is always ready, and its requests wait.
    /// - Scopes are checked, and [hidden](ServerBuilder::visible) items removed, before the layers.
    ///
    /// [`ServerBuilder::build`] makes the services. Some that use time, such as a rate limit, panic if they are made outside of a
    /// tokio runtime.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use tower::ServiceBuilder;
    /// use treenail::Server;
    /// use treenail::layer::{Request, only};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> treenail::Result<()> {
    /// let limits = ServiceBuilder::new().load_shed().rate_limit(10, Duration::from_secs(1));
    /// let server = Server::builder("demo", "1.0.0").layer(only(Request::is_tool_call, limits)).build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "tower")]
    pub fn layer<L>(mut self, layer: L) -> Self
    where
        L: tower_layer::Layer<RequestService> + Send + Sync + 'static,
        L::Service: tower_service::Service<Request> + Send + 'static,
        <L::Service as tower_service::Service<Request>>::Response: Into<Response>,
        <L::Service as tower_service::Service<Request>>::Error: Into<BoxError>,
        <L::Service as tower_service::Service<Request>>::Future: Send + 'static,
    {
        self.layers.push(layer);
        self
    }
}

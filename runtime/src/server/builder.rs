//! Builder of servers.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tokio::sync::Semaphore;
use treenail_schema::{CacheScope, Icon, Implementation, Revision};

use crate::ask::{ElicitConfig, NO_RANDOM_BYTES, RequestStateKey};
use crate::bus::{EventBus, EventQueue, StartBus, Supervised};
use crate::definition::Mount;
#[cfg(feature = "dynamic")]
use crate::dynamic::Feature;
use crate::error::{Error, Result};
use crate::extension::{self, Extension};
use crate::json::json_tree;
use crate::limits::Limits;
use crate::revision::{ResultFormat, WrapResults};
use crate::server::budget::CallBudget;
use crate::server::config::{Caching, ServerConfig};
#[cfg(feature = "tower")]
use crate::server::layer::{BoxError, LayerList, Request, RequestService, Response};
use crate::server::namespace::Namespace;
use crate::server::observe::ServerObserver;
use crate::server::registry::Registry;
use crate::server::subscriptions::Hub;
use crate::server::{Server, ServerState};
use crate::tool::IntoToolSet;
use crate::visibility::Rule;
use crate::wrap::CallStack;

/// Builder of a [`Server`], made by [`Server::builder`].
///
/// ```
/// use treenail::Server;
///
/// let server = Server::builder("demo", "1.0.0").title("Demo").build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "a server exists once it is built"]
pub struct ServerBuilder {
    info: Implementation,
    instructions: Vec<String>,
    registry: Namespace,
    dynamic: bool,
    separator: Option<String>,
    wrap_results: WrapResults,
    caching: Caching,
    pub(super) rules: Vec<Rule>,
    limits: Limits,
    extensions: Vec<Extension>,
    request_state_key: Option<RequestStateKey>,
    event_bus: Option<(Arc<dyn EventBus>, StartBus)>,
    observer: Option<Arc<dyn ServerObserver>>,
    #[cfg(feature = "tower")]
    layers: LayerList,
}

impl Server {
    /// Returns a builder for a server with this name and version, which peers see.
    ///
    /// The macro `treenail::server!()` takes both from the crate that calls it.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> ServerBuilder {
        ServerBuilder::new(name.into(), version.into())
    }
}

impl ServerBuilder {
    pub(crate) fn new(name: String, version: String) -> Self {
        Self {
            info: Implementation::new(name, version),
            instructions: Vec::new(),
            registry: Namespace::root(),
            dynamic: false,
            separator: None,
            wrap_results: WrapResults::default(),
            caching: Caching {
                ttl: Duration::ZERO,
                scope: CacheScope::Private,
            },
            rules: Vec::new(),
            limits: Limits::default(),
            extensions: Vec::new(),
            request_state_key: None,
            event_bus: None,
            observer: None,
            #[cfg(feature = "tower")]
            layers: LayerList::default(),
        }
    }

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

    /// Adds the tools, prompts and resources of a type, under the namespace that its `#[mcp_tool]` names. Mount an `Arc` of the
    /// type if the program itself uses the state too.
    pub fn mount<T: Mount>(mut self, state: T) -> Self {
        self.registry = self.registry.mount(state);
        self
    }

    /// Adds tools that are free functions, as `tools![…]` lists them.
    pub fn tools(mut self, tools: impl IntoToolSet) -> Self {
        self.registry = self.registry.tools(tools);
        self
    }

    /// Adds features that are made at run time: one, or a collection of them. Needs the feature `dynamic`.
    ///
    /// ```
    /// use treenail::Server;
    /// use treenail::dynamic::{Prompt, Tool};
    ///
    /// let now = Tool::new("now").handler(|_, _| async { "12:00" });
    /// let plan = Prompt::new("plan").handler(|_, _| async { "Plan my day." });
    /// let server = Server::builder("demo", "1.0.0").add([now, plan]).build()?;
    /// # Ok::<(), treenail::Error>(())
    /// ```
    #[allow(
        clippy::should_implement_trait,
        reason = "a server is not a number, and the name is that of collections"
    )]
    #[cfg(feature = "dynamic")]
    pub fn add(mut self, features: impl IntoIterator<Item = Feature>) -> Self {
        self.registry = self.registry.add(features);
        self
    }

    /// Adds a namespace with the content that `fill` puts into it: types and functions, whose names get the prefix `name`, and
    /// nested namespaces.
    ///
    /// ```
    /// use treenail::Server;
    /// use treenail::server::Namespace;
    /// use treenail::tool::ToolSet;
    ///
    /// fn reports(reports: Namespace) -> Namespace {
    ///     reports.tools(ToolSet::new()) // `admin.reports.…`
    /// }
    ///
    /// let server = Server::builder("demo", "1.0.0")
    ///     .namespace("admin", |admin| admin.namespace("reports", reports))
    ///     .build()?;
    /// # Ok::<(), treenail::Error>(())
    /// ```
    pub fn namespace(
        mut self,
        name: impl AsRef<str>,
        fill: impl FnOnce(Namespace) -> Namespace,
    ) -> Self {
        self.registry = self.registry.namespace(name, fill);
        self
    }

    /// Allows [`Server::edit`] to change the tools, prompts and resources of the server while it runs.
    ///
    /// Such a server declares tools, prompts and resources with `listChanged`, even while it has none of a kind.
    pub fn dynamic(mut self) -> Self {
        self.dynamic = true;
        self
    }

    /// Replaces the dots in names of tools, prompts and resources by `separator`, for hosts that reject dots.
    ///
    /// The APIs of `OpenAI`'s and Anthropic's models allow `a-z A-Z 0-9 _ -` in names of tools, up to 64 characters. Most hosts
    /// replace dots before they pass names to a model. Set `"_"` or `"__"` for hosts that pass names unchanged, such as
    /// openai-agents, `LangChain` and pydantic-ai.
    ///
    /// Calls must use the separator, so names stay unique. Building fails if a name contains the separator already, because the
    /// end of the namespace would be ambiguous.
    ///
    /// Without a separator, `tools/call` also accepts a name with `_` or `__` for each dot, such as `weather_forecast` for
    /// `weather.forecast`. The form must be unambiguous and not the name of another tool. A proxy that filters calls by tool name
    /// needs an allow list, or has to block these forms too.
    pub fn name_separator(mut self, separator: impl Into<String>) -> Self {
        self.separator = Some(separator.into());
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

    /// Sends the events of [`Server::edit`] and [`Server::resource_updated`] to the subscribers at all replicas of the server, see
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

    /// Builds the server, and prepares everything that does not depend on a call.
    ///
    /// # Errors
    ///
    /// [`Error::Build`] if two tools or prompts have the same name, two resources have the same URI, two extensions have the same
    /// identifier or method, a name, URI or identifier is invalid,
    /// the default of an argument cannot be written as JSON, or there is an event bus without a tokio runtime.
    pub fn build(self) -> Result<Server> {
        let info = json_tree(&self.info).map_err(|error| Error::Build(error.to_string()))?;
        let key = match self.request_state_key {
            Some(key) => key,
            None => {
                RequestStateKey::random().map_err(|_| Error::Build(NO_RANDOM_BYTES.to_owned()))?
            }
        };
        let stack = CallStack {
            call_timeout: self.limits.call_timeout,
        };
        let limits = self.limits;
        let elicit_config = ElicitConfig::new(&self.info.name, key, &limits);
        let parts = self.registry.into_parts().map_err(Error::Build)?;
        let extensions = parts.with_task_extensions(self.extensions);
        let (facts, handlers, on_build) = extension::build(extensions).map_err(Error::Build)?;
        let config = ServerConfig {
            styles: Revision::ALL
                .map(|revision| ResultFormat::new(revision, info.clone(), self.wrap_results)),
            info,
            instructions: self.instructions,
            separator: self.separator,
            extensions: facts,
            caching: self.caching,
            page_size: limits.page_size,
            dynamic: self.dynamic,
            filtered: AtomicBool::new(!self.rules.is_empty()),
            rules: self.rules,
            cached_views: limits.cached_views,
        };
        let registry = Registry::new((parts, handlers), stack, &config).map_err(Error::Build)?;
        let (hub, bus) = connect(self.event_bus, &self.info.name, &limits)?;
        let server = Server {
            state: Arc::new(ServerState {
                blocking_permits: Arc::new(Semaphore::new(
                    limits.blocking_calls.clamp(1, Semaphore::MAX_PERMITS),
                )),
                calls: CallBudget::new(limits.server_calls_in_flight),
                registry: Arc::new(registry),
                hub,
                bus,
                config,
                limits,
                elicit_config: Arc::new(elicit_config),
                observer: self.observer,
                #[cfg(feature = "tower")]
                layers: self.layers.build(),
            }),
        };
        for started in on_build {
            started(&server);
        }
        Ok(server)
    }
}

/// Makes the hub of a server, and connects it with those of other replicas.
fn connect(
    bus: Option<(Arc<dyn EventBus>, StartBus)>,
    server: &str,
    limits: &Limits,
) -> Result<(Arc<Hub>, Option<Supervised>)> {
    let Some((bus, start)) = bus else {
        return Ok(Default::default());
    };
    let queue = Arc::new(EventQueue::new(limits));
    let hub = Arc::new(Hub::new(Some(Arc::clone(&queue))));
    let running = start(bus, server, (Arc::clone(&hub), queue), limits)?;
    Ok((hub, Some(running)))
}

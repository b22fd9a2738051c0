//! Builder of servers.

mod build;
mod settings;

use std::sync::Arc;
use std::time::Duration;

use treenail_schema::{CacheScope, Implementation};

use crate::ask::RequestStateKey;
use crate::bus::{EventBus, StartBus, Supervised};
use crate::definition::Mount;
#[cfg(feature = "dynamic")]
use crate::dynamic::IntoFeatures;
use crate::extension::Extension;
use crate::limits::Limits;
use crate::revision::WrapResults;
use crate::server::Server;
use crate::server::config::Caching;
#[cfg(feature = "tower")]
use crate::server::layer::{BoxError, LayerList, Request, RequestService, Response};
use crate::server::namespace::Namespace;
use crate::server::observe::ServerObserver;
use crate::tool::IntoToolSet;
use crate::visibility::Rule;

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
    pub fn add(mut self, features: impl IntoFeatures) -> Self {
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
    /// Calls must use the separator. A name may contain it already, such as `word_count` with `"_"`. Building fails if two names
    /// become the same.
    ///
    /// Without a separator, `tools/call` also accepts a name with `_` or `__` for each dot, such as `weather_forecast` for
    /// `weather.forecast`. The form must be unambiguous and not the name of another tool. A proxy that filters calls by tool name
    /// needs an allow list, or has to block these forms too.
    pub fn name_separator(mut self, separator: impl Into<String>) -> Self {
        self.separator = Some(separator.into());
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
    /// - An [`RpcError`](crate::RpcError) of a layer, also in a [`treenail::Error`](crate::Error), becomes a JSON-RPC error. Any
    ///   other error, and a panic, becomes a result with `isError` if it is the call of a tool, and otherwise an internal error
    ///   (-32603) with its message.
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

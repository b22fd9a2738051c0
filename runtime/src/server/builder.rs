//! What a server is made of, until it is built.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use treenail_schema::{CacheScope, Icon, Implementation, Revision};

use crate::around::Around;
use crate::ask::{Asker, RequestStateKey};
use crate::bus::{EventBus, EventQueue, Supervised};
use crate::definition::Mount;
use crate::error::{Error, Result};
#[cfg(feature = "tower")]
use crate::layer::{BoxError, LayerList, ToolCall, ToolResponse, ToolService};
use crate::limits::Limits;
use crate::revision::{Style, WrapResults};
use crate::server::budget::CallBudget;
use crate::server::catalog::Catalog;
use crate::server::list::Caching;
use crate::server::namespace::Namespace;
use crate::server::offers::Offers;
use crate::server::setup::Setup;
use crate::server::subscriptions::Hub;
use crate::server::{Server, Shared};
use crate::tool::ToolSet;

/// What a server is made of; [`ServerBuilder::build`] makes it.
///
/// ```
/// use treenail_runtime::Server;
///
/// let server = Server::builder("demo", "1.0.0").title("Demo").build()?;
/// # Ok::<(), treenail_runtime::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "a server exists once it is built"]
pub struct ServerBuilder {
    info: Implementation,
    instructions: Vec<String>,
    offer: Namespace,
    dynamic: bool,
    separator: Option<String>,
    wrap_results: WrapResults,
    caching: Caching,
    limits: Limits,
    request_state_key: Option<RequestStateKey>,
    event_bus: Option<Arc<dyn EventBus>>,
    #[cfg(feature = "tower")]
    layers: LayerList,
}

impl ServerBuilder {
    pub(crate) fn new(name: String, version: String) -> Self {
        Self {
            info: Implementation::new(name, version),
            instructions: Vec::new(),
            offer: Namespace::outermost(),
            dynamic: false,
            separator: None,
            wrap_results: WrapResults::default(),
            caching: Caching {
                ttl: Duration::ZERO,
                scope: CacheScope::Private,
            },
            limits: Limits::default(),
            request_state_key: None,
            event_bus: None,
            #[cfg(feature = "tower")]
            layers: LayerList::default(),
        }
    }

    /// The name of the server that people see.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.info.title = Some(title.into());
        self
    }

    /// What the server is, in a sentence for people.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.info.description = Some(description.into());
        self
    }

    /// Where people can read about the server.
    pub fn website_url(mut self, url: impl Into<String>) -> Self {
        self.info.website_url = Some(url.into());
        self
    }

    /// Pictures for the server.
    pub fn icons(mut self, icons: impl IntoIterator<Item = Icon>) -> Self {
        self.info.icons = Some(icons.into_iter().collect());
        self
    }

    /// Tells the model how to use the server; comes before what mounted types say of themselves.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions.insert(0, instructions.into());
        self
    }

    /// Adds the tools, prompts and resources of a type, under the namespace that its `#[mcp_tool]` names. A state that the
    /// program itself needs is mounted as an `Arc` of the type.
    pub fn mount<T: Mount>(mut self, state: T) -> Self {
        self.offer = self.offer.mount(state);
        self
    }

    /// Adds tools that are free functions, as `tools![…]` lists them.
    pub fn tools(mut self, tools: ToolSet) -> Self {
        self.offer = self.offer.tools(tools);
        self
    }

    /// Adds what `fill` puts into a namespace: types and functions, whose names then begin with `name`, and further
    /// namespaces.
    ///
    /// ```
    /// use treenail_runtime::{Namespace, Server, ToolSet};
    ///
    /// fn reports(reports: Namespace) -> Namespace {
    ///     reports.tools(ToolSet::new()) // `admin.reports.…`
    /// }
    ///
    /// let server = Server::builder("demo", "1.0.0")
    ///     .namespace("admin", |admin| admin.namespace("reports", reports))
    ///     .build()?;
    /// # Ok::<(), treenail_runtime::Error>(())
    /// ```
    pub fn namespace(
        mut self,
        name: impl AsRef<str>,
        fill: impl FnOnce(Namespace) -> Namespace,
    ) -> Self {
        self.offer = self.offer.namespace(name, fill);
        self
    }

    /// Says that what the server offers may change while it runs, by [`Server::edit`].
    ///
    /// Peers are told that such a server has tools, prompts and resources, also while it has none of a kind, and that
    /// they can hear of changes.
    pub fn dynamic(mut self) -> Self {
        self.dynamic = true;
        self
    }

    /// Shows `separator` in place of the dot in names of tools, prompts and resources, for hosts that refuse dots.
    ///
    /// The interfaces of `OpenAI`'s and Anthropic's models allow `a-z A-Z 0-9 _ -` in names of tools, and up to 64 of them.
    /// Most hosts write something else for dots when they hand names to a model. Set `"_"` or `"__"` for hosts that do not and
    /// refuse the tools instead: openai-agents, `LangChain` and pydantic-ai hand names on as they are.
    ///
    /// Calls are understood with the separator only, so names stay unique. Building fails if a name has the separator
    /// in it already, because then the namespace could not be told from the method.
    ///
    /// Without a separator, `tools/call` takes a name with `_` or `__` for each dot as well, where that can mean one tool only
    /// and no tool is called so: `weather_forecast` for `weather.forecast`. Proxies that let calls pass by the names of
    /// tools have to list what is allowed and not what is forbidden, or compare these forms too.
    pub fn name_separator(mut self, separator: impl Into<String>) -> Self {
        self.separator = Some(separator.into());
        self
    }

    /// Sets when results that are no JSON objects, such as numbers and lists, become structured content as
    /// `{"result": …}`. Default: [`WrapResults::Legacy`], for peers that take nothing but objects.
    ///
    /// ```
    /// use treenail_runtime::{Server, WrapResults};
    ///
    /// // For hosts that expect objects in every revision.
    /// let server = Server::builder("demo", "1.0.0").wrap_results(WrapResults::Always).build()?;
    /// # Ok::<(), treenail_runtime::Error>(())
    /// ```
    pub fn wrap_results(mut self, when: WrapResults) -> Self {
        self.wrap_results = when;
        self
    }

    /// How long clients may keep lists (default: not at all), and whether they may share them among users (default:
    /// [`CacheScope::Private`]). Peers of the revisions before 2026-07-28 are not told.
    pub fn cache_lists(mut self, ttl: Duration, scope: CacheScope) -> Self {
        self.caching = Caching { ttl, scope };
        self
    }

    /// The bounds of the server.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The secret that seals what clients of the modern era carry from one round of a request to the next, when a function
    /// [asks](crate::Context::elicit). Default: one of its own for each server that is built, which no other replica and no
    /// later process knows.
    pub fn request_state_key(mut self, key: RequestStateKey) -> Self {
        self.request_state_key = Some(key);
        self
    }

    /// Tells subscribers at all replicas of the server, and not at this one alone, of [`Server::edit`] and
    /// [`Server::resource_updated`]: see [`EventBus`]. Building then has to happen on the tokio runtime on which the bus shall
    /// run, and waits for no connection.
    pub fn event_bus(mut self, bus: impl EventBus) -> Self {
        self.event_bus = Some(Arc::new(bus));
        self
    }

    /// Puts a [`Layer`](tower_layer::Layer) around the calls of all tools, such as a rate limit; the feature `tower`.
    ///
    /// Calls go through the layers in the order in which they were added, and through those of one `ServiceBuilder` in the
    /// order in which they stand there. The layers are made once for the server. Their service takes one call after
    /// another: a call waits in line until the service is ready for it (`poll_ready`), so services that cannot be cloned,
    /// such as that of a rate limit, will do. How long a call waits there does not count towards the timeout of its tool;
    /// the policy of a tool is applied within the layers.
    ///
    /// - What a layer answers with, a [`ToolResponse`](crate::ToolResponse) or a `CallToolResult`, is the result.
    /// - An [`RpcError`](crate::RpcError) that it fails with is the answer as a JSON-RPC error. Any other error becomes a
    ///   result with `isError`, as that of a tool does, and so does a panic.
    /// - Layers that must react to each other, as load shedding does to a limit, belong in one `ServiceBuilder`: between two
    ///   calls of this method the inner service is always ready, and its calls wait.
    ///
    /// [`ServerBuilder::build`] makes the services; some of those that measure time, that of a rate limit among them, have
    /// to be made on a tokio runtime and panic elsewhere.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use tower::ServiceBuilder;
    /// use treenail_runtime::Server;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> treenail_runtime::Result<()> {
    /// let limits = ServiceBuilder::new().load_shed().rate_limit(10, Duration::from_secs(1));
    /// let server = Server::builder("demo", "1.0.0").layer(limits).build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "tower")]
    pub fn layer<L>(mut self, layer: L) -> Self
    where
        L: tower_layer::Layer<ToolService> + Send + Sync + 'static,
        L::Service: tower_service::Service<ToolCall> + Send + 'static,
        <L::Service as tower_service::Service<ToolCall>>::Response: Into<ToolResponse>,
        <L::Service as tower_service::Service<ToolCall>>::Error: Into<BoxError>,
        <L::Service as tower_service::Service<ToolCall>>::Future: Send + 'static,
    {
        self.layers.push(layer);
        self
    }

    /// Checks what the server is made of and prepares all that does not depend on a call.
    ///
    /// # Errors
    ///
    /// [`Error::Build`] if two tools or prompts have one name, two resources have one URI, a name or URI is not allowed, or
    /// a default of an argument is not JSON; or if there is an event bus, but no tokio runtime.
    pub fn build(self) -> Result<Server> {
        let info =
            serde_json::to_value(&self.info).map_err(|error| Error::Build(error.to_string()))?;
        let key = match self.request_state_key {
            Some(key) => key,
            None => RequestStateKey::random()
                .map_err(|_| Error::Build("there are no random numbers".to_owned()))?,
        };
        let around = Around {
            call_timeout: self.limits.call_timeout,
            #[cfg(feature = "tower")]
            layers: self.layers.build(),
        };
        let asker = Arc::new(Asker::new(&self.info.name, key, &self.limits));
        let limits = self.limits;
        let setup = Setup {
            styles: Revision::ALL
                .map(|revision| Style::new(revision, info.clone(), self.wrap_results)),
            info,
            instructions: self.instructions,
            separator: self.separator,
            caching: self.caching,
            page_size: limits.page_size,
            dynamic: self.dynamic,
            around,
        };
        let parts = self.offer.into_parts();
        let catalog = parts
            .and_then(|parts| Catalog::new(parts, &setup))
            .map_err(Error::Build)?;
        let (hub, bus) = connect(self.event_bus, &self.info.name, &limits)?;
        Ok(Server {
            shared: Arc::new(Shared {
                blocking: Arc::new(Semaphore::new(
                    limits.blocking_calls.min(Semaphore::MAX_PERMITS),
                )),
                calls: CallBudget::new(limits.server_calls_in_flight),
                offers: Offers::new(catalog, &setup),
                hub,
                bus,
                setup,
                limits,
                asker,
            }),
        })
    }
}

/// The hub of a server, and what connects it with those of other replicas.
fn connect(
    bus: Option<Arc<dyn EventBus>>,
    server: &str,
    limits: &Limits,
) -> Result<(Arc<Hub>, Option<Supervised>)> {
    let Some(bus) = bus else {
        return Ok(Default::default());
    };
    let queue = Arc::new(EventQueue::new(limits));
    let hub = Arc::new(Hub::new(Some(Arc::clone(&queue))));
    let running = Supervised::start(bus, server, (Arc::clone(&hub), queue), limits)?;
    Ok((hub, Some(running)))
}

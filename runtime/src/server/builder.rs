//! What a server is made of, until it is built.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use treenail_schema::{CacheScope, Icon, Implementation, Revision};

use crate::around::Around;
use crate::definition::Mount;
use crate::error::{Error, Result};
#[cfg(feature = "tower")]
use crate::layer::{BoxError, LayerList, ToolCall, ToolResponse, ToolService};
use crate::limits::Limits;
use crate::revision::{Style, supported_versions};
use crate::server::list::Caching;
use crate::server::offer::{Offer, Parts};
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
    parts: Result<Parts, String>,
    separator: Option<String>,
    caching: Caching,
    limits: Limits,
    #[cfg(feature = "tower")]
    layers: LayerList,
}

impl ServerBuilder {
    pub(crate) fn new(name: String, version: String) -> Self {
        Self {
            info: Implementation::new(name, version),
            instructions: Vec::new(),
            parts: Ok(Parts::default()),
            separator: None,
            caching: Caching {
                ttl: Duration::ZERO,
                scope: CacheScope::Private,
            },
            limits: Limits::default(),
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

    /// Adds the tools, prompts and resources of a type, under the namespace that its `#[mcp_tool]` names.
    pub fn mount<T: Mount>(mut self, state: T) -> Self {
        if !T::INSTRUCTIONS.is_empty() {
            self.instructions.push(T::INSTRUCTIONS.to_owned());
        }
        self.parts = self.parts.and_then(|parts| parts.mount(state));
        self
    }

    /// Adds tools that are free functions, as `tools![…]` lists them.
    pub fn tools(mut self, tools: ToolSet) -> Self {
        self.parts = self.parts.and_then(|parts| parts.add(tools));
        self
    }

    /// Shows `separator` in place of the dot in names of tools, prompts and resources, for hosts that refuse dots.
    ///
    /// Calls are understood with the separator only, so names stay unique. Building fails if a name has the separator
    /// in it already, because then the namespace could not be told from the method.
    pub fn name_separator(mut self, separator: impl Into<String>) -> Self {
        self.separator = Some(separator.into());
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
    #[cfg_attr(docsrs, doc(cfg(feature = "tower")))]
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
    /// a default of an argument is not JSON.
    pub fn build(self) -> Result<Server> {
        let info =
            serde_json::to_value(&self.info).map_err(|error| Error::Build(error.to_string()))?;
        let instructions = (!self.instructions.is_empty()).then(|| self.instructions.join("\n\n"));
        let styles = Revision::ALL.map(|revision| Style::new(revision, info.clone()));
        let (separator, page_size) = (self.separator.as_deref(), self.limits.page_size);
        let around = Around {
            call_timeout: self.limits.call_timeout,
            #[cfg(feature = "tower")]
            layers: self.layers.build(),
        };
        let offer = self
            .parts
            .map(|parts| parts.within(&around))
            .and_then(|parts| Offer::new(parts, separator, &styles, &self.caching, page_size))
            .map_err(Error::Build)?;
        let greeting = Greeting {
            info,
            instructions,
            caching: self.caching,
        };
        let greetings =
            Revision::ALL.map(|revision| greeting.write(revision, &offer.capabilities(revision)));
        let blocking = Arc::new(Semaphore::new(self.limits.blocking_calls));
        let limits = self.limits;
        Ok(Server {
            shared: Arc::new(Shared {
                limits,
                offer,
                blocking,
                styles,
                greetings,
            }),
        })
    }
}

/// What a server says of itself.
struct Greeting {
    info: Value,
    instructions: Option<String>,
    caching: Caching,
}

impl Greeting {
    /// The result of `initialize`, or of `server/discover` in the modern era.
    fn write(&self, revision: Revision, capabilities: &Value) -> Vec<u8> {
        let mut result = json!({ "capabilities": capabilities });
        if let Some(instructions) = &self.instructions {
            result["instructions"] = instructions.as_str().into();
        }
        if revision.is_modern() {
            result["supportedVersions"] = supported_versions().into();
            result["resultType"] = "complete".into();
            result["ttlMs"] = self.caching.ttl_ms().into();
            result["cacheScope"] = json!(self.caching.scope);
            result["_meta"] = json!({ "io.modelcontextprotocol/serverInfo": self.info });
        } else {
            result["protocolVersion"] = revision.as_str().into();
            result["serverInfo"] = self.info.clone();
        }
        result.to_string().into_bytes()
    }
}

//! Description of a server to put behind a proxy.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use treenail_runtime::client::McpClientBuilder;
use treenail_runtime::internal::catch_panic;
use treenail_runtime::internal::task::TaskTool;
use treenail_runtime::{Context, FeatureDescriptor, IntoScopes, RequiredScopes};
use treenail_schema::internal::shortened;
use treenail_schema::{ClientCapabilities, MetaObject};

use crate::omissions::Omissions;

type Connect = dyn Fn() -> McpClientBuilder + Send + Sync;
type Filter = dyn Fn(&FeatureDescriptor<'_>) -> bool + Send + Sync;
/// Function that returns the scopes of a feature.
pub(crate) type Scope = dyn Fn(&FeatureDescriptor<'_>) -> RequiredScopes + Send + Sync;
/// Function that returns members of `_meta` for a call.
pub(crate) type CallMeta = dyn Fn(&Context) -> MetaObject + Send + Sync;

/// A server to put behind a [`Proxy`](crate::Proxy), and the part of it that is served.
///
/// ```
/// use treenail::McpClient;
/// use treenail::proxy::Remote;
///
/// let weather = Remote::new("weather", || McpClient::builder().command("weather-server"))
///     .filter(|feature| !feature.name().starts_with("admin"))
///     .rename("getForecast", "forecast");
/// # let _ = weather;
/// ```
#[must_use = "a server is served once it is mounted"]
pub struct Remote {
    pub(crate) name: Arc<str>,
    pub(crate) namespace: String,
    pub(crate) connect: Box<Connect>,
    pub(crate) filter: Option<Arc<Filter>>,
    pub(crate) renamed: HashMap<String, String>,
    pub(crate) capabilities: Option<ClientCapabilities>,
    pub(crate) task: Option<Arc<dyn TaskTool>>,
    pub(crate) scope: Option<Box<Scope>>,
    pub(crate) meta: Option<Arc<CallMeta>>,
}

impl fmt::Debug for Remote {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Remote")
            .field("name", &self.name)
            .field("namespace", &self.namespace)
            .field("renamed", &self.renamed)
            .finish_non_exhaustive()
    }
}

impl Remote {
    /// Describes a server with a name for messages, which is its namespace too. `connect` makes the builder of its client for
    /// each connection; its panic is a failed attempt to connect. The proxy answers the requests of the server itself, so handlers
    /// of the builder are not used.
    pub fn new(
        name: impl Into<String>,
        connect: impl Fn() -> McpClientBuilder + Send + Sync + 'static,
    ) -> Self {
        let name = name.into();
        Self {
            namespace: name.clone(),
            name: name.into(),
            connect: Box::new(connect),
            filter: None,
            renamed: HashMap::new(),
            capabilities: None,
            task: None,
            scope: None,
            meta: None,
        }
    }

    /// Sets the namespace: a prefix of all names, followed by a dot. Empty for no prefix. Default: the name.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Serves only the features for which `filter` returns true. A feature that is not served cannot be called either. Several
    /// filters apply all. A feature for which `filter` panics is not served until the lists are fetched again.
    pub fn filter(
        mut self,
        filter: impl Fn(&FeatureDescriptor<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.filter = Some(match self.filter.take() {
            Some(earlier) => Arc::new(move |feature| earlier(feature) && filter(feature)),
            None => Arc::new(filter),
        });
        self
    }

    /// Serves the tools, prompts and resources with the name `from` under another one, in the same namespace. Characters
    /// that names must not have become `_`.
    pub fn rename(mut self, from: impl Into<String>, to: impl Into<String>) -> Self {
        self.renamed.insert(from.into(), to.into());
        self
    }

    /// Sets the scopes that requests need on a server with authorization. `scopes` returns those of one feature, and an empty string
    /// for none; it sees the name at the mounted server. A feature for which it panics is not served. Default: none.
    ///
    /// All resources that no list contains are one template with the name `unlisted` and the text `{+uri}`.
    ///
    /// The features are known only once the server is connected, so a scope that the resource server does not declare is no error of
    /// its construction. Requests that need it are refused, unless their token grants it.
    ///
    /// ```
    /// use treenail::McpClient;
    /// use treenail::proxy::Remote;
    ///
    /// let files = Remote::new("files", || McpClient::builder().command("file-server"))
    ///     .scope(|feature| match feature.name() {
    ///         "write_file" | "delete_file" => "files:write",
    ///         _ => "files:read",
    ///     });
    /// # let _ = files;
    /// ```
    pub fn scope<S: IntoScopes>(
        mut self,
        scopes: impl Fn(&FeatureDescriptor<'_>) -> S + Send + Sync + 'static,
    ) -> Self {
        self.scope = Some(Box::new(move |feature| scopes(feature).into_scopes()));
        self
    }

    /// Adds members to the `_meta` of each request of a client for the server, such as the identity of the caller: calls of tools,
    /// prompts, reads of resources, and completions. They replace those that the client has sent under the same keys. Lists and
    /// subscriptions are requests of the proxy for all clients. Default: only the members of the client.
    ///
    /// Members of the connection to the server are not replaced: `progressToken`, and keys that start with
    /// `io.modelcontextprotocol/`.
    ///
    /// ```
    /// use treenail::McpClient;
    /// use treenail::proxy::Remote;
    /// use treenail::schema::MetaObject;
    ///
    /// let files = Remote::new("files", || McpClient::builder().command("file-server"))
    ///     .meta(|cx| {
    ///         let user = cx.principal().map(|principal| principal.as_str());
    ///         MetaObject::from_iter([("com.example/user", user)])
    ///     });
    /// # let _ = files;
    /// ```
    pub fn meta(
        mut self,
        members: impl Fn(&Context) -> MetaObject + Send + Sync + 'static,
    ) -> Self {
        self.meta = Some(Arc::new(members));
        self
    }

    /// Sets the capabilities that a server of the legacy era sees at its handshake. Default: elicitation, sampling with tools,
    /// and roots.
    ///
    /// The clients of such a connection are not known at that time. A request that the client of its call does not support is
    /// answered with an error. A server of the modern era sees the capabilities of the client of each call.
    pub fn capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.capabilities = Some(capabilities);
        self
    }

    /// Lets calls of the tools become tasks of the proxy, which outlive their request: also those of a server without tasks. The
    /// feature `tasks` of `treenail` provides the values, and the builder of the proxy's server needs the extension `Tasks`.
    ///
    /// The call of the server is in flight as long as the task runs. If the proxy ends meanwhile, the task fails, or the server is
    /// called again if its tool is declared as read-only or idempotent.
    ///
    /// ```
    /// use treenail::proxy::{Proxy, Remote};
    /// use treenail::tasks::{Tasks, ToolTask};
    /// use treenail::{McpClient, Server};
    ///
    /// # async fn example() -> treenail::Result<()> {
    /// let server = Server::builder("gateway", "1.0.0").dynamic().extension(Tasks::new()).build()?;
    /// let reports = Remote::new("reports", || McpClient::builder().command("report-server"));
    /// Proxy::new(&server).mount(reports.task(ToolTask::new()))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn task(mut self, task: impl TaskTool) -> Self {
        self.task = Some(Arc::new(task));
        self
    }

    /// Returns true if the filter selects a feature. One for which the filter panics is omitted.
    pub(crate) fn selects(
        &self,
        feature: &FeatureDescriptor<'_>,
        omissions: &Omissions<'_>,
    ) -> bool {
        let Some(filter) = &self.filter else {
            return true;
        };
        catch_panic(|| filter(feature)).unwrap_or_else(|message| {
            let problem = format!("the filter panicked: {}", shortened(&message));
            omissions.one("feature", feature.name(), &problem);
            false
        })
    }
}

//! Builder of a client session.

mod connect;

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use treenail_schema::{
    ClientCapabilities, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, Implementation, Revision, Root,
};

#[cfg(feature = "http-client")]
use crate::client::HttpAuthorization;
use crate::client::child::ServerCommand;
use crate::client::protocol::handler::{ClientHandler, Closures};
use crate::client::protocol::handshake::Expectation;
use crate::client::protocol::target::Target;
#[cfg(feature = "http-client")]
use crate::client::protocol::target::{HttpOptions, HttpTarget};
use crate::client::protocol::task_driver::TaskDriver;
use crate::client::{ClientLimits, Session};
use crate::server::{Connection, Server};
use crate::wire::RpcError;

/// Wrapper of the session that a builder opens.
type WrapSession = dyn Fn(Arc<dyn Session>) -> Arc<dyn Session> + Send + Sync;

/// Builder of an [`McpClientSession`](crate::client::McpClientSession), returned by
/// [`McpClientSession::builder`](crate::client::McpClientSession::builder). [`build`](Self::build) connects.
#[derive(Default)]
#[must_use = "`build` connects"]
pub struct McpClientSessionBuilder {
    target: Option<Target>,
    #[cfg(feature = "http-client")]
    http: HttpOptions,
    expected: Expectation,
    info: Option<Implementation>,
    hide_client_info: bool,
    capabilities: Option<ClientCapabilities>,
    extensions: BTreeMap<String, Value>,
    closures: Closures,
    handler: Option<Box<dyn ClientHandler>>,
    wrap: Option<Box<WrapSession>>,
    tasks: Option<Arc<dyn TaskDriver>>,
    limits: ClientLimits,
}

impl McpClientSessionBuilder {
    /// Connects over an existing session.
    pub fn session(mut self, session: Arc<dyn Session>) -> Self {
        self.target = Some(Target::Session(session));
        self
    }

    /// Starts a server as a child process, from the name of a program or a [`ServerCommand`].
    pub fn command(mut self, command: impl Into<ServerCommand>) -> Self {
        self.target = Some(Target::Command(command.into()));
        self
    }

    /// Sets the credentials of a connection over HTTP, such as an OAuth client of `treenail::auth`. An `Arc` of them is
    /// accepted too. They replace those of the session.
    ///
    /// Other connections have none: [`build`](Self::build) fails with [`ClientError::Invalid`](crate::client::ClientError::Invalid).
    #[cfg(feature = "http-client")]
    pub fn authorization(mut self, authorization: impl HttpAuthorization) -> Self {
        self.http.authorization = Some(Arc::new(authorization));
        self
    }

    /// Adds a header to every request over HTTP. Headers of the protocol, such as `Accept`, cannot be set, and the value does not
    /// appear in logs or in the output of `Debug`.
    ///
    /// Other connections have none: [`build`](Self::build) fails with [`ClientError::Invalid`](crate::client::ClientError::Invalid).
    #[cfg(feature = "http-client")]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.http.headers.push((name.into(), value.into()));
        self
    }

    /// Sends a bearer token with every request over HTTP, in a [`header`](Self::header) `Authorization`. Tokens that expire are
    /// credentials of [`authorization`](Self::authorization).
    #[cfg(feature = "http-client")]
    pub fn bearer_token(self, token: impl AsRef<str>) -> Self {
        self.header("authorization", format!("Bearer {}", token.as_ref()))
    }

    /// Connects to a server in the same process, for example in a test.
    pub fn server(self, server: &Server) -> Self {
        self.connection(server.connect())
    }

    /// Connects to a server in the same process over a prepared connection, for example one with a
    /// [`Principal`](crate::Principal).
    pub fn connection(mut self, connection: Connection) -> Self {
        self.target = Some(Target::Memory(Some(Box::new(connection))));
        self
    }

    /// Accepts only this revision; in the legacy era, the server may choose an older one. By default, the client negotiates
    /// the newest revision that both sides support.
    pub fn protocol_version(mut self, revision: Revision) -> Self {
        self.expected = Expectation::Only(revision);
        self
    }

    /// Tries this revision first, for example that of the last connection to the same server
    /// ([`McpClientSession::protocol_version`](crate::client::McpClientSession::protocol_version)). If the server does not support it, the client negotiates as usual. With a
    /// legacy server this saves the probe, a request that it would not understand.
    pub fn prefer_version(mut self, revision: Revision) -> Self {
        self.expected = Expectation::Preferred(revision);
        self
    }

    /// Sets the client's name and version. Default: `treenail` and its version.
    pub fn client_info(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.info = Some(Implementation::new(name, version));
        self
    }

    /// Sets the complete description of the client, with its name and version.
    pub fn implementation(mut self, info: Implementation) -> Self {
        self.info = Some(info);
        self
    }

    /// Omits the client's name and version from modern requests. The legacy handshake must contain them.
    pub fn hide_client_info(mut self) -> Self {
        self.hide_client_info = true;
        self
    }

    /// Declares these capabilities, in place of those that follow from the configured handlers. The extensions of the connection's
    /// credentials are added.
    pub fn client_capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.capabilities = Some(capabilities);
        self
    }

    /// Declares that the client supports an extension of the protocol, with these settings, a JSON object. `json!({})` is an
    /// extension without settings. The server finds it in each request (2026-07-28), or in `initialize`.
    ///
    /// ```
    /// use serde_json::json;
    /// use treenail::client::McpClientSession;
    ///
    /// let settings = json!({"mimeTypes": ["text/html;profile=mcp-app"]});
    /// let builder = McpClientSession::builder().extension("io.modelcontextprotocol/ui", settings);
    /// ```
    pub fn extension(mut self, id: impl Into<String>, settings: impl Into<Value>) -> Self {
        self.extensions.insert(id.into(), settings.into());
        self
    }

    /// Answers elicitation of forms and URLs with a closure.
    ///
    /// ```
    /// use treenail::client::McpClientSession;
    /// use treenail::schema::{ElicitAction, ElicitResult};
    ///
    /// let builder = McpClientSession::builder().on_elicit(|params| async move {
    ///     // A form that is accepted without content gets its defaults.
    ///     Ok(ElicitResult::new(ElicitAction::Accept))
    /// });
    /// ```
    pub fn on_elicit<F, A>(mut self, answer: F) -> Self
    where
        F: Fn(ElicitRequestParams) -> A + Send + Sync + 'static,
        A: Future<Output = Result<ElicitResult, RpcError>> + Send + 'static,
    {
        self.closures.set_elicit(answer);
        self
    }

    /// Answers sampling with a closure.
    pub fn on_sample<F, A>(mut self, answer: F) -> Self
    where
        F: Fn(CreateMessageRequestParams) -> A + Send + Sync + 'static,
        A: Future<Output = Result<CreateMessageResult, RpcError>> + Send + 'static,
    {
        self.closures.set_sample(answer);
        self
    }

    /// Answers sampling with a closure, and declares `sampling.tools`: requests may offer the model tools of the server.
    ///
    /// It replaces [`on_sample`](Self::on_sample). With the feature `tool-loop`, `enable_tool_use_for_sampling` of
    /// `agent::ClientBuilderExt` calls it with a model.
    pub fn on_sample_with_tools<F, A>(mut self, answer: F) -> Self
    where
        F: Fn(CreateMessageRequestParams) -> A + Send + Sync + 'static,
        A: Future<Output = Result<CreateMessageResult, RpcError>> + Send + 'static,
    {
        self.closures.set_sample(answer);
        self.closures.sample_with_tools();
        self
    }

    /// Sets the directories that the server may use.
    pub fn roots(mut self, roots: impl Into<Vec<Root>>) -> Self {
        self.closures.set_roots(roots.into());
        self
    }

    /// Sets one handler for all requests of the server, in place of the closures.
    pub fn handler(mut self, handler: impl ClientHandler) -> Self {
        self.handler = Some(Box::new(handler));
        self
    }

    /// Replaces each session that [`build`](Self::build) opens by the one that `wrap` returns, for example to record or to change
    /// its messages. It may be called twice: see [`build`](Self::build). A later wrapper is outside of an earlier one.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use treenail::client::{McpClientSession, Session};
    ///
    /// let builder = McpClientSession::builder().command("my-server").wrap_session(|session| {
    ///     eprintln!("connecting over {:?}", session.transport());
    ///     session
    /// });
    /// ```
    pub fn wrap_session(
        mut self,
        wrap: impl Fn(Arc<dyn Session>) -> Arc<dyn Session> + Send + Sync + 'static,
    ) -> Self {
        self.wrap = Some(match self.wrap.take() {
            Some(inner) => Box::new(move |session| wrap(inner(session))),
            None => Box::new(wrap),
        });
        self
    }

    /// Sets the driver of calls that become tasks.
    pub(crate) fn task_driver(mut self, driver: Arc<dyn TaskDriver>) -> Self {
        self.tasks = Some(driver);
        self
    }

    /// Sets the limits of the client.
    pub fn limits(mut self, limits: ClientLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the timeout of requests that have none of their own. Default 60 s.
    pub fn request_timeout(mut self, timeout: Duration) -> Self {
        self.limits.request_timeout = timeout;
        self
    }
}

/// Connects to a server over HTTP.
#[cfg(feature = "http-client")]
pub fn with_http_target(
    mut builder: McpClientSessionBuilder,
    http: Box<dyn HttpTarget>,
) -> McpClientSessionBuilder {
    builder.target = Some(Target::Http(http, HttpOptions::default()));
    builder
}

impl fmt::Debug for McpClientSessionBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("McpClientSessionBuilder")
            .field("expected", &self.expected)
            .field("info", &self.info)
            .field("closures", &self.closures)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

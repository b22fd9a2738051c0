//! How a session of the protocol is begun.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use treenail_schema::{
    ClientCapabilities, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, Implementation, Revision, Root,
};

use crate::client::child::ServerCommand;
use crate::client::line::LineSession;
use crate::client::protocol::McpClientSession;
use crate::client::protocol::answer::Answers;
use crate::client::protocol::core::{Core, Greeter};
use crate::client::protocol::facts::PeerInfo;
use crate::client::protocol::greet::Expectation;
use crate::client::protocol::handler::{ClientHandler, Closures};
use crate::client::protocol::router::Router;
use crate::client::{ClientError, ClientLimits, Session};
#[cfg(feature = "http-client")]
use crate::client::{HttpSession, HttpSessionBuilder};
use crate::server::{Connection, Server};
use crate::wire::RpcError;

/// [`McpClientSession::builder`] makes one; [`build`](Self::build) connects.
#[derive(Default)]
#[must_use = "`build` connects"]
pub struct McpClientSessionBuilder {
    target: Option<Target>,
    expected: Expectation,
    info: Option<Implementation>,
    hide_client_info: bool,
    capabilities: Option<ClientCapabilities>,
    closures: Closures,
    handler: Option<Box<dyn ClientHandler>>,
    limits: ClientLimits,
}

/// What is connected to.
enum Target {
    Session(Arc<dyn Session>),
    Command(ServerCommand),
    /// Until it is opened.
    Memory(Option<Connection>),
    #[cfg(feature = "http-client")]
    Http(Box<HttpSessionBuilder>),
}

impl McpClientSessionBuilder {
    /// Connects over a session that exists already.
    pub fn session(mut self, session: Arc<dyn Session>) -> Self {
        self.target = Some(Target::Session(session));
        self
    }

    /// Starts a server as a child process: the name of a program, or a [`ServerCommand`].
    pub fn command(mut self, command: impl Into<ServerCommand>) -> Self {
        self.target = Some(Target::Command(command.into()));
        self
    }

    /// Connects to a server over HTTP, at the URL of its endpoint.
    #[cfg(feature = "http-client")]
    pub fn url(self, url: impl Into<String>) -> Self {
        self.http(HttpSession::builder(url))
    }

    /// Connects to a server over HTTP, with headers of the caller's. The bounds are those of this builder.
    ///
    /// ```
    /// use treenail_runtime::client::{HttpSession, McpClientSession};
    ///
    /// let http = HttpSession::builder("https://example.com/mcp").header("Authorization", "Bearer …");
    /// let builder = McpClientSession::builder().http(http);
    /// ```
    #[cfg(feature = "http-client")]
    pub fn http(mut self, session: HttpSessionBuilder) -> Self {
        self.target = Some(Target::Http(Box::new(session)));
        self
    }

    /// Connects to a server in the same process, as tests do.
    pub fn server(self, server: &Server) -> Self {
        self.connection(server.connect())
    }

    /// Connects to a server in the same process over a connection that has been prepared, for example with a
    /// [`Principal`](crate::Principal).
    pub fn connection(mut self, connection: Connection) -> Self {
        self.target = Some(Target::Memory(Some(connection)));
        self
    }

    /// Speaks this revision and no other; in the legacy era, the server may choose an older one. By default the client
    /// finds out what the server speaks, and takes the newest that both do.
    pub fn protocol_version(mut self, revision: Revision) -> Self {
        self.expected = Expectation::Only(revision);
        self
    }

    /// Tries this revision first, since the same server spoke it the last time
    /// ([`McpClientSession::protocol_version`]); if it does not any more, the client finds out anew. For a server of the
    /// legacy era this saves a question that it would not understand.
    pub fn prefer_version(mut self, revision: Revision) -> Self {
        self.expected = Expectation::Known(revision);
        self
    }

    /// The client's name and version. Default: those of this crate.
    pub fn client_info(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.info = Some(Implementation::new(name, version));
        self
    }

    /// The client's name and version, with what else there is to say of it.
    pub fn implementation(mut self, info: Implementation) -> Self {
        self.info = Some(info);
        self
    }

    /// Does not say in each request of the modern era who asks. (The handshake of the legacy era has to say it.)
    pub fn hide_client_info(mut self) -> Self {
        self.hide_client_info = true;
        self
    }

    /// Says what the client can do, in place of what follows from the questions that it answers.
    pub fn client_capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.capabilities = Some(capabilities);
        self
    }

    /// Answers elicitation, forms and pages, with a closure.
    ///
    /// ```
    /// use treenail_runtime::client::McpClientSession;
    /// use treenail_runtime::schema::{ElicitAction, ElicitResult};
    ///
    /// let builder = McpClientSession::builder().on_elicit(|question| async move {
    ///     // A form that is accepted without content is filled in with its defaults.
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

    /// Tells the server which directories it may work in.
    pub fn roots(mut self, roots: impl Into<Vec<Root>>) -> Self {
        self.closures.set_roots(roots.into());
        self
    }

    /// Answers all questions with one value, in place of the closures.
    pub fn handler(mut self, handler: impl ClientHandler) -> Self {
        self.handler = Some(Box::new(handler));
        self
    }

    /// Sets the bounds of the client.
    pub fn limits(mut self, limits: ClientLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how long a request may take that does not say otherwise. Default 60 s.
    pub fn request_timeout(mut self, limit: Duration) -> Self {
        self.limits.request_timeout = limit;
        self
    }

    /// Connects: finds out what the server speaks, and has the handshake of the legacy era where it is one of that.
    ///
    /// A server that is started, and ends when it is asked something of the modern era, is started again and taken for
    /// one of the legacy era.
    ///
    /// # Errors
    ///
    /// [`ClientError::Invalid`] if nothing was given to connect to; otherwise what the server makes of it.
    pub async fn build(mut self) -> Result<McpClientSession, ClientError> {
        let mut target = self.target.take().ok_or_else(|| {
            ClientError::invalid("give the builder a `command`, a `url`, a `session` or a `server`")
        })?;
        let session = target.open(&self.limits)?;
        let (expected, limits) = (self.expected, self.limits.clone());
        let greeter = self.greeter(session);
        match Box::pin(greeter.meet(expected)).await {
            Ok(facts) => Ok(begin(greeter, facts)),
            Err(ClientError::Closed(_)) if target.can_be_opened_again(expected) => {
                tracing::debug!("the server ended when it was probed; it is started again");
                let greeter = greeter.again(target.open(&limits)?);
                let facts = Box::pin(greeter.meet(Expectation::Legacy)).await;
                end_unless(facts, greeter).await
            }
            failed => end_unless(failed, greeter).await,
        }
    }

    fn greeter(self, session: Arc<dyn Session>) -> Greeter {
        let handler = self.handler.unwrap_or_else(|| Box::new(self.closures));
        let capabilities = self.capabilities.unwrap_or_else(|| handler.capabilities());
        let answers = Arc::new(Answers::new(handler, capabilities));
        let router = Router::new(answers, self.limits.clone());
        session.listen(Arc::clone(&router) as Arc<_>);
        let info = self.info.unwrap_or_else(|| {
            Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        });
        Greeter {
            session,
            router,
            limits: self.limits,
            info,
            shows_info: !self.hide_client_info,
            next_id: AtomicI64::new(1),
        }
    }
}

impl Greeter {
    /// For another session, since the first one has ended.
    fn again(self, session: Arc<dyn Session>) -> Self {
        let router = Router::new(Arc::clone(&self.router.answers), self.limits.clone());
        session.listen(Arc::clone(&router) as Arc<_>);
        Self {
            session,
            router,
            ..self
        }
    }
}

impl Target {
    fn open(&mut self, limits: &ClientLimits) -> Result<Arc<dyn Session>, ClientError> {
        Ok(match self {
            Self::Session(session) => Arc::clone(session),
            Self::Command(command) => Arc::new(command.start(limits)?),
            #[cfg(feature = "http-client")]
            Self::Http(builder) => Arc::new(builder.clone().limits(limits.clone()).build()?),
            Self::Memory(connection) => {
                let connection = connection.take();
                let connection = connection.ok_or_else(|| ClientError::closed("it has ended"))?;
                Arc::new(LineSession::in_memory(connection, limits))
            }
        })
    }

    fn can_be_opened_again(&self, expected: Expectation) -> bool {
        matches!(self, Self::Command(_)) && !matches!(expected, Expectation::Only(_))
    }
}

fn begin(greeter: Greeter, facts: PeerInfo) -> McpClientSession {
    McpClientSession {
        core: Core::new(greeter, facts),
    }
}

/// Ends a connection with a server that nothing can be agreed on with.
async fn end_unless(
    met: Result<PeerInfo, ClientError>,
    greeter: Greeter,
) -> Result<McpClientSession, ClientError> {
    match met {
        Ok(facts) => Ok(begin(greeter, facts)),
        Err(error) => {
            if let Err(error) = greeter.session.close().await {
                tracing::debug!(%error, "a connection could not be closed");
            }
            Err(explained(error, greeter.session.stray_line()))
        }
    }
}

/// Adds the first line that was no message to an error that it may explain.
fn explained(error: ClientError, line: Option<String>) -> ClientError {
    let Some(line) = line else {
        return error;
    };
    let why = format!("the server wrote a line that is no message: {line}");
    match error {
        ClientError::Closed(reason) => ClientError::closed(format!("{reason}; {why}")),
        ClientError::Protocol(reason) => ClientError::protocol(format!("{reason}; {why}")),
        ClientError::Timeout(_) => ClientError::protocol(format!("{why}; {error}")),
        other => other,
    }
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

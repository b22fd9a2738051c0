//! How a client is begun.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use treenail_schema::{
    ClientCapabilities, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, Implementation, Revision, Root,
};

use crate::client::kept::follow::{Follow, follow};
use crate::client::kept::record::Promised;
#[cfg(feature = "validation")]
use crate::client::kept::validation::Validators;
use crate::client::kept::{Inner, Lists, McpClient};
use crate::client::{
    ClientError, ClientHandler, ClientLimits, Contract, McpClientSession, McpClientSessionBuilder,
    ServerCommand, Session, Severity,
};
use crate::server::{Connection, Server};
use crate::wire::RpcError;

/// [`McpClient::builder`] makes one; [`build`](Self::build) connects. What it does not say here is as in
/// [`McpClientSessionBuilder`].
#[derive(Default)]
#[must_use = "`build` connects"]
pub struct McpClientBuilder {
    session: McpClientSessionBuilder,
    follow: Follow,
    contract: Option<Contract>,
    refused: Refused,
    #[cfg(feature = "validation")]
    leaves_results: bool,
}

/// From where on a change of the server is refused.
#[derive(Clone, Copy, Debug)]
struct Refused(Option<Severity>);

impl Default for Refused {
    fn default() -> Self {
        Self(Some(Severity::Breaking))
    }
}

impl McpClientBuilder {
    /// Fetches lists that have changed at once, and not when they are used next. Default `false`.
    pub fn auto_refresh(mut self, refreshes: bool) -> Self {
        self.follow.refreshes = refreshes;
        self
    }

    /// Whether the server is asked to tell of changes (modern era), with a request that stays open. Default `true`.
    pub fn subscribe_to_changes(mut self, listens: bool) -> Self {
        self.follow.listens = listens;
        self
    }

    /// Whether what tools return is validated against their output schemas. Default `true`.
    ///
    /// A schema is of JSON Schema 2020-12 if it does not say otherwise; 2019-09 and the drafts 7, 6 and 4 are understood
    /// too. References are followed within a schema only, never to a file or the network. What a schema, and validating
    /// with it, may take has bounds in [`ClientLimits`]. A schema that is outside of all that is refused, and the calls of
    /// its tool with it: a result that cannot be validated is not taken for valid.
    #[cfg(feature = "validation")]
    pub fn validate_results(mut self, validates: bool) -> Self {
        self.leaves_results = !validates;
        self
    }

    /// Compares the server with a contract when it has been connected to: the one that this program was written against.
    /// [`build`](Self::build) fails if what has changed is refused (see [`deny_drift`](Self::deny_drift)); what is not
    /// is logged as a warning, and kept in [`McpClient::drift`].
    ///
    /// [`Contract::only_tools`] leaves out what this program does not use.
    ///
    /// ```
    /// use treenail_runtime::client::{Contract, McpClient};
    ///
    /// # async fn example(lock: &str) -> Result<(), Box<dyn std::error::Error>> {
    /// let contract = Contract::from_json(lock)?.only_tools(["forecast"])?;
    /// let client = McpClient::builder().command("weather-server").contract(contract).build().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn contract(mut self, contract: Contract) -> Self {
        self.contract = Some(contract);
        self
    }

    /// Refuses a server that differs from its contract by this much, or more; `None` refuses none. Default
    /// [`Severity::Breaking`].
    pub fn deny_drift(mut self, least: impl Into<Option<Severity>>) -> Self {
        self.refused = Refused(least.into());
        self
    }

    /// Connects, and makes a client of it. Nothing is listed yet, unless there is a contract.
    ///
    /// # Errors
    ///
    /// As [`McpClientSessionBuilder::build`]; and [`ClientError::Drift`] if the server is not what its contract says, or
    /// another error if that cannot be found out.
    pub async fn build(self) -> Result<McpClient, ClientError> {
        let session = self.session.build().await?;
        #[cfg(feature = "validation")]
        let validators = (!self.leaves_results).then(Validators::default);
        let client = over(
            Arc::new(session),
            self.follow,
            #[cfg(feature = "validation")]
            validators,
        );
        if let Some(contract) = self.contract {
            let refused = self.refused.0;
            // Most programs do without, and so need not carry this future.
            Box::pin(client.hold(&Promised { contract, refused })).await?;
        }
        Ok(client)
    }
}

/// A client over a session.
pub(super) fn over(
    session: Arc<McpClientSession>,
    how: Follow,
    #[cfg(feature = "validation")] validators: Option<Validators>,
) -> McpClient {
    let inner = Arc::new_cyclic(|inner| Inner {
        _following: follow(&session, inner.clone(), how),
        session,
        lists: Lists::default(),
        drift: OnceLock::new(),
        #[cfg(feature = "validation")]
        validators,
    });
    McpClient { inner }
}

/// Passes on what the session's builder is told.
macro_rules! passed_on {
    ($($(#[$docs:meta])* $name:ident($($argument:ident: $type:ty),*);)*) => {
        impl McpClientBuilder {
            $(
                $(#[$docs])*
                pub fn $name(mut self, $($argument: $type),*) -> Self {
                    self.session = self.session.$name($($argument),*);
                    self
                }
            )*
        }
    };
}

passed_on! {
    /// Connects over a session that exists already.
    session(session: Arc<dyn Session>);
    /// Starts a server as a child process: the name of a program, or a [`ServerCommand`].
    command(command: impl Into<ServerCommand>);
    /// Connects to a server in the same process, as tests do.
    server(server: &Server);
    /// Connects to a server in the same process over a connection that has been prepared.
    connection(connection: Connection);
    /// Speaks this revision and no other; in the legacy era, the server may choose an older one.
    protocol_version(revision: Revision);
    /// Tries this revision first, since the same server spoke it the last time.
    prefer_version(revision: Revision);
    /// The client's name and version.
    client_info(name: impl Into<String>, version: impl Into<String>);
    /// The client's name and version, with what else there is to say of it.
    implementation(info: Implementation);
    /// Does not say in each request of the modern era who asks.
    hide_client_info();
    /// Says what the client can do, in place of what follows from the questions that it answers.
    client_capabilities(capabilities: ClientCapabilities);
    /// Tells the server which directories it may work in.
    roots(roots: impl Into<Vec<Root>>);
    /// Answers all questions with one value, in place of the closures.
    handler(handler: impl ClientHandler);
    /// Sets the bounds of the client.
    limits(limits: ClientLimits);
    /// Sets how long a request may take that does not say otherwise. Default 60 s.
    request_timeout(limit: Duration);
}

#[cfg(feature = "http-client")]
passed_on! {
    /// Connects to a server over HTTP, at the URL of its endpoint.
    #[cfg(feature = "http-client")]
    url(url: impl Into<String>);
    /// Connects to a server over HTTP, with headers of the caller's.
    #[cfg(feature = "http-client")]
    http(session: crate::client::HttpSessionBuilder);
}

impl McpClientBuilder {
    /// Answers elicitation, forms and pages, with a closure.
    pub fn on_elicit<F, A>(mut self, answer: F) -> Self
    where
        F: Fn(ElicitRequestParams) -> A + Send + Sync + 'static,
        A: Future<Output = Result<ElicitResult, RpcError>> + Send + 'static,
    {
        self.session = self.session.on_elicit(answer);
        self
    }

    /// Answers sampling with a closure.
    pub fn on_sample<F, A>(mut self, answer: F) -> Self
    where
        F: Fn(CreateMessageRequestParams) -> A + Send + Sync + 'static,
        A: Future<Output = Result<CreateMessageResult, RpcError>> + Send + 'static,
    {
        self.session = self.session.on_sample(answer);
        self
    }

    /// Answers sampling with a closure, and declares `sampling.tools`. See
    /// [`McpClientSessionBuilder::on_sample_with_tools`].
    pub fn on_sample_with_tools<F, A>(mut self, answer: F) -> Self
    where
        F: Fn(CreateMessageRequestParams) -> A + Send + Sync + 'static,
        A: Future<Output = Result<CreateMessageResult, RpcError>> + Send + 'static,
    {
        self.session = self.session.on_sample_with_tools(answer);
        self
    }
}

impl fmt::Debug for McpClientBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("McpClientBuilder")
            .field("session", &self.session)
            .field("follow", &self.follow)
            .field("contract", &self.contract.is_some())
            .field("refused", &self.refused)
            .finish_non_exhaustive()
    }
}

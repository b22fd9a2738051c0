//! Builder of a client.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use treenail_schema::{
    ClientCapabilities, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, Implementation, Revision, Root,
};

use crate::client::cache::record_contract::ExpectedContract;
#[cfg(feature = "validation")]
use crate::client::cache::validation::ValidatorCache;
use crate::client::cache::watch::{WatchOptions, spawn_watcher};
use crate::client::cache::{Inner, Lists, McpClient};
use crate::client::protocol::TaskDriver;
use crate::client::{
    ClientError, ClientHandler, ClientLimits, Contract, McpClientSession, McpClientSessionBuilder,
    ServerCommand, Session, Severity,
};
use crate::server::{Connection, Server};
use crate::wire::RpcError;

/// Builder of an [`McpClient`]; [`McpClient::builder`] returns one, and [`build`](Self::build) connects. Methods
/// without further documentation behave as in [`McpClientSessionBuilder`].
#[derive(Default)]
#[must_use = "`build` connects"]
pub struct McpClientBuilder {
    session: McpClientSessionBuilder,
    watch: WatchOptions,
    contract: Option<Contract>,
    threshold: DriftThreshold,
    #[cfg(feature = "validation")]
    skip_validation: bool,
}

/// Least severity of a change at which `build` fails; `None` accepts all changes.
#[derive(Clone, Copy, Debug)]
struct DriftThreshold(Option<Severity>);

impl Default for DriftThreshold {
    fn default() -> Self {
        Self(Some(Severity::Breaking))
    }
}

impl McpClientBuilder {
    /// Fetches changed lists at once, instead of at their next use; lists that change again within 32 s with a delay, which grows up
    /// to 32 s. No user is asked to sign in for that. Default `false`.
    pub fn auto_refresh(mut self, enabled: bool) -> Self {
        self.watch.auto_refresh = enabled;
        self
    }

    /// Subscribes to list changes with a request that stays open (modern era). No user is asked to sign in for that. Default `true`.
    pub fn subscribe_to_changes(mut self, enabled: bool) -> Self {
        self.watch.subscribe = enabled;
        self
    }

    /// Validates the results of tools against their output schemas. Default `true`.
    ///
    /// The default dialect is JSON Schema 2020-12; `$schema` may also name 2019-09 or one of the drafts 7, 6 and 4.
    /// References are resolved within a schema only, never to a file or the network. [`ClientLimits`] bounds the size
    /// of a schema and the work of validating with it.
    ///
    /// A schema outside these rules is rejected, and so is every call of its tool: a result that cannot be validated
    /// does not count as valid.
    #[cfg(feature = "validation")]
    pub fn validate_results(mut self, enabled: bool) -> Self {
        self.skip_validation = !enabled;
        self
    }

    /// Compares the server, once connected, with the contract that this program was written against.
    /// [`build`](Self::build) fails if a change is severe enough (see [`deny_drift`](Self::deny_drift)). Smaller
    /// changes are logged as a warning and available from [`McpClient::drift`].
    ///
    /// [`Contract::only_tools`] drops the entries that this program does not use.
    ///
    /// ```
    /// use treenail::client::{Contract, McpClient};
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

    /// Rejects a server whose drift is at least this severe; `None` accepts every drift. Default
    /// [`Severity::Breaking`].
    pub fn deny_drift(mut self, severity: impl Into<Option<Severity>>) -> Self {
        self.threshold = DriftThreshold(severity.into());
        self
    }

    /// Sets the driver of calls that become tasks.
    pub(crate) fn task_driver(mut self, driver: Arc<dyn TaskDriver>) -> Self {
        self.session = self.session.task_driver(driver);
        self
    }

    /// Connects. Lists are fetched at their first use, except that a contract is compared at once.
    ///
    /// # Errors
    ///
    /// As [`McpClientSessionBuilder::build`]. In addition, [`ClientError::Drift`] if the server violates its contract,
    /// or another error if the comparison fails.
    pub async fn build(self) -> Result<McpClient, ClientError> {
        let session = self.session.build().await?;
        #[cfg(feature = "validation")]
        let validators = (!self.skip_validation).then(ValidatorCache::default);
        let client = client_over(
            Arc::new(session),
            self.watch,
            #[cfg(feature = "validation")]
            validators,
        );
        if let Some(contract) = self.contract {
            let threshold = self.threshold.0;
            // Boxed, because most programs have no contract and need not carry this future.
            Box::pin(client.enforce_contract(&ExpectedContract {
                contract,
                threshold,
            }))
            .await?;
        }
        Ok(client)
    }
}

/// Changes the builder of the session of a client.
pub fn with_session_builder(
    mut builder: McpClientBuilder,
    change: impl FnOnce(McpClientSessionBuilder) -> McpClientSessionBuilder,
) -> McpClientBuilder {
    builder.session = change(builder.session);
    builder
}

/// Creates a client over a session.
pub(super) fn client_over(
    session: Arc<McpClientSession>,
    options: WatchOptions,
    #[cfg(feature = "validation")] validators: Option<ValidatorCache>,
) -> McpClient {
    let inner = Arc::new(Inner {
        session,
        lists: Lists::default(),
        drift: OnceLock::new(),
        watcher: OnceLock::new(),
        #[cfg(feature = "validation")]
        validators,
    });
    let watched = Arc::downgrade(&inner);
    inner
        .watcher
        .get_or_init(|| spawn_watcher(&inner.session, watched, options));
    McpClient { inner }
}

/// Forwards methods to the builder of the session.
macro_rules! forward_to_session_builder {
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

forward_to_session_builder! {
    /// Connects over an existing session.
    session(session: Arc<dyn Session>);
    /// Starts a server as a child process, given by program name or as a [`ServerCommand`].
    command(command: impl Into<ServerCommand>);
    /// Connects to a server in the same process, as tests do.
    server(server: &Server);
    /// Connects to a server in the same process over a prepared connection.
    connection(connection: Connection);
    /// Requires this protocol revision. In the legacy era, the server may choose an older one.
    protocol_version(revision: Revision);
    /// Tries this revision first, for example the one that the same server negotiated last time.
    prefer_version(revision: Revision);
    /// Sets the client's name and version.
    client_info(name: impl Into<String>, version: impl Into<String>);
    /// Sets the client's name, version and other details.
    implementation(info: Implementation);
    /// Omits the client's name and version from requests of the modern era.
    hide_client_info();
    /// Declares the client's capabilities explicitly, instead of deriving them from the registered handlers.
    client_capabilities(capabilities: ClientCapabilities);
    /// Declares an extension of the protocol, with settings that are a JSON object.
    extension(id: impl Into<String>, settings: impl Into<serde_json::Value>);
    /// Sets the directories (roots) that the server may work in.
    roots(roots: impl Into<Vec<Root>>);
    /// Handles all requests of the server with one value, instead of closures.
    handler(handler: impl ClientHandler);
    /// Replaces each session that [`build`](Self::build) opens by the one that `wrap` returns, for example to record its messages.
    wrap_session(wrap: impl Fn(Arc<dyn Session>) -> Arc<dyn Session> + Send + Sync + 'static);
    /// Sets the limits of the client.
    limits(limits: ClientLimits);
    /// Sets the default timeout of requests. Default 60 s.
    request_timeout(timeout: Duration);
}

#[cfg(feature = "http-client")]
forward_to_session_builder! {
    /// Sets the credentials of a connection over HTTP, such as an OAuth client of `treenail::auth`.
    #[cfg(feature = "http-client")]
    authorization(authorization: impl crate::client::HttpAuthorization);
    /// Adds a header to every request over HTTP.
    #[cfg(feature = "http-client")]
    header(name: impl Into<String>, value: impl Into<String>);
    /// Sends a bearer token with every request over HTTP.
    #[cfg(feature = "http-client")]
    bearer_token(token: impl AsRef<str>);
}

impl McpClientBuilder {
    /// Handles elicitation, both forms and URLs, with a closure.
    pub fn on_elicit<F, A>(mut self, answer: F) -> Self
    where
        F: Fn(ElicitRequestParams) -> A + Send + Sync + 'static,
        A: Future<Output = Result<ElicitResult, RpcError>> + Send + 'static,
    {
        self.session = self.session.on_elicit(answer);
        self
    }

    /// Handles sampling requests with a closure.
    pub fn on_sample<F, A>(mut self, answer: F) -> Self
    where
        F: Fn(CreateMessageRequestParams) -> A + Send + Sync + 'static,
        A: Future<Output = Result<CreateMessageResult, RpcError>> + Send + 'static,
    {
        self.session = self.session.on_sample(answer);
        self
    }

    /// Handles sampling requests with a closure and declares `sampling.tools`. See
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
            .field("watch", &self.watch)
            .field("contract", &self.contract.is_some())
            .field("threshold", &self.threshold)
            .finish_non_exhaustive()
    }
}

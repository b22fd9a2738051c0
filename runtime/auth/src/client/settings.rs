//! Configuration of an OAuth client.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::code::AuthorizationRequest;
use super::credentials::ClientCredentials;
use super::dpop::Dpop;
use super::grant::Grant;
use super::source::TokenSource;
use super::store::{MemoryStore, TokenStore};
use crate::metadata::DiscoveryRules;
use crate::{AuthError, Clock, FetchPolicy, Scopes};

/// Time for a flow with a user.
pub(super) const FLOW_TIMEOUT: Duration = Duration::from_secs(5 * 60);
/// Longest lifetime of a `state`.
pub(super) const MAX_FLOW_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// Future of a function that the caller has given.
pub(super) type CallerFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;
pub(super) type AskClient =
    Arc<dyn Fn(String) -> CallerFuture<Result<ClientCredentials, AuthError>> + Send + Sync>;
pub(super) type ConfirmSignIn =
    Arc<dyn Fn(AuthorizationRequest) -> CallerFuture<bool> + Send + Sync>;
pub(super) type ScopeFilter = Arc<dyn Fn(&Scopes) -> Scopes + Send + Sync>;
pub(super) type AskStepUp = Arc<dyn Fn(Scopes) -> CallerFuture<bool> + Send + Sync>;

/// Reaction to a server that requires more scopes for an operation.
#[derive(Clone, Default)]
#[non_exhaustive]
#[cfg(feature = "oauth")]
pub enum StepUp {
    /// Requests an authorization with these scopes, once for each operation.
    #[default]
    Auto,
    /// The operation fails.
    Never,
    /// Asks a function with the set of all scopes that would be requested. See [`StepUp::ask`].
    Ask(StepUpFunction),
}

/// Function of [`StepUp::Ask`].
#[derive(Clone)]
#[cfg(feature = "oauth")]
pub struct StepUpFunction(pub(super) AskStepUp);

impl StepUp {
    /// Returns [`StepUp::Ask`] with a function that returns true to continue.
    pub fn ask<F, R>(function: F) -> Self
    where
        F: Fn(Scopes) -> R + Send + Sync + 'static,
        R: Future<Output = bool> + Send + 'static,
    {
        Self::Ask(StepUpFunction(Arc::new(move |scopes| {
            Box::pin(function(scopes))
        })))
    }
}

impl fmt::Debug for StepUp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Auto => "Auto",
            Self::Never => "Never",
            Self::Ask(_) => "Ask",
        })
    }
}

impl fmt::Debug for StepUpFunction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("StepUpFunction")
    }
}

/// Way to obtain tokens.
#[derive(Clone, Debug)]
pub(super) enum Method {
    /// A grant of an authorization server, which the server of the session names.
    Grant(Arc<dyn Grant>),
    /// A source of the caller.
    Source(Arc<dyn TokenSource>),
}

/// Configuration of an OAuth client.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) client_name: Arc<str>,
    pub(super) method: Method,
    pub(crate) client: Option<ClientCredentials>,
    /// URL of a client id metadata document.
    pub(crate) document: Option<Arc<str>>,
    pub(super) ask_client: Option<AskClient>,
    pub(super) confirm: Option<ConfirmSignIn>,
    pub(crate) store: Arc<dyn TokenStore>,
    /// Scopes in place of those of the server.
    pub(crate) scopes: Option<Scopes>,
    pub(super) scope_filter: Option<ScopeFilter>,
    pub(crate) step_up: StepUp,
    pub(crate) offline_access: bool,
    pub(crate) refresh_scope: bool,
    pub(crate) flow_timeout: Duration,
    pub(crate) issuers: IssuerRules,
    pub(crate) strict_resource: bool,
    pub(crate) clock: Clock,
    pub(crate) fetch_policy: FetchPolicy,
    /// Tokens are bound to a key.
    pub(crate) dpop: Option<Dpop>,
}

/// Rules for authorization servers.
#[derive(Clone, Debug, Default)]
pub(crate) struct IssuerRules {
    /// Used before others that the server names, and if it names none.
    pub(crate) preferred: Option<Arc<str>>,
    /// Listed issuer → issuer that its metadata may have.
    pub(crate) aliases: HashMap<Arc<str>, Arc<str>>,
    /// Issuers that support `S256` without listing it.
    pub(crate) unlisted_s256: HashSet<Arc<str>>,
    /// Discovery of 2025-03-26 is off.
    pub(crate) no_legacy: bool,
}

impl Settings {
    pub(super) fn new(client_name: Arc<str>, method: Method) -> Self {
        Self {
            client_name,
            method,
            client: None,
            document: None,
            ask_client: None,
            confirm: None,
            store: Arc::new(MemoryStore::new()),
            scopes: None,
            scope_filter: None,
            step_up: StepUp::default(),
            offline_access: true,
            refresh_scope: false,
            flow_timeout: FLOW_TIMEOUT,
            issuers: IssuerRules::default(),
            strict_resource: false,
            clock: Clock::system(),
            fetch_policy: FetchPolicy::default(),
            dpop: None,
        }
    }

    pub(super) fn discovery_rules(&self) -> DiscoveryRules {
        DiscoveryRules {
            strict_resource: self.strict_resource,
            issuer: self.issuers.preferred.clone(),
            aliases: self.issuers.aliases.clone(),
            allows_legacy: !self.issuers.no_legacy,
        }
    }

    /// Checks everything that can be checked before the first request.
    pub(super) fn check(&self) -> Result<(), AuthError> {
        if let Some(client) = &self.client {
            client.check()?;
        }
        if let Some(url) = &self.document {
            super::registration::check_document_url(url)?;
        }
        if let Method::Grant(grant) = &self.method {
            grant.check(self)?;
        }
        self.fetch_policy.check_connections()
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Settings")
            .field("client_name", &self.client_name)
            .field("method", &self.method)
            .field("client", &self.client)
            .field("scopes", &self.scopes)
            .field("step_up", &self.step_up)
            .field("issuers", &self.issuers)
            .finish_non_exhaustive()
    }
}

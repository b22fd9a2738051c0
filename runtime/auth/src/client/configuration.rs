//! Configuration of the OAuth client.

use std::sync::Arc;
use std::time::Duration;

use super::code::AuthorizationRequest;
use super::credentials::ClientCredentials;
use super::oauth::OAuth;
use super::settings::{Settings, StepUp};
use super::store::TokenStore;
use crate::{AuthError, Clock, FetchPolicy, Scopes};

/// Configuration. A changed client shares nothing with its clones.
impl OAuth {
    /// Sets the store of tokens and registrations. Default: the memory of the process.
    #[must_use]
    pub fn store(self, store: impl TokenStore) -> Self {
        self.with(|settings| settings.store = Arc::new(store))
    }

    /// Sets credentials of a client that is registered already. They are used in place of all other registrations.
    #[must_use]
    pub fn client(self, credentials: ClientCredentials) -> Self {
        self.with(|settings| settings.client = Some(credentials))
    }

    /// Sets the URL of a metadata document, which is the client id at authorization servers that read such documents.
    ///
    /// [`client_id_document`](Self::client_id_document) returns the document to publish there.
    #[must_use]
    pub fn client_id_url(self, url: impl Into<String>) -> Self {
        self.with(|settings| settings.document = Some(url.into().into()))
    }

    /// Sets a function that returns credentials for an issuer, if the client cannot register itself there.
    #[must_use]
    pub fn ask_client<F, R>(self, function: F) -> Self
    where
        F: Fn(String) -> R + Send + Sync + 'static,
        R: Future<Output = Result<ClientCredentials, AuthError>> + Send + 'static,
    {
        self.with(|settings| {
            settings.ask_client = Some(Arc::new(move |issuer| Box::pin(function(issuer))));
        })
    }

    /// Sets a function that sees each request before the user does, and refuses it by returning false.
    ///
    /// For example, it compares [`AuthorizationRequest::authorization_server`] with a list of known hosts.
    #[must_use]
    pub fn confirm_sign_in<F, R>(self, function: F) -> Self
    where
        F: Fn(AuthorizationRequest) -> R + Send + Sync + 'static,
        R: Future<Output = bool> + Send + 'static,
    {
        self.with(|settings| {
            settings.confirm = Some(Arc::new(move |request| Box::pin(function(request))));
        })
    }

    /// Sets the scopes to ask for first, in place of those that the server requires. A [`step_up`](Self::step_up) adds the
    /// scopes of its operation.
    #[must_use]
    pub fn scopes(self, scopes: Scopes) -> Self {
        self.with(|settings| settings.scopes = Some(scopes))
    }

    /// Sets a function that removes scopes before they are asked for.
    #[must_use]
    pub fn scope_filter(self, filter: impl Fn(&Scopes) -> Scopes + Send + Sync + 'static) -> Self {
        self.with(|settings| settings.scope_filter = Some(Arc::new(filter)))
    }

    /// Sets the reaction to operations that require more scopes. Default: [`StepUp::Auto`].
    #[must_use]
    pub fn step_up(self, step_up: StepUp) -> Self {
        self.with(|settings| settings.step_up = step_up)
    }

    /// Sets whether to ask for the scope `offline_access` where the authorization server lists it. Default: true.
    #[must_use]
    pub fn offline_access(self, enabled: bool) -> Self {
        self.with(|settings| settings.offline_access = enabled)
    }

    /// Repeats the scopes in refresh requests, for authorization servers that require it. Default: they are omitted.
    #[must_use]
    pub fn scopes_in_refresh(self) -> Self {
        self.with(|settings| settings.refresh_scope = true)
    }

    /// Sets the time that a user has to sign in, at most 10 minutes. Default: 5 minutes.
    #[must_use]
    pub fn sign_in_timeout(self, timeout: Duration) -> Self {
        self.with(|settings| settings.flow_timeout = timeout)
    }

    /// Prefers an authorization server, if the MCP server names several or none.
    #[must_use]
    pub fn prefer_issuer(self, issuer: impl Into<String>) -> Self {
        self.with(|settings| settings.issuers.preferred = Some(issuer.into().into()))
    }

    /// Accepts metadata with the issuer `actual` where the MCP server names the issuer `listed`.
    ///
    /// By default, both must be equal. Some servers spell their own issuer differently, for example with a slash at its end.
    #[must_use]
    pub fn accept_issuer(self, listed: impl Into<String>, actual: impl Into<String>) -> Self {
        self.with(|settings| {
            settings
                .issuers
                .aliases
                .insert(listed.into().into(), actual.into().into());
        })
    }

    /// Accepts an authorization server that supports the proof key method `S256` without listing it.
    ///
    /// By default, such a server is refused, because it may ignore the proof key.
    #[must_use]
    pub fn accept_unlisted_s256(self, issuer: impl Into<String>) -> Self {
        self.with(|settings| {
            settings.issuers.unlisted_s256.insert(issuer.into().into());
        })
    }

    /// Refuses servers without resource metadata, which the revision 2025-03-26 did not have. A client with
    /// [`protocol_version`](treenail_runtime::client::McpClientBuilder::protocol_version) of a later revision refuses them by default.
    #[must_use]
    pub fn refuse_legacy_discovery(self) -> Self {
        self.with(|settings| settings.issuers.no_legacy = true)
    }

    /// Requires that `resource` of the metadata is the URL of the server. By default, it may be a prefix of its path.
    #[must_use]
    pub fn require_exact_resource(self) -> Self {
        self.with(|settings| settings.strict_resource = true)
    }

    /// Sets the policy for servers that the MCP server names. Default: [`FetchPolicy::default`].
    #[must_use]
    pub fn fetch_policy(self, policy: FetchPolicy) -> Self {
        self.with(|settings| settings.fetch_policy = policy)
    }

    /// Sets the clock that decides about the expiry of tokens, for tests. Default: the clock of the system.
    #[must_use]
    pub fn clock(self, clock: Clock) -> Self {
        self.with(|settings| settings.clock = clock)
    }

    pub(super) fn with(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(Arc::make_mut(&mut self.settings));
        self.servers = Arc::default();
        self
    }
}

//! The OAuth client of a program.

use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use treenail_runtime::client::Challenges;

use super::code::{AuthorizationRequest, CodeGrant};
use super::credentials::ClientCredentials;
use super::grant::Grant;
use super::provider::{AuthorizationReport, AuthorizationStatus, Server, Servers};
use super::registration;
use super::settings::{Method, Settings, StepUp};
use super::source::TokenSource;
use super::store::TokenStore;
use super::user_agent::{Browser, Callback, Console, UserAgent};
use crate::{AuthError, Clock, FetchPolicy, Scopes};

/// OAuth client: obtains, stores and renews the tokens of sessions over HTTP.
///
/// The first request is sent without a token. If the server refuses it with status 401, the client finds the authorization server
/// in the metadata of the MCP server, obtains tokens, and sends the request again. Later requests use the tokens, which are renewed
/// before they expire.
///
/// Clones share their tokens. One client can be used for several servers: each has tokens of its own.
///
/// ```no_run
/// use treenail::auth::OAuth;
/// use treenail::prelude::*;
///
/// # async fn connect() -> Result<(), ClientError> {
/// let client = McpClient::builder()
///     .url("https://mcp.example.com/mcp")
///     .oauth(OAuth::browser("Travel planner"))
///     .build()
///     .await?;
/// # Ok(())
/// # }
/// ```
///
/// An invalid configuration is reported by the first request, before it is sent. Requests need a Tokio runtime: renewals run as
/// tasks, so that a cancelled request does not lose the tokens of others.
#[derive(Clone, Debug)]
pub struct OAuth {
    pub(super) settings: Arc<Settings>,
    pub(super) servers: Arc<Servers>,
}

/// Constructors
impl OAuth {
    /// Returns a client whose user signs in with the browser of this computer. `client_name` is shown to the user.
    pub fn browser(client_name: impl Into<Arc<str>>) -> Self {
        Self::user_agent(client_name, Browser::new())
    }

    /// Returns a client whose user opens a printed URL, and pastes the URL of the redirect.
    pub fn console(client_name: impl Into<Arc<str>>) -> Self {
        Self::user_agent(client_name, Console::new())
    }

    /// Returns a client whose user signs in by a function of the program. See [`Callback`].
    pub fn callback(client_name: impl Into<Arc<str>>, callback: Callback) -> Self {
        Self::user_agent(client_name, callback)
    }

    /// Returns a client whose user signs in in another way.
    pub fn user_agent(client_name: impl Into<Arc<str>>, agent: impl UserAgent) -> Self {
        Self::with_grant(client_name, CodeGrant(Box::new(agent)))
    }

    /// Returns a client that takes its tokens from another part of the program, without authorization server.
    pub fn token_source(source: impl TokenSource) -> Self {
        let method = Method::Source(Arc::new(source));
        Self::new(Settings::new("".into(), method))
    }

    pub(super) fn with_grant(
        client_name: impl Into<Arc<str>>,
        grant: impl Grant + 'static,
    ) -> Self {
        let method = Method::Grant(Arc::new(grant));
        Self::new(Settings::new(client_name.into(), method))
    }

    fn new(settings: Settings) -> Self {
        Self {
            settings: Arc::new(settings),
            servers: Arc::default(),
        }
    }
}

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
    pub fn client_id_url(self, url: impl Into<Arc<str>>) -> Self {
        self.with(|settings| settings.document = Some(url.into()))
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

    /// Sets the scopes to ask for, in place of those that the server requires.
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
    pub fn offline_access(self, is_wanted: bool) -> Self {
        self.with(|settings| settings.offline_access = is_wanted)
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
    pub fn prefer_issuer(self, issuer: impl Into<Arc<str>>) -> Self {
        self.with(|settings| settings.issuers.preferred = Some(issuer.into()))
    }

    /// Accepts metadata with the issuer `actual` where the MCP server names the issuer `listed`.
    ///
    /// By default, both must be equal. Some servers spell their own issuer differently, for example with a slash at its end.
    #[must_use]
    pub fn accept_issuer(self, listed: impl Into<Arc<str>>, actual: impl Into<Arc<str>>) -> Self {
        self.with(|settings| {
            settings
                .issuers
                .aliases
                .insert(listed.into(), actual.into());
        })
    }

    /// Accepts an authorization server that supports the proof key method `S256` without listing it.
    ///
    /// By default, such a server is refused, because it may ignore the proof key.
    #[must_use]
    pub fn accept_unlisted_s256(self, issuer: impl Into<Arc<str>>) -> Self {
        self.with(|settings| {
            settings.issuers.unlisted_s256.insert(issuer.into());
        })
    }

    /// Refuses servers without resource metadata, which the revision 2025-03-26 did not have.
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

impl OAuth {
    /// Returns the metadata document of this client, as JSON, for the URL of [`client_id_url`](Self::client_id_url).
    ///
    /// # Errors
    ///
    /// [`AuthError::Invalid`] if no URL was set, or if it is not a valid client id.
    pub fn client_id_document(&self) -> Result<String, AuthError> {
        registration::document(&self.settings)
    }

    /// Revokes the tokens for the server at `url`, if its authorization server supports that, and deletes them.
    ///
    /// # Errors
    ///
    /// The reason for which the tokens were not revoked. They are deleted nevertheless, unless it is [`AuthError::Store`].
    pub async fn logout(&self, url: &str) -> Result<(), AuthError> {
        self.server_at(url)?.logout().await
    }

    /// Returns the authorization for the server at `url`, in use or stored; `None` if there is none.
    ///
    /// # Errors
    ///
    /// [`AuthError::Invalid`] for a URL that cannot be used, and [`AuthError::Store`].
    pub async fn status(&self, url: &str) -> Result<Option<AuthorizationStatus>, AuthError> {
        self.server_at(url)?.status().await
    }

    /// Reports on the documents that lead to the authorization servers of the server at `url`, without requesting a token.
    ///
    /// `challenges` are those of a response with status 401, see [`ClientError::Unauthorized`].
    ///
    /// ```no_run
    /// use treenail::auth::OAuth;
    /// use treenail::{ClientError, McpClient};
    ///
    /// # async fn report() -> Result<(), Box<dyn std::error::Error>> {
    /// let url = "https://mcp.example.com/mcp";
    /// if let Err(ClientError::Unauthorized(refused)) = McpClient::builder().url(url).build().await {
    ///     let report = OAuth::console("report").report(url, &refused.challenges).await?;
    ///     for finding in &report.findings {
    ///         println!("{:?} {}: {} ({})", finding.level, finding.subject, finding.text, finding.source);
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`AuthError::Invalid`] for a URL that cannot be used. Errors of the servers are findings.
    ///
    /// [`ClientError::Unauthorized`]: treenail_runtime::client::ClientError::Unauthorized
    pub async fn report(
        &self,
        url: &str,
        challenges: &Challenges,
    ) -> Result<AuthorizationReport, AuthError> {
        Ok(self.server_at(url)?.report(challenges).await)
    }

    fn server_at(&self, url: &str) -> Result<Arc<Server>, AuthError> {
        let url: Uri = url
            .parse()
            .map_err(|_| AuthError::invalid("the text is not a URL"))?;
        self.server(&url)
    }

    pub(super) fn server(&self, url: &Uri) -> Result<Arc<Server>, AuthError> {
        self.servers.of(url, &self.settings)
    }
}

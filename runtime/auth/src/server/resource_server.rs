//! Configuration of a resource server.

use std::fmt;
use std::sync::Arc;

use treenail_http_server::{HttpAuthorizer, IntoHttpAuthorizer};
use treenail_runtime::{Error, Server};

use super::authorizer::Authorizer;
use super::document::MetadataService;
use super::dpop::Dpop;
use super::exchange::TokenExchange;
use super::hierarchy::ScopeRule;
use super::settings::Settings;
use crate::{AuthError, Clock, Scopes, Verifier};

/// OAuth resource server: requires an access token for each request of an HTTP endpoint, and enforces scopes.
///
/// [`HttpService::authorize`](treenail_http_server::HttpService::authorize) takes it. Clients discover the authorization server
/// through the metadata document that the service then serves. The tokens of each issuer are verified as JWTs with the keys
/// that the issuer publishes, unless there is a [`verifier`](Self::verifier).
///
/// ```
/// use treenail::auth::ResourceServer;
/// use treenail::http::HttpService;
/// use treenail::prelude::*;
///
/// struct Files;
///
/// #[mcp_tool(namespace = "files", scope = "files:read")]
/// impl Files {
///     /// Returns the text of a file.
///     #[tool(read_only)]
///     async fn read(&self, path: String) -> std::io::Result<String> {
///         std::fs::read_to_string(path)
///     }
///
///     /// Writes a text to a file.
///     #[tool(scope = "files:write")]
///     async fn write(&self, path: String, text: String) -> std::io::Result<()> {
///         std::fs::write(path, text)
///     }
/// }
///
/// # fn main() -> treenail::Result<()> {
/// let server = treenail::server!().mount(Files).build()?;
/// let authorization = ResourceServer::new("https://mcp.example.com/mcp")
///     .issuer("https://id.example.com")
///     .scopes(["files", "files:read", "files:write"])
///     .basic_scopes(["files:read"])
///     .implies("files", ["files:read", "files:write"]);
/// let service = HttpService::new(server).authorize(authorization)?;
/// # let _ = service;
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "authorization")]
#[derive(Clone)]
#[must_use = "a resource server does nothing until a service uses it"]
pub struct ResourceServer {
    pub(super) resource: String,
    pub(super) aliases: Vec<String>,
    pub(super) issuers: Vec<String>,
    pub(super) verifiers: Vec<Arc<dyn Verifier>>,
    pub(super) scopes: Vec<String>,
    pub(super) basic_scopes: Vec<String>,
    pub(super) required_scopes: Vec<String>,
    pub(super) implications: Vec<(String, Vec<String>)>,
    pub(super) rule: Option<ScopeRule>,
    pub(super) name: Option<String>,
    pub(super) documentation: Option<String>,
    pub(super) dpop: Option<Dpop>,
    pub(super) exchange: Option<TokenExchange>,
    pub(super) clock: Clock,
}

impl ResourceServer {
    /// Creates the configuration for the endpoint with this public URL, such as `https://mcp.example.com/mcp`.
    ///
    /// It is the URL that clients use, also behind a proxy, and the audience of their tokens. The headers of requests do not
    /// change it.
    pub fn new(resource: impl Into<String>) -> Self {
        Self {
            resource: resource.into(),
            aliases: Vec::new(),
            issuers: Vec::new(),
            verifiers: Vec::new(),
            scopes: Vec::new(),
            basic_scopes: Vec::new(),
            required_scopes: Vec::new(),
            implications: Vec::new(),
            rule: None,
            name: None,
            documentation: None,
            dpop: None,
            exchange: None,
            clock: Clock::default(),
        }
    }

    /// Adds an authorization server whose tokens are accepted. Write it exactly as the member `issuer` of its metadata.
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuers.push(issuer.into());
        self
    }

    /// Verifies tokens in another way than as JWTs with the published keys of their issuer, for example by introspection.
    ///
    /// With several verifiers, each is tried in turn until one accepts the token. Issuer, audience and expiry are checked
    /// again after it.
    pub fn verifier(mut self, verifier: impl Verifier) -> Self {
        self.verifiers.push(Arc::new(verifier));
        self
    }

    /// Accepts tokens for another audience, such as a former URL of the endpoint.
    pub fn audience_alias(mut self, audience: impl Into<String>) -> Self {
        self.aliases.push(audience.into());
        self
    }

    /// Declares the scopes of the server. The scopes of all functions must be among them.
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// Sets the scopes that clients request first. Default: the [required](Self::required_scopes) ones.
    ///
    /// Choose those for basic use, at most 64. A client requests further scopes when a function needs them. They are published as
    /// `scopes_supported`.
    pub fn basic_scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.basic_scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// Sets the scopes that every request needs, in addition to those of its function. Default: none.
    pub fn required_scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.required_scopes
            .extend(scopes.into_iter().map(Into::into));
        self
    }

    /// Makes a scope include others: a token with `files` can then do everything that needs `files:read`.
    pub fn implies(
        mut self,
        scope: impl Into<String>,
        included: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let included = included.into_iter().map(Into::into).collect();
        self.implications.push((scope.into(), included));
        self
    }

    /// Adds a function that decides whether granted scopes include a scope, for hierarchies that follow a pattern.
    pub fn scope_rule(
        mut self,
        rule: impl Fn(&Scopes, &str) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.rule = Some(Arc::new(rule));
        self
    }

    /// Sets the name of the server, which authorization servers and clients can show to users.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the URL of the documentation for developers of clients.
    pub fn documentation(mut self, url: impl Into<String>) -> Self {
        self.documentation = Some(url.into());
        self
    }

    /// Accepts tokens that are bound to a key of the client (DPoP, RFC 9449).
    pub fn dpop(mut self, dpop: Dpop) -> Self {
        self.dpop = Some(dpop);
        self
    }

    /// Lets functions exchange the tokens of their callers for tokens of other services. Default: they cannot.
    pub fn token_exchange(mut self, exchange: TokenExchange) -> Self {
        self.exchange = Some(exchange);
        self
    }

    /// Sets the source of the time, for tests. Default: the clock of the system.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Returns a service for the metadata document, for routers in which the endpoint does not receive other paths.
    ///
    /// Route `/.well-known/oauth-protected-resource` followed by the path of the endpoint to it, and the path without that
    /// addition if the endpoint is the only one of its host.
    ///
    /// # Errors
    ///
    /// [`AuthError::Invalid`] if the configuration is invalid.
    pub fn metadata_service(&self) -> Result<MetadataService, AuthError> {
        Ok(MetadataService::new(Settings::new(self)?.document))
    }
}

impl IntoHttpAuthorizer for ResourceServer {
    fn into_authorizer(self, server: &Server) -> Result<Arc<dyn HttpAuthorizer>, Error> {
        let authorizer = Authorizer::new(&self, server);
        match authorizer {
            Ok(authorizer) => Ok(Arc::new(authorizer)),
            Err(error) => Err(Error::Build(error.to_string())),
        }
    }
}

impl fmt::Debug for ResourceServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ResourceServer")
            .field("resource", &self.resource)
            .field("issuers", &self.issuers)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}

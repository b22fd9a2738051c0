//! Exchange of the token of a caller for a token of another service (RFC 8693), for calls on behalf of users.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};

use super::public_url::is_same_resource;
use super::verify::{configured, credentials};
use crate::fetch::{Budget, FetchPolicy, Fetcher};
use crate::metadata::{Discovery, DiscoveryRules};
use crate::token::TokenResponse;
use crate::token::form::Form;
use crate::{AuthError, Clock, Scopes, Secret};

const GRANT: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";
const JWT: &str = "urn:ietf:params:oauth:token-type:jwt";

/// Settings for the exchange of the tokens of callers for tokens of other services (RFC 8693), see
/// [`ResourceServer::token_exchange`](crate::ResourceServer::token_exchange).
///
/// The token of a caller is for this server only: it is never sent to another service. A function that calls a service on
/// behalf of its user exchanges the token at the authorization server, which decides about that.
///
/// ```
/// use treenail::Context;
/// use treenail::auth::{AuthError, ContextExt as _, ResourceServer, Secret, TokenExchange};
///
/// const CALENDAR: &str = "https://calendar.example.com";
///
/// let secret = Secret::from("from-your-secret-store");
/// let exchange = TokenExchange::new("https://id.example.com", "mcp-server", secret).audience(CALENDAR);
/// let authorization = ResourceServer::new("https://mcp.example.com/mcp").token_exchange(exchange);
///
/// async fn appointments(cx: &Context) -> Result<usize, AuthError> {
///     let subject = cx.caller_token().ok_or(AuthError::NotAuthorized("no user".into()))?;
///     let token = subject.exchange(CALENDAR, "calendar:read".parse()?).await?;
///     // Call the service with `token.token.expose()`.
/// #   let _ = token;
///     Ok(0)
/// }
/// # let _ = (authorization, appointments);
/// ```
#[cfg(feature = "authorization")]
#[derive(Clone)]
#[must_use = "settings do nothing until a resource server uses them"]
pub struct TokenExchange {
    issuer: String,
    client_id: String,
    secret: Secret,
    endpoint: Option<String>,
    audiences: Vec<String>,
    policy: FetchPolicy,
}

impl TokenExchange {
    /// Exchanges tokens of `issuer`, at which this server is the client `client_id`.
    pub fn new(
        issuer: impl Into<String>,
        client_id: impl Into<String>,
        secret: impl Into<Secret>,
    ) -> Self {
        Self {
            issuer: issuer.into(),
            client_id: client_id.into(),
            secret: secret.into(),
            endpoint: None,
            audiences: Vec::new(),
            policy: FetchPolicy::default(),
        }
    }

    /// Allows the exchange for a service: its URL, or the name that the authorization server has for it.
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.audiences.push(audience.into());
        self
    }

    /// Sets the URL of the endpoint. Default: the `token_endpoint` of the metadata of the issuer.
    pub fn endpoint(mut self, url: impl Into<String>) -> Self {
        self.endpoint = Some(url.into());
        self
    }

    /// Sets the policy for the URL of the endpoint in the metadata of the issuer.
    pub fn fetch_policy(mut self, policy: FetchPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Checks the settings for the resource at `resource`.
    pub(super) fn build(&self, resource: &str, clock: &Clock) -> Result<Exchanger, AuthError> {
        configured(FetchPolicy::default(), &self.issuer)?;
        let named = self.endpoint.as_ref().unwrap_or(&self.issuer);
        let fetcher = Fetcher::new(configured(self.policy.clone(), named)?);
        if self
            .audiences
            .iter()
            .any(|audience| is_same_resource(audience, resource))
        {
            let reason = "tokens cannot be exchanged for this server itself; remove its URL from the audiences of the exchange";
            return Err(AuthError::invalid(reason));
        }
        Ok(Exchanger {
            issuer: self.issuer.clone(),
            credentials: credentials(&self.client_id, &self.secret),
            endpoint: self.endpoint.clone(),
            audiences: self.audiences.clone(),
            discovery: Discovery::new(fetcher.clone(), DiscoveryRules::default()),
            fetcher,
            clock: clock.clone(),
        })
    }
}

/// Omits the secret.
impl fmt::Debug for TokenExchange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("TokenExchange")
            .field("issuer", &self.issuer)
            .field("client_id", &self.client_id)
            .field("audiences", &self.audiences)
            .finish_non_exhaustive()
    }
}

/// Client of a token endpoint.
pub(super) struct Exchanger {
    pub(super) issuer: String,
    credentials: HeaderValue,
    endpoint: Option<String>,
    audiences: Vec<String>,
    discovery: Discovery,
    fetcher: Fetcher,
    clock: Clock,
}

impl Exchanger {
    async fn exchange(
        &self,
        subject: &Secret,
        audience: &str,
        scopes: &Scopes,
    ) -> Result<ExchangedToken, AuthError> {
        if !self.audiences.iter().any(|allowed| allowed == audience) {
            let audience = audience.escape_debug();
            return Err(AuthError::invalid(format!(
                "`{audience}` is not an audience of the token exchange; add it with `TokenExchange::audience`"
            )));
        }
        let endpoint = self.endpoint().await?;
        // The URL of a resource (RFC 8707) or the name of a service.
        let name = if audience.contains("://") {
            "resource"
        } else {
            "audience"
        };
        let scopes = scopes.to_string();
        let form = Form::grant(GRANT)
            .with("subject_token", subject.expose())
            .with("subject_token_type", ACCESS_TOKEN)
            .with("requested_token_type", ACCESS_TOKEN)
            .with(name, audience)
            .with_some("scope", Some(&*scopes).filter(|scopes| !scopes.is_empty()));
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, self.credentials.clone());
        let sent = self.clock.now();
        let form = form.encode();
        let response = self.fetcher.post_form(&endpoint, &form, headers).await?;
        let document = format!("token exchange at {endpoint}");
        ExchangedToken::read(TokenResponse::read(&document, &response)?, &document, sent)
    }

    async fn endpoint(&self) -> Result<String, AuthError> {
        if let Some(endpoint) = &self.endpoint {
            return Ok(endpoint.clone());
        }
        let budget = Budget::discovery();
        let found = self
            .discovery
            .authorization_server(&self.issuer, &budget)
            .await?;
        found.metadata.token_endpoint.clone().ok_or_else(|| {
            let document = format!("metadata of the authorization server {}", self.issuer);
            let reason = "`token_endpoint` is missing; name it with `TokenExchange::endpoint`";
            AuthError::document(document, reason)
        })
    }
}

/// Token of the caller of a function. Its only use is an exchange for a token of another service.
///
/// [`ContextExt::caller_token`](crate::ContextExt::caller_token) returns it, if a
/// [`TokenExchange`] is configured for the issuer of the token. Its text is not accessible.
#[cfg(feature = "authorization")]
#[derive(Clone)]
pub struct CallerToken {
    token: Secret,
    exchanger: Arc<Exchanger>,
}

impl CallerToken {
    pub(super) fn new(token: &str, exchanger: &Arc<Exchanger>) -> Self {
        Self {
            token: Secret::from(token),
            exchanger: Arc::clone(exchanger),
        }
    }

    /// Requests a token for one of the [audiences](TokenExchange::audience) of the exchange. Without scopes, the authorization
    /// server chooses them.
    ///
    /// Each call is a request. Keep the token for further calls of the same user, and for no other user.
    ///
    /// # Errors
    ///
    /// - [`AuthError::Invalid`] for another audience. Nothing was sent.
    /// - [`AuthError::Refused`] if the authorization server refuses.
    /// - [`AuthError::Document`] or [`AuthError::Unavailable`] if its response is invalid, or if there is none.
    ///
    /// # Cancellation
    ///
    /// Dropping the future abandons the request.
    pub async fn exchange(
        &self,
        audience: impl AsRef<str>,
        scopes: Scopes,
    ) -> Result<ExchangedToken, AuthError> {
        let audience = audience.as_ref();
        self.exchanger
            .exchange(&self.token, audience, &scopes)
            .await
    }
}

impl fmt::Debug for CallerToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CallerToken")
            .finish_non_exhaustive()
    }
}

/// Token of another service, for calls on behalf of a user.
#[cfg(feature = "authorization")]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExchangedToken {
    /// The token, of the type `Bearer`.
    pub token: Secret,
    /// The time at which it expires, if the authorization server names it.
    pub expires_at: Option<SystemTime>,
    /// The granted scopes, if the authorization server names them.
    pub scopes: Option<Scopes>,
}

impl ExchangedToken {
    fn read(response: TokenResponse, document: &str, sent: SystemTime) -> Result<Self, AuthError> {
        if !response.token_type.eq_ignore_ascii_case("bearer") {
            let reason = "`token_type` must be `Bearer`";
            return Err(AuthError::document(document, reason));
        }
        let issued = response.issued_token_type.as_deref();
        if issued.is_some_and(|issued| issued != ACCESS_TOKEN && issued != JWT) {
            let reason = "`issued_token_type` must be that of an access token";
            return Err(AuthError::document(document, reason));
        }
        Ok(Self {
            token: response.access_token,
            expires_at: response
                .lifetime
                .and_then(|lifetime| sent.checked_add(lifetime)),
            scopes: response.scopes,
        })
    }
}

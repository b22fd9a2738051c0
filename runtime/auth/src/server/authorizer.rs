//! Authorization of the requests of an HTTP service.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use http::Response;
use http::request::Parts;
use treenail_http_server::{AuthorizeFuture, Authorized, HttpAuthorizer};
use treenail_runtime::internal::system_time;
use treenail_runtime::{Access, Principal, Server};

use super::credentials::{Credentials, Scheme, credentials};
use super::exchange::CallerToken;
use super::grant::{Grant, GrantAuthority};
use super::public_url::is_same_resource;
use super::refusal::{Refusal, insufficient_scope};
use super::resource_server::ResourceServer;
use super::settings::Settings;
use super::{LEEWAY, VerifiedToken, VerifyError};
use crate::AuthError;

/// Maximum length of a token in bytes.
const MAX_TOKEN_BYTES: usize = 16 * 1024;

/// Authorizer that verifies access tokens.
pub(super) struct Authorizer {
    settings: Settings,
    server: Server,
    metadata_url: Arc<str>,
}

impl fmt::Debug for Authorizer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Authorizer")
            .field("resource", &self.settings.resource.url)
            .field("issuers", &self.settings.issuers)
            .finish_non_exhaustive()
    }
}

impl Authorizer {
    pub(super) fn new(config: &ResourceServer, server: &Server) -> Result<Self, AuthError> {
        let settings = Settings::new(config)?;
        settings.check_functions(server)?;
        Ok(Self {
            metadata_url: settings.resource.metadata_url.as_str().into(),
            settings,
            server: server.clone(),
        })
    }

    async fn check(&self, parts: &Parts) -> Result<Authorized, Refusal> {
        let found = credentials(parts).map_err(Refusal::Malformed)?;
        let found = found.filter(|it| it.scheme == Scheme::Bearer || self.settings.dpop.is_some());
        let credentials = found.ok_or(Refusal::NoToken)?;
        let token = self.verify(credentials).await?;
        self.check_key(parts, credentials, &token).await?;
        Ok(self.authorized(token, credentials.token))
    }

    /// Verifies the token, and checks the result.
    async fn verify(&self, credentials: Credentials<'_>) -> Result<VerifiedToken, Refusal> {
        let invalid = Refusal::Token(credentials.scheme, "the token is invalid");
        if credentials.token.len() > MAX_TOKEN_BYTES {
            return Err(invalid);
        }
        let mut refusal = invalid.clone();
        for verifier in &self.settings.verifiers {
            match verifier.verify(credentials.token).await {
                Ok(token) if !self.is_for_this_resource(&token) => return Err(invalid),
                Ok(token) if self.has_expired(&token) => {
                    return Err(Refusal::Token(credentials.scheme, "the token has expired"));
                }
                Ok(token) => return Ok(token),
                // Another verifier may accept the token; but if it is one of this verifier, its client should keep it.
                Err(VerifyError::Unavailable { retry_after }) => {
                    refusal = Refusal::Unavailable(retry_after);
                }
                Err(VerifyError::Expired) => {
                    if !matches!(refusal, Refusal::Unavailable(_)) {
                        refusal = Refusal::Token(credentials.scheme, "the token has expired");
                    }
                }
                Err(_) => {}
            }
        }
        Err(refusal)
    }

    fn is_for_this_resource(&self, token: &VerifiedToken) -> bool {
        let aliases = self.settings.aliases.iter();
        let mut resources = aliases.chain([&self.settings.resource.url]);
        let is_audience = |resource: &String| {
            let mut audience = token.audience.iter();
            audience.any(|audience| is_same_resource(audience, resource))
        };
        let is_subject = !token.subject.is_empty() && !token.subject.contains(char::is_control);
        self.settings.issuers.contains(&token.issuer) && is_subject && resources.any(is_audience)
    }

    fn has_expired(&self, token: &VerifiedToken) -> bool {
        let end = token.expires_at.checked_add(LEEWAY);
        end.is_some_and(|end| end <= self.settings.clock.now())
    }

    /// Checks that a token is used with its key, if it is bound to one, and only then.
    async fn check_key(
        &self,
        parts: &Parts,
        credentials: Credentials<'_>,
        token: &VerifiedToken,
    ) -> Result<(), Refusal> {
        let thumbprint = token.key_thumbprint.as_deref();
        match (credentials.scheme, &self.settings.dpop, thumbprint) {
            (Scheme::Bearer, _, Some(_)) => Err(Refusal::Token(
                Scheme::Bearer,
                "the token is bound to a key; use the scheme `DPoP`",
            )),
            (Scheme::Bearer, Some(dpop), None) if dpop.is_required() => Err(Refusal::Token(
                Scheme::Dpop,
                "the token is not bound to a key",
            )),
            (Scheme::Bearer, _, None) => Ok(()),
            (Scheme::Dpop, _, None) => Err(Refusal::Token(
                Scheme::Dpop,
                "the token is not bound to a key; use the scheme `Bearer`",
            )),
            (Scheme::Dpop, None, _) => Err(Refusal::NoToken),
            (Scheme::Dpop, Some(dpop), Some(thumbprint)) => {
                let (url, now) = (&self.settings.resource.url, self.settings.clock.now());
                dpop.check(parts, (url, credentials.token), thumbprint, now)
                    .await
            }
        }
    }

    fn authorized(&self, token: VerifiedToken, text: &str) -> Authorized {
        let expires_at = self.stream_end(token.expires_at);
        let grant = Grant::new(token, &self.settings.hierarchy);
        let mut caller = Authorized::new(grant.principal(), self.access(&grant));
        let exchanger = self.settings.exchanger.as_ref();
        if let Some(exchanger) = exchanger.filter(|one| one.issuer == grant.issuer()) {
            let subject = CallerToken::new(text, exchanger);
            caller.extensions.insert(subject);
        }
        caller.extensions.insert(grant);
        caller.expires_at = expires_at;
        caller
    }

    /// Returns the rights of a token that was verified elsewhere.
    pub(super) fn admit(
        &self,
        token: VerifiedToken,
    ) -> Result<(Principal, Access, Grant), AuthError> {
        if !self.is_for_this_resource(&token) {
            let reason = "the token is of another issuer, or for another resource";
            return Err(AuthError::invalid(reason));
        }
        if self.has_expired(&token) {
            return Err(AuthError::invalid("the token has expired"));
        }
        let grant = Grant::new(token, &self.settings.hierarchy);
        Ok((grant.principal(), self.access(&grant), grant))
    }

    fn access(&self, grant: &Grant) -> Access {
        Access::new(GrantAuthority {
            grant: grant.clone(),
            base: Arc::clone(&self.settings.required),
            metadata_url: Arc::clone(&self.metadata_url),
        })
    }

    /// Returns the time of the system at which streams of a caller end whose token expires at `expires_at`.
    fn stream_end(&self, expires_at: SystemTime) -> Option<SystemTime> {
        let end = expires_at.checked_add(LEEWAY)?;
        let left = end.duration_since(self.settings.clock.now());
        system_time().checked_add(left.unwrap_or_default())
    }

    /// Returns the scopes that a client without a sufficient token should request: those of basic use, and those of the
    /// operation that the headers name. The headers are not verified, so this is only a hint.
    fn wanted_scopes(&self, parts: &Parts) -> String {
        let header = |name| parts.headers.get(name)?.to_str().ok();
        let operation = header("mcp-method").zip(header("mcp-name"));
        let operation =
            operation.map(|(method, name)| self.server.advertised_scopes_of(method, name));
        let operation = operation.unwrap_or_default();
        let operation = operation.names().collect::<Vec<_>>().join(" ");
        let operation = operation.parse().unwrap_or_default();
        self.settings.basic.union(&operation).to_string()
    }
}

impl HttpAuthorizer for Authorizer {
    fn host(&self) -> &str {
        &self.settings.resource.host
    }

    fn serves(&self, path: &str) -> bool {
        self.settings.document.is_at(path)
    }

    fn document(&self, parts: &Parts) -> Response<Bytes> {
        self.settings.document.respond(&parts.method)
    }

    fn authorize<'a>(&'a self, parts: &'a Parts) -> AuthorizeFuture<'a> {
        Box::pin(async move {
            self.check(parts).await.map_err(|refusal| {
                tracing::debug!(?refusal, "refused a request");
                refusal.response(&self.settings, &self.wanted_scopes(parts))
            })
        })
    }

    fn forbid(&self, caller: &Authorized, scopes: &str) -> Response<Bytes> {
        let grant = caller.extensions.get::<Grant>();
        let scheme = if grant.is_some_and(Grant::is_bound) {
            Scheme::Dpop
        } else {
            Scheme::Bearer
        };
        insufficient_scope(&self.settings, scheme, scopes)
    }
}

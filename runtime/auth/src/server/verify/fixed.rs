//! Fixed tokens, for development and for machines.

use std::fmt;
use std::time::Duration;

use ring::hmac::{HMAC_SHA256, Key, Tag, sign, verify};
use ring::rand::SystemRandom;

use crate::server::credentials::is_token;
use crate::server::{VerifiedToken, Verifier, VerifierFuture, VerifyError};
use crate::{AuthError, Clock, Scopes, Secret};

/// Minimum length of a token.
const MIN_LENGTH: usize = 16;
/// Time after which streams of a fixed token end. Its next request is accepted again.
const VALIDITY: Duration = Duration::from_secs(24 * 60 * 60);

/// Verifies fixed tokens, for development and for machines. Each has a subject and scopes of its own.
///
/// Tokens are compared in constant time, and not stored. They do not expire.
///
/// ```
/// use treenail::auth::{FixedTokenVerifier, Secret};
///
/// let token = Secret::from("from-your-secret-store-4f1c");
/// let verifier = FixedTokenVerifier::new("https://id.example.com", "https://mcp.example.com/mcp")?
///     .token(&token, "build-machine", "files:read".parse()?)?;
/// # let _ = verifier;
/// # Ok::<(), treenail::auth::AuthError>(())
/// ```
#[cfg(feature = "authorization")]
#[must_use = "a verifier does nothing until a resource server uses it"]
pub struct FixedTokenVerifier {
    issuer: String,
    resource: String,
    key: Key,
    tokens: Vec<(Tag, String, Scopes)>,
    clock: Clock,
}

impl FixedTokenVerifier {
    /// Returns a verifier without tokens. `issuer` is one of the issuers of the resource server, and part of the identity of
    /// callers. `resource` is the public URL of the endpoint.
    ///
    /// # Errors
    ///
    /// The system has no random numbers.
    pub fn new(issuer: impl Into<String>, resource: impl Into<String>) -> Result<Self, AuthError> {
        let no_random = |_| AuthError::Unavailable("the system has no random numbers".into());
        Ok(Self {
            issuer: issuer.into(),
            resource: resource.into(),
            key: Key::generate(HMAC_SHA256, &SystemRandom::new()).map_err(no_random)?,
            tokens: Vec::new(),
            clock: Clock::system(),
        })
    }

    /// Accepts a token for a subject with these scopes.
    ///
    /// # Errors
    ///
    /// [`AuthError::Invalid`] if the token has fewer than 16 characters, or one that is not allowed in a token.
    pub fn token(
        mut self,
        token: &Secret,
        subject: impl Into<String>,
        scopes: Scopes,
    ) -> Result<Self, AuthError> {
        let text = token.expose();
        if text.len() < MIN_LENGTH || !is_token(text) {
            let reason = "a fixed token needs at least 16 characters, which are letters, digits or one of `-._~+/`, with `=` at its end only; use a random one, such as that of `openssl rand -hex 32`";
            return Err(AuthError::invalid(reason));
        }
        let tag = sign(&self.key, text.as_bytes());
        self.tokens.push((tag, subject.into(), scopes));
        Ok(self)
    }

    /// Sets the source of the time, for tests. Default: the clock of the system.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    fn find(&self, token: &str) -> Result<VerifiedToken, VerifyError> {
        // Tags under a random key instead of the tokens: their comparison takes constant time, and is made with each of them.
        let is_same = |tag: &Tag| verify(&self.key, token.as_bytes(), tag.as_ref()).is_ok();
        let mut found = None;
        for (tag, subject, scopes) in &self.tokens {
            if is_same(tag) {
                found = Some((subject, scopes));
            }
        }
        let (subject, scopes) = found.ok_or(VerifyError::Invalid)?;
        let expires_at = self.clock.now() + VALIDITY;
        let mut token = VerifiedToken::new(&*self.issuer, subject, [&self.resource], expires_at);
        token.scopes = scopes.clone();
        Ok(token)
    }
}

impl Verifier for FixedTokenVerifier {
    fn verify<'a>(&'a self, token: &'a str) -> VerifierFuture<'a> {
        Box::pin(std::future::ready(self.find(token)))
    }
}

impl fmt::Debug for FixedTokenVerifier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("FixedTokenVerifier")
            .field("issuer", &self.issuer)
            .field("tokens", &self.tokens.len())
            .finish_non_exhaustive()
    }
}

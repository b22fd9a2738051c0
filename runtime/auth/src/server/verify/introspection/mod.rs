//! Verification of opaque access tokens by their issuer (RFC 7662).

mod builder;

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, StatusCode};
use ring::digest::{SHA256, digest};
use serde_json::{Map, Value};
use tokio::sync::Semaphore;
use tokio::time::timeout;

pub use self::builder::IntrospectionVerifierBuilder;
pub(in crate::server) use self::builder::credentials;
use super::claims::{Time, read_token};
use super::refreshing::Refreshing;
use crate::fetch::Fetcher;
use crate::jose::string;
use crate::server::{LEEWAY, VerifiedToken, Verifier, VerifierFuture, VerifyError};
use crate::{AuthError, Clock, Secret};

/// Maximum time for which a response is cached.
const MAX_CACHING: Duration = Duration::from_secs(60);
/// Maximum number of cached responses.
const MAX_CACHED: usize = 10_000;
/// Maximum number of concurrent requests to the issuer.
const MAX_REQUESTS: usize = 64;
/// Maximum time to wait for one of them.
const MAX_WAIT: Duration = Duration::from_secs(5);

const UNAVAILABLE: VerifyError = VerifyError::Unavailable {
    retry_after: Duration::from_secs(5),
};

/// Verifies access tokens by a request to their issuer (RFC 7662), for opaque tokens.
///
/// The response needs `aud` and `exp`, and `sub` or `client_id`. Its `iss`, if present, is the issuer. The resource server
/// checks the audience. Positive responses are cached for 60 s, and not beyond the expiry of the token.
///
/// With other verifiers, give the resource server this one last: it sends every token that it is given to the issuer.
///
/// ```
/// use treenail::auth::{IntrospectionVerifier, Secret};
///
/// let secret = Secret::from("from-your-secret-store");
/// let verifier = IntrospectionVerifier::builder("https://id.example.com", "mcp-server", secret)
///     .endpoint("https://id.example.com/introspect")
///     .build()?;
/// # let _ = verifier;
/// # Ok::<(), treenail::auth::AuthError>(())
/// ```
#[cfg(feature = "authorization")]
pub struct IntrospectionVerifier {
    issuer: String,
    credentials: HeaderValue,
    endpoint: Endpoint,
    fetcher: Fetcher,
    requests: Semaphore,
    caching: Duration,
    /// By the digest of the token.
    cache: Mutex<HashMap<[u8; 32], Cached>>,
    clock: Clock,
}

struct Cached {
    token: VerifiedToken,
    /// The times at which it is used. A clock that was set back ends them.
    times: Range<SystemTime>,
}

enum Endpoint {
    Given(String),
    Discovered(Refreshing<String>),
}

impl IntrospectionVerifier {
    /// Returns a builder for the tokens of `issuer`, which this server asks as the client `client_id`
    /// (`client_secret_basic`).
    pub fn builder(
        issuer: impl Into<String>,
        client_id: impl Into<String>,
        secret: impl Into<Secret>,
    ) -> IntrospectionVerifierBuilder {
        IntrospectionVerifierBuilder::new(issuer.into(), client_id.into(), secret.into())
    }

    async fn check(&self, token: &str) -> Result<VerifiedToken, VerifyError> {
        let mut hash = [0; 32];
        hash.copy_from_slice(digest(&SHA256, token.as_bytes()).as_ref());
        if let Some(token) = self.cached(&hash) {
            return Ok(token);
        }
        let claims = self.introspect(token).await?;
        let time = Time {
            now: self.clock.now(),
            leeway: LEEWAY,
        };
        let token = read_token(self.active(claims)?, &self.issuer, time)?;
        let until = token.expires_at.min(time.now + self.caching);
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.len() >= MAX_CACHED {
            // Random tokens are not cached, so only many valid ones lead to this.
            cache.clear();
        }
        let cached = Cached {
            token: token.clone(),
            times: time.now..until,
        };
        cache.insert(hash, cached);
        Ok(token)
    }

    fn cached(&self, hash: &[u8; 32]) -> Option<VerifiedToken> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let cached = cache.get(hash)?;
        if cached.times.contains(&self.clock.now()) {
            return Some(cached.token.clone());
        }
        cache.remove(hash);
        None
    }

    /// Returns the response of the issuer.
    async fn introspect(&self, token: &str) -> Result<Map<String, Value>, VerifyError> {
        let permit = timeout(MAX_WAIT, self.requests.acquire()).await;
        let Ok(Ok(_permit)) = permit else {
            return Err(UNAVAILABLE);
        };
        let discovered;
        let url = match &self.endpoint {
            Endpoint::Given(url) => url,
            Endpoint::Discovered(endpoint) => {
                discovered = endpoint.get().await?;
                &*discovered
            }
        };
        self.request(url, token).await.map_err(|error| {
            tracing::warn!(issuer = self.issuer, %error, "an access token cannot be introspected");
            UNAVAILABLE
        })
    }

    async fn request(&self, url: &str, token: &str) -> Result<Map<String, Value>, AuthError> {
        let form = format!("token={}&token_type_hint=access_token", form_encode(token));
        let form = Secret::from(form);
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, self.credentials.clone());
        let response = self.fetcher.post_form(url, &form, headers).await?;
        let document = || format!("introspection response of {}", self.issuer);
        if response.status != StatusCode::OK {
            let reason = format!(
                "status {}, expected 200; check the client id and the secret of the verifier",
                response.status.as_u16()
            );
            return Err(AuthError::document(document(), reason));
        }
        response
            .json()
            .map_err(|reason| AuthError::document(document(), reason))
    }

    /// Returns the claims of a token that is active, and an access token.
    fn active(&self, mut claims: Map<String, Value>) -> Result<Map<String, Value>, VerifyError> {
        if claims.remove("active") != Some(Value::Bool(true)) {
            return Err(VerifyError::Invalid);
        }
        let text = |name| string(&claims, name).map_err(|_| VerifyError::Invalid);
        let is_access_type =
            |name: &str| name.eq_ignore_ascii_case("bearer") || name.eq_ignore_ascii_case("dpop");
        if !text("token_type")?.is_none_or(is_access_type) {
            return Err(VerifyError::Invalid);
        }
        // The response is from the endpoint of this issuer, which may leave its name out. A client that acts for itself is
        // the subject.
        if text("iss")?.is_none() {
            claims.insert("iss".to_owned(), Value::from(&*self.issuer));
        }
        if !claims.contains_key("sub") {
            let client = claims.get("client_id").cloned();
            claims.insert("sub".to_owned(), client.ok_or(VerifyError::Invalid)?);
        }
        Ok(claims)
    }
}

impl Verifier for IntrospectionVerifier {
    fn verify<'a>(&'a self, token: &'a str) -> VerifierFuture<'a> {
        Box::pin(self.check(token))
    }
}

impl fmt::Debug for IntrospectionVerifier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("IntrospectionVerifier")
            .field("issuer", &self.issuer)
            .finish_non_exhaustive()
    }
}

/// Encodes a value of a form.
fn form_encode(text: &str) -> String {
    use std::fmt::Write;

    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._*".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a `String` does not fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

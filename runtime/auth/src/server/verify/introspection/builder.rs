//! Configuration of introspection.

use std::sync::Mutex;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use tokio::sync::Semaphore;

use super::{Endpoint, IntrospectionVerifier, MAX_CACHING, MAX_REQUESTS, form_encode};
use crate::fetch::{FetchPolicy, Fetcher};
use crate::server::verify::refreshing::Refreshing;
use crate::server::verify::remote::{EndpointOf, configured};
use crate::{AuthError, Clock, Secret};

/// Builder of an [`IntrospectionVerifier`].
#[cfg(feature = "authorization")]
#[derive(Debug)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct IntrospectionVerifierBuilder {
    issuer: String,
    client_id: String,
    secret: Secret,
    endpoint: Option<String>,
    policy: FetchPolicy,
    caching: Duration,
    clock: Clock,
}

impl IntrospectionVerifierBuilder {
    pub(super) fn new(issuer: String, client_id: String, secret: Secret) -> Self {
        Self {
            issuer,
            client_id,
            secret,
            endpoint: None,
            policy: FetchPolicy::default(),
            caching: MAX_CACHING,
            clock: Clock::system(),
        }
    }

    /// Sets the URL of the endpoint. Default: the `introspection_endpoint` of the metadata of the issuer.
    pub fn endpoint(mut self, url: impl Into<String>) -> Self {
        self.endpoint = Some(url.into());
        self
    }

    /// Sets the policy for the URL of the endpoint in the metadata of the issuer. The host of a URL that you give is allowed
    /// in every network.
    pub fn fetch_policy(mut self, policy: FetchPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets the time for which positive responses are cached. A revoked token is accepted for this time. Default and maximum:
    /// 60 s.
    pub fn cache_ttl(mut self, ttl: Duration) -> Self {
        self.caching = ttl.min(MAX_CACHING);
        self
    }

    /// Sets the source of the time, for tests. Default: the clock of the system.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Builds the verifier. Nothing is fetched.
    ///
    /// # Errors
    ///
    /// [`AuthError::Invalid`] if the issuer or the endpoint is no `https` URL. `http` is allowed on loopback addresses.
    pub fn build(self) -> Result<IntrospectionVerifier, AuthError> {
        configured(FetchPolicy::default(), &self.issuer)?;
        let named = self.endpoint.as_deref().unwrap_or(&self.issuer);
        let policy = configured(self.policy, named)?;
        let fetcher = Fetcher::new(policy);
        let endpoint = if let Some(url) = self.endpoint {
            Endpoint::Given(url)
        } else {
            let source = EndpointOf {
                issuer: self.issuer.clone(),
                fetcher: fetcher.clone(),
            };
            Endpoint::Discovered(Refreshing::new(source, self.clock.clone()))
        };
        Ok(IntrospectionVerifier {
            credentials: credentials(&self.client_id, &self.secret),
            issuer: self.issuer,
            endpoint,
            fetcher,
            requests: Semaphore::new(MAX_REQUESTS),
            caching: self.caching,
            cache: Mutex::default(),
            clock: self.clock,
        })
    }
}

/// Returns the field `Authorization` of a client (RFC 6749, section 2.3.1).
pub(in crate::server) fn credentials(client_id: &str, secret: &Secret) -> HeaderValue {
    let pair = format!(
        "{}:{}",
        form_encode(client_id),
        form_encode(secret.expose())
    );
    let mut value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(pair)))
        .expect("base64 consists of visible ASCII characters");
    value.set_sensitive(true);
    value
}

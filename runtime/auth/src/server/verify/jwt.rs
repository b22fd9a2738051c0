//! Verification of access tokens that are JWTs (RFC 9068).

use std::time::Duration;

use serde_json::Value;

use super::claims::{Time, read_token};
use super::issuer_keys::IssuerKeys;
use super::refreshing::Refreshing;
use super::remote::{KeysAt, Location, configured};
use crate::fetch::{FetchPolicy, Fetcher};
use crate::jose::{Jws, KeySet, string};
use crate::server::{VerifiedToken, Verifier, VerifierFuture, VerifyError};
use crate::{AuthError, Clock};

/// Maximum difference between the clocks of the issuer and of this server.
const MAX_LEEWAY: Duration = Duration::from_secs(60);

/// Verifies access tokens of one issuer that are JWTs (RFC 9068), with the keys of this issuer.
///
/// Accepted are the algorithms ES256, ES384, `EdDSA`, RS256, RS384, RS512, PS256, PS384 and PS512. A token needs `iss`, `sub`,
/// `aud` and `exp`. The resource server checks the audience.
///
/// The keys are fetched at first need, and again after 5 to 15 minutes, as their cache header asks. If they cannot be
/// fetched, the former ones are used for one hour. A token with an unknown key causes at most one fetch in 30 s.
///
/// For several issuers, give the resource server one verifier for each.
///
/// ```
/// use treenail::auth::{JwtVerifier, ResourceServer};
///
/// let verifier = JwtVerifier::builder("https://id.example.com")
///     .jwks_url("https://id.example.com/keys")
///     .build()?;
/// let authorization = ResourceServer::new("https://mcp.example.com/mcp")
///     .issuer("https://id.example.com")
///     .verifier(verifier);
/// # let _ = authorization;
/// # Ok::<(), treenail::auth::AuthError>(())
/// ```
#[cfg(feature = "authorization")]
#[derive(Debug)]
pub struct JwtVerifier {
    issuer: String,
    keys: IssuerKeys,
    leeway: Duration,
    requires_type: bool,
    clock: Clock,
}

impl JwtVerifier {
    /// Returns a builder for the tokens of `issuer`. Write it exactly as the member `issuer` of its metadata.
    pub fn builder(issuer: impl Into<String>) -> JwtVerifierBuilder {
        JwtVerifierBuilder {
            issuer: issuer.into(),
            jwks_url: None,
            jwks: None,
            policy: FetchPolicy::default(),
            #[cfg(test)]
            source: None,
            leeway: MAX_LEEWAY,
            requires_type: false,
            clock: Clock::system(),
        }
    }

    async fn check(&self, token: &str) -> Result<VerifiedToken, VerifyError> {
        let invalid = |reason| {
            tracing::debug!(%reason, "an access token is invalid");
            VerifyError::Invalid
        };
        let token = Jws::parse(token).map_err(invalid)?;
        if !self.is_access_token(token.header().typ.as_deref()) {
            return Err(VerifyError::Invalid);
        }
        // Before anything is fetched: a token of another issuer is the matter of another verifier.
        if string(token.claims(), "iss").map_err(invalid)? != Some(&self.issuer) {
            return Err(VerifyError::Invalid);
        }
        self.keys.verify(&token).await?;
        let time = Time {
            now: self.clock.now(),
            leeway: self.leeway,
        };
        read_token(token.into_claims(), &self.issuer, time)
    }

    /// Returns true for the type of access tokens, and for tokens without a distinctive type unless it is required.
    fn is_access_token(&self, typ: Option<&str>) -> bool {
        match typ {
            Some("at+jwt") => true,
            None | Some("jwt") => !self.requires_type,
            Some(_) => false,
        }
    }
}

impl Verifier for JwtVerifier {
    fn verify<'a>(&'a self, token: &'a str) -> VerifierFuture<'a> {
        Box::pin(self.check(token))
    }
}

/// Builder of a [`JwtVerifier`].
#[cfg(feature = "authorization")]
#[derive(Debug)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct JwtVerifierBuilder {
    issuer: String,
    jwks_url: Option<String>,
    jwks: Option<Value>,
    policy: FetchPolicy,
    #[cfg(test)]
    source: Option<Refreshing<KeySet>>,
    leeway: Duration,
    requires_type: bool,
    clock: Clock,
}

impl JwtVerifierBuilder {
    /// Fetches the keys from this URL. Default: the `jwks_uri` of the metadata of the issuer.
    pub fn jwks_url(mut self, url: impl Into<String>) -> Self {
        self.jwks_url = Some(url.into());
        self
    }

    /// Uses the keys of this JWK set, and fetches nothing.
    pub fn jwks(mut self, jwks: Value) -> Self {
        self.jwks = Some(jwks);
        self
    }

    /// Sets the policy for the URL of the keys in the metadata of the issuer. The host of a URL that you give is allowed in
    /// every network.
    pub fn fetch_policy(mut self, policy: FetchPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets the tolerated difference between the clocks of the issuer and of this server. Default and maximum: 60 s.
    pub fn leeway(mut self, leeway: Duration) -> Self {
        self.leeway = leeway.min(MAX_LEEWAY);
        self
    }

    /// Requires the type `at+jwt`. By default, tokens without a type and with the type `JWT` are accepted too, because many
    /// authorization servers issue them.
    pub fn require_type(mut self) -> Self {
        self.requires_type = true;
        self
    }

    /// Sets the source of the time, for tests. Default: the clock of the system.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Uses the keys of a source without network. The [`clock`](Self::clock) is set before.
    #[cfg(test)]
    pub(super) fn source(mut self, source: impl super::refreshing::Source<KeySet>) -> Self {
        self.source = Some(Refreshing::new(source, self.clock.clone()));
        self
    }

    /// Builds the verifier. Nothing is fetched.
    ///
    /// # Errors
    ///
    /// [`AuthError::Invalid`] if the issuer or the URL of the keys is no `https` URL, or the given JWK set has no usable key.
    /// `http` is allowed on loopback addresses.
    pub fn build(mut self) -> Result<JwtVerifier, AuthError> {
        configured(FetchPolicy::default(), &self.issuer)?;
        #[cfg(test)]
        if let Some(keys) = self.source.take() {
            let keys = IssuerKeys::Fetched(keys);
            return Ok(self.with_keys(keys));
        }
        let keys = if let Some(jwks) = self.jwks.take() {
            IssuerKeys::Given(read_keys(&jwks)?)
        } else {
            IssuerKeys::Fetched(self.fetched()?)
        };
        Ok(self.with_keys(keys))
    }

    fn fetched(&mut self) -> Result<Refreshing<KeySet>, AuthError> {
        let location = match self.jwks_url.take() {
            Some(url) => Location::Url(url),
            None => Location::Issuer(self.issuer.clone()),
        };
        let policy = configured(self.policy.clone(), location.url())?;
        let fetcher = Fetcher::new(policy);
        let source = KeysAt { location, fetcher };
        Ok(Refreshing::new(source, self.clock.clone()))
    }

    fn with_keys(self, keys: IssuerKeys) -> JwtVerifier {
        JwtVerifier {
            issuer: self.issuer,
            keys,
            leeway: self.leeway,
            requires_type: self.requires_type,
            clock: self.clock,
        }
    }
}

fn read_keys(jwks: &Value) -> Result<KeySet, AuthError> {
    let keys = KeySet::parse(jwks.to_string().as_bytes())
        .map_err(|error| AuthError::document("the given JWK set", error.0))?;
    if keys.is_empty() {
        let reason = "the given JWK set has no usable key; expected are public keys for signatures: EC P-256 or P-384, Ed25519, or RSA with at least 2,048 bits";
        return Err(AuthError::invalid(reason));
    }
    Ok(keys)
}

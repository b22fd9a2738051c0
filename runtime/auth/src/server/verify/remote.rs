//! Documents and endpoints of an issuer.

use std::sync::Arc;
use std::time::Duration;

use http::header::CACHE_CONTROL;
use http::{HeaderMap, Uri};
use treenail_schema::internal::quoted;

use super::refreshing::{Fetched, Source, SourceFuture};
use crate::AuthError;
use crate::fetch::{Budget, FetchPolicy, FetchResponse, Fetcher};
use crate::jose::KeySet;
use crate::metadata::{AuthorizationServerMetadata, Discovery, DiscoveryRules};

/// Lifetime of keys without a cache header.
const DEFAULT_LIFETIME: Duration = Duration::from_secs(10 * 60);
/// Bounds of the lifetime of keys, in seconds.
const LIFETIMES: (u64, u64) = (5 * 60, 15 * 60);

/// Lifetime of the URL of an endpoint.
const ENDPOINT_LIFETIME: Duration = Duration::from_secs(60 * 60);

/// Place of a document.
#[derive(Debug)]
pub(super) enum Location {
    /// Named by the metadata of this issuer.
    Issuer(String),
    Url(String),
}

impl Location {
    pub(super) fn url(&self) -> &str {
        match self {
            Self::Issuer(url) | Self::Url(url) => url,
        }
    }
}

/// Keys at a place.
#[derive(Debug)]
pub(super) struct KeysAt {
    pub(super) location: Location,
    pub(super) fetcher: Fetcher,
}

impl Source<KeySet> for KeysAt {
    fn fetch(&self) -> SourceFuture<'_, KeySet> {
        Box::pin(async {
            let budget = Budget::discovery();
            let url = match &self.location {
                Location::Url(url) => url.clone(),
                Location::Issuer(issuer) => {
                    let metadata = discover(&self.fetcher, issuer, &budget).await?;
                    let remedy =
                        "give the verifier the URL with `jwks_url`, or the keys with `jwks`";
                    required(metadata.jwks_uri.as_ref(), (issuer, "jwks_uri"), remedy)?
                }
            };
            let response = self.fetcher.get(&url, &HeaderMap::new(), &budget).await?;
            read_keys(&url, &response)
        })
    }
}

/// Introspection endpoint of an issuer.
#[derive(Debug)]
pub(super) struct EndpointOf {
    pub(super) issuer: String,
    pub(super) fetcher: Fetcher,
}

impl Source<String> for EndpointOf {
    fn fetch(&self) -> SourceFuture<'_, String> {
        Box::pin(async {
            let budget = Budget::discovery();
            let metadata = discover(&self.fetcher, &self.issuer, &budget).await?;
            let endpoint = metadata.introspection_endpoint.as_ref();
            let remedy = "give the verifier the URL with `endpoint`";
            let value = required(endpoint, (&self.issuer, "introspection_endpoint"), remedy)?;
            Ok(Fetched {
                value,
                lifetime: ENDPOINT_LIFETIME,
            })
        })
    }
}

/// Requests the metadata of an issuer. Nothing is cached here, so that changes take effect.
async fn discover(
    fetcher: &Fetcher,
    issuer: &str,
    budget: &Budget,
) -> Result<Arc<AuthorizationServerMetadata>, AuthError> {
    let discovery = Discovery::new(fetcher.clone(), DiscoveryRules::default());
    let found = discovery.authorization_server(issuer, budget).await?;
    Ok(found.metadata)
}

fn required(
    url: Option<&String>,
    (issuer, member): (&str, &str),
    remedy: &str,
) -> Result<String, AuthError> {
    url.cloned().ok_or_else(|| {
        let document = format!("metadata of the authorization server {issuer}");
        AuthError::document(document, format!("`{member}` is missing; {remedy}"))
    })
}

fn read_keys(url: &str, response: &FetchResponse) -> Result<Fetched<KeySet>, AuthError> {
    let document = || format!("JWK set at {}", quoted(url));
    if response.status != http::StatusCode::OK {
        let reason = format!("status {}, expected 200", response.status.as_u16());
        return Err(AuthError::document(document(), reason));
    }
    let keys =
        KeySet::parse(response.body()).map_err(|error| AuthError::document(document(), error.0))?;
    // Tokens of this issuer would all be invalid, and clients would throw them away.
    if keys.is_empty() {
        let reason = "no usable public key, expected one of EC, Ed25519 or RSA for signatures";
        return Err(AuthError::document(document(), reason));
    }
    Ok(Fetched {
        value: keys,
        lifetime: lifetime(&response.headers),
    })
}

/// Returns the lifetime of keys: `max-age`, within its bounds.
fn lifetime(headers: &HeaderMap) -> Duration {
    let fields = headers.get_all(CACHE_CONTROL).iter();
    let max_age = fields
        .filter_map(|field| field.to_str().ok())
        .flat_map(|field| field.split(','))
        .filter_map(|directive| directive.trim().split_once('='))
        .find(|(name, _)| name.eq_ignore_ascii_case("max-age"));
    let seconds = max_age.and_then(|(_, value)| value.trim_matches('"').parse::<u64>().ok());
    seconds.map_or(DEFAULT_LIFETIME, |seconds| {
        Duration::from_secs(seconds.clamp(LIFETIMES.0, LIFETIMES.1))
    })
}

/// Checks a URL of the configuration: `https`, or `http` on a loopback address.
///
/// Returns the policy for requests to it, and to further URLs of its documents. The operator has named its host, so it is
/// allowed in every network.
pub(in crate::server) fn configured(
    policy: FetchPolicy,
    url: &str,
) -> Result<FetchPolicy, AuthError> {
    let uri: Uri = url.parse().map_err(|_| {
        let url = url.escape_debug();
        AuthError::invalid(format!(
            "`{url}` is not a URL; expected is one such as `https://id.example.com`"
        ))
    })?;
    let policy = policy
        .allow_host(uri.host().unwrap_or_default())
        .for_server(&uri, None);
    let checked = policy.check_url(url);
    checked.map_err(|error| AuthError::invalid(error.to_string()))?;
    policy.check_connections()?;
    Ok(policy)
}

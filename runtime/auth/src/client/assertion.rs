//! Authentication of a client by a signed assertion (`private_key_jwt`, RFC 7523).

use std::time::{Duration, SystemTime};

use ring::rand::{SecureRandom, SystemRandom};
use serde_json::{Map, json};

use crate::jose::{Algorithm, SigningKey, base64url};
use crate::metadata::AuthorizationServerMetadata;
use crate::{AuthError, Secret};

/// Value of `client_assertion_type`.
pub(super) const TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/// Validity of an assertion. The clock of the authorization server may differ by some of it.
const LIFETIME: Duration = Duration::from_secs(120);

/// Returns an assertion for one request.
pub(super) fn sign(
    key: &SigningKey,
    client_id: &str,
    metadata: &AuthorizationServerMetadata,
    now: SystemTime,
) -> Result<Secret, AuthError> {
    let algorithm = algorithm(key, metadata)?;
    let mut id = [0; 16];
    let no_random = |_| AuthError::Unavailable("no random bytes from the operating system".into());
    SystemRandom::new().fill(&mut id).map_err(no_random)?;
    let now = now
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let claims = Map::from_iter([
        ("iss".to_owned(), json!(client_id)),
        ("sub".to_owned(), json!(client_id)),
        ("aud".to_owned(), json!(metadata.issuer)),
        ("iat".to_owned(), json!(now.as_secs())),
        ("exp".to_owned(), json!((now + LIFETIME).as_secs())),
        ("jti".to_owned(), json!(base64url(id))),
    ]);
    key.sign(algorithm, "JWT", &claims).map(Secret::from)
}

/// Checks that the authorization server accepts assertions of the key.
pub(super) fn check(
    key: &SigningKey,
    metadata: &AuthorizationServerMetadata,
) -> Result<(), AuthError> {
    algorithm(key, metadata).map(drop)
}

/// Returns the best algorithm of the key that the authorization server lists. Without a list, the key decides.
fn algorithm(
    key: &SigningKey,
    metadata: &AuthorizationServerMetadata,
) -> Result<Algorithm, AuthError> {
    let Some(listed) = &metadata.token_endpoint_auth_signing_alg_values_supported else {
        return Ok(key.algorithm());
    };
    let algorithm = key.algorithm_among(listed.iter().map(String::as_str));
    algorithm.ok_or_else(|| {
        let document = format!("metadata of the authorization server {}", metadata.issuer);
        let reason = "`token_endpoint_auth_signing_alg_values_supported` lists no algorithm of the private key of this client";
        AuthError::document(document, reason)
    })
}

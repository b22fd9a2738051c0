//! Tests of verifiers.

mod claims;
mod endpoint;
mod fixed;
mod issuer_keys;
mod jwt;
mod refreshing;
#[cfg(feature = "test-authorization")]
mod remote;
#[cfg(feature = "test-authorization")]
mod secrets;

use std::time::{Duration, SystemTime};

use serde_json::{Map, Value, json};

use super::JwtVerifier;
use crate::Clock;
use crate::jose::SigningKey;
use crate::server::{VerifiedToken, Verifier, VerifyError};

const ISSUER: &str = "https://id.example.com";
const RESOURCE: &str = "https://mcp.example.com/mcp";
const NOW: u64 = 1_700_000_000;

fn clock() -> Clock {
    Clock::manual(SystemTime::UNIX_EPOCH + Duration::from_secs(NOW))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => panic!("{other} is not an object"),
    }
}

/// Returns the claims of a valid token.
fn claims() -> Map<String, Value> {
    object(json!({
        "iss": ISSUER,
        "sub": "alice",
        "aud": RESOURCE,
        "exp": NOW + 600,
        "iat": NOW,
        "client_id": "desktop",
        "scope": "files:read files:write",
        "jti": "1",
    }))
}

/// Returns the claims of a valid token with one other value; an absent one for `None`.
fn claims_with(name: &str, value: Option<Value>) -> Map<String, Value> {
    let mut claims = claims();
    match value {
        Some(value) => drop(claims.insert(name.to_owned(), value)),
        None => drop(claims.remove(name)),
    }
    claims
}

fn sign(key: &SigningKey, typ: &str, claims: &Map<String, Value>) -> String {
    key.sign(key.algorithm(), typ, claims).unwrap()
}

fn jwks(keys: &[&SigningKey]) -> Value {
    let keys: Vec<_> = keys.iter().map(|key| key.public_jwk()).collect();
    json!({ "keys": keys })
}

/// Returns a verifier with this key, and the time of the tests.
fn verifier(key: &SigningKey) -> JwtVerifier {
    let builder = JwtVerifier::builder(ISSUER).jwks(jwks(&[key]));
    builder.clock(clock()).build().unwrap()
}

async fn verify(verifier: &impl Verifier, token: &str) -> Result<VerifiedToken, VerifyError> {
    verifier.verify(token).await
}

/// Returns the outcome without the token.
async fn outcome(verifier: &impl Verifier, token: &str) -> Result<(), VerifyError> {
    verifier.verify(token).await.map(drop)
}

//! Tests of keys, tokens and proofs.

mod keys;
pub(crate) mod mutations;
mod proofs;
mod tokens;
mod vectors;
mod wycheproof;

use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};

use super::{Algorithm, SigningKey, base64url};

/// Keys made by OpenSSL, in PKCS#8.
const P256: &str = include_str!("p256.pem");
const P384: &str = include_str!("p384.pem");
const ED25519: &str = include_str!("ed25519.pem");
const RSA: &str = include_str!("rsa.pem");

/// Returns one key of each type.
fn keys() -> [SigningKey; 4] {
    [P256, P384, ED25519, RSA].map(|pem| SigningKey::from_pem(pem).unwrap())
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => panic!("{other} is not an object"),
    }
}

/// Returns a token whose header and payload are these texts.
fn token(key: &SigningKey, algorithm: Algorithm, header: &str, payload: &str) -> String {
    let signed = format!("{}.{}", base64url(header), base64url(payload));
    let signature = key.signature(algorithm, signed.as_bytes()).unwrap();
    format!("{signed}.{}", base64url(signature))
}

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

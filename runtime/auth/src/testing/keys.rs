//! Keys of the authorization server, and signatures of others.

use std::time::SystemTime;

use serde_json::{Map, Value, json};

use super::state::random;
use crate::jose::{Algorithm, Jws, KeySet, SigningKey, numeric_date, sha256_base64url};

/// Claims or a header.
pub(super) type Members = Map<String, Value>;

/// Keys that sign tokens: the current one, and former ones that are still published.
#[derive(Debug)]
pub(super) struct Keys {
    current: SigningKey,
    former: Vec<SigningKey>,
}

impl Keys {
    pub(super) fn generate() -> Self {
        Self {
            current: generate_key(),
            former: Vec::new(),
        }
    }

    /// Signs with another key from now on. The former one remains published.
    pub(super) fn rotate(&mut self) {
        let former = std::mem::replace(&mut self.current, generate_key());
        self.former.push(former);
    }

    /// Publishes the current key only.
    pub(super) fn retire(&mut self) {
        self.former.clear();
    }

    /// Returns the JWK set of the published keys.
    pub(super) fn jwks(&self) -> Value {
        let keys = std::iter::once(&self.current).chain(&self.former);
        json!({ "keys": keys.map(SigningKey::public_jwk).collect::<Vec<_>>() })
    }

    /// Signs claims with ES256. Members of `header` are added, and replace those of the same name.
    pub(super) fn sign(&self, typ: &str, header: &Members, claims: &Members) -> String {
        let mut members = Map::new();
        members.insert("typ".to_owned(), json!(typ));
        members.insert("alg".to_owned(), json!(Algorithm::Es256.name()));
        members.insert("kid".to_owned(), self.current.public_jwk()["kid"].clone());
        members.extend(header.clone());
        let claims = Value::Object(claims.clone()).to_string();
        let token = self
            .current
            .sign_as(Algorithm::Es256, &members, claims.as_bytes());
        token.expect("the key is one of ES256")
    }
}

fn generate_key() -> SigningKey {
    let key = SigningKey::generate().expect("the operating system provides random bytes");
    key.key_id(random())
}

/// Returns the header's type and the claims of a token that a key of the set has signed.
pub(super) fn verify(token: &str, jwks: &Value) -> Option<(Option<String>, Members)> {
    let token = Jws::parse(token).ok()?;
    let keys = KeySet::parse(jwks.to_string().as_bytes()).ok()?;
    let typ = token.header().typ.as_deref().map(str::to_owned);
    matches!(keys.verify(&token), Ok(true)).then(|| (typ, token.claims().clone()))
}

/// Returns the claims of a token without verification of its signature.
pub(super) fn unverified_claims(token: &str) -> Option<Members> {
    Some(Jws::parse(token).ok()?.claims().clone())
}

/// Returns the time of a claim.
pub(super) fn read_time(claims: &Members, name: &str) -> Option<SystemTime> {
    numeric_date(claims, name).ok().flatten()
}

/// Returns the text of a claim.
pub(super) fn read_text<'a>(claims: &'a Members, name: &str) -> Option<&'a str> {
    claims.get(name).and_then(Value::as_str)
}

/// Returns true if `aud` is, or contains, one of `audiences`.
pub(super) fn has_audience(claims: &Members, audiences: &[String]) -> bool {
    let is_ours = |value: &Value| audiences.iter().any(|audience| value == audience.as_str());
    match claims.get("aud") {
        Some(Value::Array(values)) => values.iter().any(is_ours),
        Some(value) => is_ours(value),
        None => false,
    }
}

/// Compares secrets. The time reveals nothing but the equality, since their hashes are compared.
pub(super) fn is_equal(one: &str, other: &str) -> bool {
    sha256_base64url(one) == sha256_base64url(other)
}

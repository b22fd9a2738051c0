//! Random mutations: no parser panics, and no changed text verifies.

use std::time::Duration;

use serde_json::json;

use super::{at, keys, object, token};
use crate::jose::{Algorithm, Expected, Jws, KeySet, ProofRequest, check_proof, sha256_base64url};
use crate::mutation::mutate;

const ROUNDS: usize = 2000;

#[test]
fn a_changed_token_never_verifies() {
    let mut random = fastrand::Rng::with_seed(7);
    for key in keys() {
        let claims = object(json!({ "iss": "https://as.example.com", "sub": "u", "exp": 1 }));
        let token = key.sign(key.algorithm(), "at+jwt", &claims).unwrap();
        for _ in 0..ROUNDS / 4 {
            let changed = mutate(&mut random, &token);
            let verified =
                Jws::parse(&changed).is_ok_and(|jws| jws.verify(key.public_key()).is_ok());
            assert!(!verified || changed == token, "{changed}");
        }
    }
}

#[test]
fn a_changed_proof_never_verifies() {
    let mut random = fastrand::Rng::with_seed(8);
    let url = "https://mcp.example.com/mcp";
    let expected = Expected {
        method: "POST",
        url,
        token: None,
        now: at(1000),
        window: Duration::from_secs(300),
    };
    let [key, ..] = keys();
    let request = ProofRequest {
        method: "POST",
        url,
        token: None,
        nonce: None,
        now: at(1000),
    };
    let proof = key.dpop_proof(key.algorithm(), &request).unwrap();
    for _ in 0..ROUNDS {
        let changed = mutate(&mut random, &proof);
        let verified = check_proof(&changed, &expected).is_ok();
        assert!(!verified || changed == proof, "{changed}");
    }
}

#[test]
fn a_changed_key_set_verifies_only_with_the_same_keys() {
    let mut random = fastrand::Rng::with_seed(9);
    let all = keys();
    let jwks: Vec<_> = all.iter().map(super::SigningKey::public_jwk).collect();
    let document = json!({ "keys": jwks }).to_string();
    let foreign = super::SigningKey::generate().unwrap();
    let token = foreign.sign(foreign.algorithm(), "JWT", &object(json!({})));
    let token = token.unwrap();
    let token = Jws::parse(&token).unwrap();
    for _ in 0..ROUNDS {
        let changed = mutate(&mut random, &document);
        if let Ok(set) = KeySet::parse(changed.as_bytes()) {
            assert_ne!(set.verify(&token), Ok(true), "{changed}");
        }
    }
}

#[test]
fn signed_nonsense_is_no_proof_for_another_request() {
    let mut random = fastrand::Rng::with_seed(10);
    let [key, ..] = keys();
    let url = "https://mcp.example.com/mcp";
    let expected = Expected {
        method: "POST",
        url,
        token: Some("token"),
        now: at(1000),
        window: Duration::from_secs(300),
    };
    let jwk = key.public_key().to_jwk();
    let header = json!({ "typ": "dpop+jwt", "alg": "ES256", "jwk": jwk }).to_string();
    let claims = json!({
        "jti": "1",
        "htm": "POST",
        "htu": url,
        "iat": 1000,
        "ath": sha256_base64url("token"),
    });
    let claims = claims.to_string();
    for _ in 0..ROUNDS {
        let changed = mutate(&mut random, &claims);
        let proof = token(&key, Algorithm::Es256, &header, &changed);
        if check_proof(&proof, &expected).is_ok() {
            let claims: serde_json::Value = serde_json::from_str(&changed).unwrap();
            assert_eq!(claims["htm"], "POST", "{changed}");
            assert_eq!(claims["ath"], sha256_base64url("token"), "{changed}");
        }
    }
}

#[test]
fn nonsense_is_never_the_url_of_a_request() {
    let mut random = fastrand::Rng::with_seed(13);
    let [key, ..] = keys();
    let url = "https://user@mcp.example.com:8443/a/%2e%2E/mcp?x=1#y";
    let (mut accepted, request) = (0, "https://mcp.example.com:8443/mcp");
    for _ in 0..ROUNDS {
        let changed = mutate(&mut random, url);
        let made = ProofRequest {
            method: "GET",
            url: &changed,
            token: None,
            nonce: None,
            now: at(1000),
        };
        let proof = key.dpop_proof(key.algorithm(), &made).unwrap();
        let expected = Expected {
            method: "GET",
            url: request,
            token: None,
            now: at(1000),
            window: Duration::from_secs(300),
        };
        if check_proof(&proof, &expected).is_ok() {
            assert!(changed.starts_with("https://mcp.example.com:"), "{changed}");
            accepted += 1;
        }
    }
    assert!(accepted < ROUNDS / 10, "{accepted}");
}

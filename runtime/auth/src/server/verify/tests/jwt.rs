//! Verification of JSON web tokens, from any peer.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::{
    ISSUER, NOW, RESOURCE, claims, claims_with, clock, jwks, object, outcome, sign, verifier,
    verify,
};
use crate::jose::{Algorithm, SigningKey, base64url};
use crate::mutation::mutate;
use crate::server::{JwtVerifier, VerifyError};

fn key() -> SigningKey {
    SigningKey::generate().unwrap()
}

#[tokio::test]
async fn a_valid_token_is_described_without_its_text() {
    // AUTH-R-35, AUTH-R-36
    let key = key();
    let token = verify(&verifier(&key), &sign(&key, "at+jwt", &claims())).await;
    let token = token.unwrap();
    assert_eq!(token.issuer, ISSUER);
    assert_eq!(token.subject, "alice");
    assert_eq!(token.audience, [RESOURCE]);
    assert_eq!(token.client_id.as_deref(), Some("desktop"));
    assert_eq!(token.scopes.to_string(), "files:read files:write");
    assert_eq!(token.key_thumbprint, None);
    let end = SystemTime::UNIX_EPOCH + Duration::from_secs(NOW + 600);
    assert_eq!(token.expires_at, end);
    assert_eq!(
        Value::Object(token.claims),
        json!({ "iat": NOW, "jti": "1" })
    );
}

#[tokio::test]
async fn other_tokens_of_the_issuer_are_no_access_tokens() {
    // AUTH-X-21, AUTH-X-35, AUTH-R-67
    let key = key();
    let verifier = verifier(&key);
    for typ in ["at+jwt", "AT+JWT", "application/at+jwt", "JWT", "jwt"] {
        let token = sign(&key, typ, &claims());
        assert_eq!(outcome(&verifier, &token).await, Ok(()), "{typ}");
    }
    for typ in [
        "oauth-id-jag+jwt",
        "logout+jwt",
        "secevent+jwt",
        "dpop+jwt",
        "client-authentication+jwt",
        "JWS",
        "application/x/at+jwt",
        "",
    ] {
        let token = sign(&key, typ, &claims());
        assert_eq!(
            outcome(&verifier, &token).await,
            Err(VerifyError::Invalid),
            "{typ}"
        );
    }
    // Without a distinctive type: an ID token, a logout token, and an assertion of a client.
    for (name, value) in [
        ("at_hash", json!("AAAA")),
        ("c_hash", json!("AAAA")),
        (
            "events",
            json!({ "http://schemas.openid.net/event/backchannel-logout": {} }),
        ),
        ("iss", json!("desktop")),
    ] {
        let token = sign(&key, "JWT", &claims_with(name, Some(value)));
        assert_eq!(
            outcome(&verifier, &token).await,
            Err(VerifyError::Invalid),
            "{name}"
        );
    }
}

#[tokio::test]
async fn the_type_can_be_required() {
    // AUTH-R-32
    let key = key();
    let builder = JwtVerifier::builder(ISSUER).jwks(jwks(&[&key]));
    let verifier = builder.clock(clock()).require_type().build().unwrap();
    let absent = object(json!({ "alg": "ES256" }));
    let payload = Value::Object(claims()).to_string();
    let absent = key.sign_as(Algorithm::Es256, &absent, payload.as_bytes());
    let absent = absent.unwrap();
    assert_eq!(outcome(&super::verifier(&key), &absent).await, Ok(()));
    assert_eq!(outcome(&verifier, &absent).await, Err(VerifyError::Invalid));
    let jwt = sign(&key, "JWT", &claims());
    assert_eq!(outcome(&verifier, &jwt).await, Err(VerifyError::Invalid));
    let typed = sign(&key, "at+jwt", &claims());
    assert_eq!(outcome(&verifier, &typed).await, Ok(()));
}

#[tokio::test]
async fn expiry_has_a_leeway_of_one_minute_at_most() {
    // AUTH-R-34
    let key = key();
    let token = sign(&key, "at+jwt", &claims());
    for (leeway, valid_until) in [
        (None, 660),
        (Some(0), 600),
        (Some(10), 610),
        (Some(3600), 660),
    ] {
        let clock = clock();
        let mut builder = JwtVerifier::builder(ISSUER)
            .jwks(jwks(&[&key]))
            .clock(clock.clone());
        if let Some(seconds) = leeway {
            builder = builder.leeway(Duration::from_secs(seconds));
        }
        let verifier = builder.build().unwrap();
        clock.advance(Duration::from_secs(valid_until - 1));
        assert_eq!(outcome(&verifier, &token).await, Ok(()), "{leeway:?}");
        clock.advance(Duration::from_secs(1));
        assert_eq!(
            outcome(&verifier, &token).await,
            Err(VerifyError::Expired),
            "{leeway:?}"
        );
    }
    // The expiry of a forged token is not reported.
    let forged = sign(&self::key(), "at+jwt", &claims_with("exp", Some(json!(1))));
    assert_eq!(
        outcome(&verifier(&key), &forged).await,
        Err(VerifyError::Invalid)
    );
}

#[tokio::test]
async fn a_key_proves_no_token_of_another_issuer() {
    // AUTH-X-23
    let (key_a, key_b) = (key().key_id("1"), key().key_id("1"));
    let verifier_of = |issuer: &str, key: &SigningKey| {
        let builder = JwtVerifier::builder(issuer).jwks(jwks(&[key]));
        builder.clock(clock()).build().unwrap()
    };
    let other = "https://other.example.com";
    let (a, b) = (verifier_of(ISSUER, &key_a), verifier_of(other, &key_b));
    let of_b = claims_with("iss", Some(json!(other)));
    let by_a = sign(&key_a, "at+jwt", &of_b);
    assert_eq!(outcome(&a, &by_a).await, Err(VerifyError::Invalid));
    assert_eq!(outcome(&b, &by_a).await, Err(VerifyError::Invalid));
    let by_b = sign(&key_b, "at+jwt", &of_b);
    assert_eq!(outcome(&a, &by_b).await, Err(VerifyError::Invalid));
    assert_eq!(outcome(&b, &by_b).await, Ok(()));
}

#[tokio::test]
async fn changed_tokens_never_verify() {
    let key = key();
    let verifier = verifier(&key);
    let token = sign(&key, "at+jwt", &claims());
    let mut random = fastrand::Rng::with_seed(11);
    for _ in 0..500 {
        let mut changed = token.clone().into_bytes();
        let index = random.usize(..changed.len());
        changed[index] = random.alphanumeric() as u8;
        let changed = String::from_utf8(changed).unwrap();
        if changed != token {
            assert_eq!(
                outcome(&verifier, &changed).await,
                Err(VerifyError::Invalid),
                "{changed}"
            );
        }
    }
    let parts: Vec<_> = token.split('.').collect();
    let unsigned = format!("{}.{}.", base64url(r#"{"alg":"none"}"#), parts[1]);
    assert_eq!(
        outcome(&verifier, &unsigned).await,
        Err(VerifyError::Invalid)
    );
}

#[tokio::test]
async fn signed_nonsense_is_refused_or_has_all_required_claims() {
    let key = key();
    let verifier = verifier(&key);
    let mut random = fastrand::Rng::with_seed(12);
    let header = r#"{"alg":"ES256","typ":"at+jwt"}"#;
    let claims = Value::Object(claims()).to_string();
    for round in 0..2000 {
        let (mut header, mut claims) = (header.to_owned(), claims.clone());
        let part = if round % 4 == 0 {
            &mut header
        } else {
            &mut claims
        };
        *part = mutate(&mut random, part);
        let signed = format!("{}.{}", base64url(&header), base64url(&claims));
        let signature = key.signature(Algorithm::Es256, signed.as_bytes()).unwrap();
        let token = format!("{signed}.{}", base64url(signature));
        if let Ok(token) = verify(&verifier, &token).await {
            assert_eq!(token.issuer, ISSUER, "{claims}");
            assert!(!token.subject.is_empty(), "{claims}");
            assert!(!token.audience.is_empty(), "{claims}");
            assert!(
                token.expires_at + Duration::from_secs(60) > clock().now(),
                "{claims}"
            );
        }
    }
}

#[test]
fn an_unsafe_configuration_is_refused() {
    let refused = |builder: crate::JwtVerifierBuilder, expected: &str| {
        let error = builder.build().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    let builder = || JwtVerifier::builder(ISSUER);
    refused(JwtVerifier::builder("http://id.example.com"), "https");
    refused(JwtVerifier::builder("id.example.com"), "");
    refused(JwtVerifier::builder(""), "not a URL");
    refused(builder().jwks_url("http://id.example.com/keys"), "https");
    refused(builder().jwks_url("http://169.254.169.254/"), "https");
    refused(builder().jwks(json!({ "keys": [] })), "no usable key");
    refused(
        builder().jwks(json!({ "keys": [{ "kty": "oct", "k": "AAAA" }] })),
        "no usable key",
    );
    refused(builder().jwks(json!([])), "`keys`");
    assert!(
        JwtVerifier::builder("http://127.0.0.1:8080")
            .build()
            .is_ok()
    );
    assert!(
        builder()
            .jwks_url("http://localhost:1/keys")
            .build()
            .is_ok()
    );
}

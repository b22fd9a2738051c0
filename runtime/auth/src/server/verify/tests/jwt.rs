use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::{
    ISSUER, NOW, RESOURCE, claims, claims_with, clock, jwks, object, outcome, sign, verifier,
    verify,
};
use crate::jose::{Algorithm, SigningKey, base64url};
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
async fn malformed_claims_are_refused() {
    // AUTH-X-22, AUTH-R-34, AUTH-R-35, AUTH-R-36
    let key = key();
    let verifier = verifier(&key);
    let some = |values: &[Value]| values.iter().cloned().map(Some).collect::<Vec<_>>();
    let mut cases = vec![
        (
            "iss",
            some(&[
                json!("https://id.example.com/"),
                json!("https://ID.example.com"),
                json!(1),
                json!([ISSUER]),
            ]),
        ),
        (
            "sub",
            some(&[json!(""), json!(1), json!(null), json!(["alice"])]),
        ),
        (
            "aud",
            some(&[
                json!(1),
                json!(null),
                json!([]),
                json!([RESOURCE, 1]),
                json!({}),
            ]),
        ),
        (
            "exp",
            some(&[
                json!((NOW + 600).to_string()),
                json!(-1),
                json!(1e308),
                json!(null),
                json!([NOW + 600]),
                json!(253_402_300_800_u64),
            ]),
        ),
        (
            "nbf",
            some(&[json!(NOW + 61), json!("0"), json!(null), json!(-1)]),
        ),
        ("iat", some(&[json!(NOW + 61), json!("0"), json!(1e308)])),
        (
            "scope",
            some(&[
                json!(1),
                json!(null),
                json!({}),
                json!([1]),
                json!(["a b"]),
                json!([""]),
                json!("a\"b"),
                json!("ä"),
            ]),
        ),
        ("client_id", some(&[json!(1)])),
        (
            "cnf",
            some(&[
                json!(null),
                json!("x"),
                json!({}),
                json!({ "jkt": 1 }),
                json!({ "x5t#S256": "AAAA" }),
                json!({ "jkt": "A", "x5t#S256": "AAAA" }),
            ]),
        ),
    ];
    for name in ["iss", "sub", "aud", "exp"] {
        cases.push((name, vec![None]));
    }
    for (name, values) in cases {
        for value in values {
            let token = sign(&key, "at+jwt", &claims_with(name, value.clone()));
            let outcome = outcome(&verifier, &token).await;
            assert_eq!(outcome, Err(VerifyError::Invalid), "{name}: {value:?}");
        }
    }
    let many: Vec<_> = (0..65).map(|number| number.to_string()).collect();
    let token = sign(
        &key,
        "at+jwt",
        &claims_with("scope", Some(json!(many.join(" ")))),
    );
    assert_eq!(outcome(&verifier, &token).await, Err(VerifyError::Invalid));
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
    // A forged token tells nothing of its expiry.
    let forged = sign(&self::key(), "at+jwt", &claims_with("exp", Some(json!(1))));
    assert_eq!(
        outcome(&verifier(&key), &forged).await,
        Err(VerifyError::Invalid)
    );
}

#[tokio::test]
async fn scopes_are_a_text_or_an_array() {
    // AUTH-R-36
    let key = key();
    let verifier = verifier(&key);
    for (name, value, expected) in [
        ("scope", json!("b a"), "a b"),
        ("scope", json!(["b", "a"]), "a b"),
        ("scope", json!(""), ""),
        ("scp", json!(["a"]), "a"),
        ("scp", json!("a b"), "a b"),
        ("roles", json!(["admin"]), ""),
        ("permissions", json!(["admin"]), ""),
    ] {
        let mut claims = claims_with("scope", None);
        claims.insert(name.to_owned(), value.clone());
        let token = verify(&verifier, &sign(&key, "at+jwt", &claims)).await;
        assert_eq!(
            token.unwrap().scopes.to_string(),
            expected,
            "{name}: {value}"
        );
    }
}

#[tokio::test]
async fn client_and_binding_are_read() {
    let key = key();
    let verifier = verifier(&key);
    let mut claims = claims_with("client_id", None);
    claims.insert("azp".to_owned(), json!("web"));
    claims.insert("cnf".to_owned(), json!({ "jkt": "thumbprint" }));
    claims.insert("aud".to_owned(), json!(["a", RESOURCE]));
    let token = verify(&verifier, &sign(&key, "at+jwt", &claims))
        .await
        .unwrap();
    assert_eq!(token.client_id.as_deref(), Some("web"));
    assert_eq!(token.key_thumbprint.as_deref(), Some("thumbprint"));
    assert_eq!(token.audience, ["a", RESOURCE]);
}

#[tokio::test]
async fn a_key_proves_no_token_of_another_issuer() {
    // AUTH-X-23
    let (key_a, key_b) = (key().with_key_id("1"), key().with_key_id("1"));
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

//! Claims of tokens: those that are required, and malformed ones.

use serde_json::{Value, json};

use super::{ISSUER, NOW, RESOURCE, claims_with, outcome, sign, verifier, verify};
use crate::jose::SigningKey;
use crate::server::VerifyError;

fn key() -> SigningKey {
    SigningKey::generate().unwrap()
}

/// Checks that a token with this claim is refused; without it for `None`.
async fn refused_with(name: &str, values: &[Option<Value>]) {
    let key = key();
    let verifier = verifier(&key);
    for value in values {
        let token = sign(&key, "at+jwt", &claims_with(name, value.clone()));
        let outcome = outcome(&verifier, &token).await;
        assert_eq!(outcome, Err(VerifyError::Invalid), "{name}: {value:?}");
    }
}

fn some<const N: usize>(values: [Value; N]) -> [Option<Value>; N] {
    values.map(Some)
}

#[tokio::test]
async fn required_claims_are_required() {
    for name in ["iss", "sub", "aud", "exp"] {
        refused_with(name, &[None]).await;
        refused_with(name, &some([json!(null), json!(true), json!({})])).await;
    }
}

#[tokio::test]
async fn issuer_subject_and_audience_are_exact() {
    // AUTH-X-22, AUTH-R-35
    let issuers = [
        json!("https://id.example.com/"),
        json!("https://ID.example.com"),
        json!("https://id.example.com:443"),
        json!([ISSUER]),
    ];
    refused_with("iss", &some(issuers)).await;
    refused_with("sub", &some([json!(""), json!(1), json!(["alice"])])).await;
    refused_with("aud", &some([json!(1), json!([]), json!([RESOURCE, 1])])).await;
    refused_with("client_id", &some([json!(1)])).await;
}

#[tokio::test]
async fn malformed_times_are_refused_and_not_skipped() {
    // AUTH-X-22, AUTH-R-34
    let times = [
        json!((NOW + 600).to_string()),
        json!(-1),
        json!(1e308),
        json!([NOW + 600]),
        json!(253_402_300_800_u64),
    ];
    refused_with("exp", &some(times)).await;
    refused_with(
        "nbf",
        &some([json!(NOW + 61), json!("0"), json!(null), json!(-1)]),
    )
    .await;
    refused_with("iat", &some([json!(NOW + 61), json!("0"), json!(1e308)])).await;
}

#[tokio::test]
async fn malformed_scopes_are_refused() {
    // AUTH-R-36
    let many: Vec<_> = (0..=1024).map(|number| number.to_string()).collect();
    let scopes = [
        json!(1),
        json!(null),
        json!({}),
        json!([1]),
        json!(["a b"]),
        json!([""]),
        json!("a\"b"),
        json!("ä"),
        json!(many.join(" ")),
    ];
    refused_with("scope", &some(scopes)).await;
}

#[tokio::test]
async fn bindings_other_than_to_dpop_keys_are_refused() {
    let bindings = [
        json!(null),
        json!("x"),
        json!({}),
        json!({ "jkt": 1 }),
        json!({ "x5t#S256": "AAAA" }),
        json!({ "jkt": "A", "x5t#S256": "AAAA" }),
    ];
    refused_with("cnf", &some(bindings)).await;
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
async fn a_token_may_have_the_scopes_of_many_step_ups() {
    // AUTH-R-36
    let key = key();
    let verifier = verifier(&key);
    let scopes: Vec<_> = (0..1024).map(|number| number.to_string()).collect();
    for value in [json!(scopes), json!(scopes.join(" "))] {
        let claims = claims_with("scope", Some(value));
        let token = verify(&verifier, &sign(&key, "at+jwt", &claims)).await;
        assert_eq!(token.unwrap().scopes.iter().count(), 1024);
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

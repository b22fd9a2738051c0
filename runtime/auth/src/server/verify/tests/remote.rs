//! Verifiers against an authorization server on a loopback address.

use std::time::Duration;

use http::StatusCode;
use http::header::CACHE_CONTROL;
use serde_json::{Value, json};

use super::{RESOURCE, clock, jwks, outcome, verify};
use crate::jose::SigningKey;
use crate::server::{IntrospectionVerifier, JwtVerifier, VerifyError};
use crate::testing::{Endpoint, Fault, TestAuthorizationServer, TestClient};
use crate::{Clock, Secret};

const UNAVAILABLE: VerifyError = VerifyError::Unavailable {
    retry_after: Duration::from_secs(5),
};

async fn issuer(clock: &Clock) -> TestAuthorizationServer {
    let builder = TestAuthorizationServer::builder().clock(clock.clone());
    builder.path("/tenant").start().await.unwrap()
}

fn discovering(server: &TestAuthorizationServer, clock: &Clock) -> JwtVerifier {
    let builder = JwtVerifier::builder(server.issuer());
    builder.clock(clock.clone()).build().unwrap()
}

fn token(server: &TestAuthorizationServer) -> String {
    let token = server.token("alice").resource(RESOURCE);
    token.lifetime(Duration::from_secs(7200)).issue()
}

#[tokio::test]
async fn keys_are_found_through_the_metadata_of_the_issuer() {
    // AUTH-R-40
    let clock = clock();
    let server = issuer(&clock).await;
    let verifier = discovering(&server, &clock);
    assert!(server.requests().is_empty());
    for _ in 0..3 {
        let token = verify(&verifier, &token(&server)).await.unwrap();
        assert_eq!(token.issuer, server.issuer());
        assert_eq!(token.audience, [RESOURCE]);
    }
    assert_eq!(server.requests_at(Endpoint::Jwks).len(), 1);
    server.rotate_keys();
    server.retire_keys();
    assert_eq!(
        outcome(&verifier, &token(&server)).await,
        Err(VerifyError::Invalid)
    );
    clock.advance(Duration::from_secs(30));
    assert_eq!(outcome(&verifier, &token(&server)).await, Ok(()));
    assert_eq!(server.requests_at(Endpoint::Jwks).len(), 2);
}

#[tokio::test]
async fn metadata_of_another_issuer_gives_no_keys() {
    // AUTH-R-40, AUTH-C-39
    let clock = clock();
    let server = issuer(&clock).await;
    for endpoint in [Endpoint::OAuthMetadata, Endpoint::OpenIdMetadata] {
        let other = json!(format!("{}/", server.issuer()));
        server.inject(Fault::Replace(endpoint, "issuer", other));
    }
    let verifier = discovering(&server, &clock);
    assert_eq!(outcome(&verifier, &token(&server)).await, Err(UNAVAILABLE));
    assert!(server.requests_at(Endpoint::Jwks).is_empty());
}

#[tokio::test]
async fn bad_documents_make_tokens_unverifiable_and_not_invalid() {
    // AUTH-X-24, AUTH-R-20
    let key = SigningKey::generate().unwrap();
    let mut private = jwks(&[&key]);
    private["keys"][0]["d"] = json!("AAAA");
    let body = |value: Value| Fault::Body(Endpoint::Jwks, value.to_string().into());
    let many = json!({ "keys": vec![key.public_jwk(); 65] });
    for fault in [
        Fault::Status(Endpoint::Jwks, StatusCode::INTERNAL_SERVER_ERROR),
        Fault::Status(Endpoint::Jwks, StatusCode::NOT_FOUND),
        Fault::Redirect(Endpoint::Jwks, "http://169.254.169.254/".to_owned()),
        Fault::Huge(Endpoint::Jwks, 1 << 30),
        Fault::LoseAnswer(Endpoint::Jwks),
        Fault::Replace(
            Endpoint::OAuthMetadata,
            "jwks_uri",
            json!("http://10.0.0.1/keys"),
        ),
        body(json!({})),
        body(json!({ "keys": [] })),
        body(private),
        body(many),
    ] {
        let clock = clock();
        let server = issuer(&clock).await;
        server.inject(fault.clone());
        let verifier = discovering(&server, &clock);
        let outcome = outcome(&verifier, &token(&server)).await;
        assert_eq!(outcome, Err(UNAVAILABLE), "{fault:?}");
    }
}

#[tokio::test]
async fn keys_live_from_5_to_15_minutes() {
    // AUTH-R-38
    for (header, minutes) in [
        ("max-age=0", 5),
        ("no-store", 10),
        ("public, max-age=420", 7),
        ("MAX-AGE=99999", 15),
        ("max-age=never", 10),
    ] {
        let clock = clock();
        let server = issuer(&clock).await;
        let value = header.parse().unwrap();
        server.inject(Fault::Header(Endpoint::Jwks, CACHE_CONTROL, value));
        let verifier = discovering(&server, &clock);
        let token = token(&server);
        assert_eq!(outcome(&verifier, &token).await, Ok(()));
        clock.advance(Duration::from_secs(60 * minutes - 1));
        assert_eq!(outcome(&verifier, &token).await, Ok(()));
        assert_eq!(server.requests_at(Endpoint::Jwks).len(), 1, "{header:?}");
        clock.advance(Duration::from_secs(1));
        assert_eq!(outcome(&verifier, &token).await, Ok(()));
        assert_eq!(server.requests_at(Endpoint::Jwks).len(), 2, "{header:?}");
    }
}

async fn opaque_issuer(clock: &Clock) -> TestAuthorizationServer {
    let builder = TestAuthorizationServer::builder().clock(clock.clone());
    let client = TestClient::secret("mcp server", "s/e:c%r et");
    let builder = builder.opaque_access_tokens().client(client);
    builder.start().await.unwrap()
}

fn introspecting(server: &TestAuthorizationServer, clock: &Clock) -> IntrospectionVerifier {
    let secret = Secret::from("s/e:c%r et");
    let builder = IntrospectionVerifier::builder(server.issuer(), "mcp server", secret);
    builder.clock(clock.clone()).build().unwrap()
}

#[tokio::test]
async fn an_opaque_token_is_verified_by_its_issuer() {
    // AUTH-R-41
    let clock = clock();
    let server = opaque_issuer(&clock).await;
    let verifier = introspecting(&server, &clock);
    let opaque = server.token("alice").resource(RESOURCE).scope("files:read");
    let opaque = opaque.client("desktop").issue();
    let token = verify(&verifier, &opaque).await.unwrap();
    assert_eq!(
        (&*token.issuer, &*token.subject),
        (&*server.issuer(), "alice")
    );
    assert_eq!(token.audience, [RESOURCE]);
    assert_eq!(token.client_id.as_deref(), Some("desktop"));
    assert_eq!(token.scopes.to_string(), "files:read");
    let invalid = outcome(&verifier, "unknown-token").await;
    assert_eq!(invalid, Err(VerifyError::Invalid));
    assert!(!format!("{verifier:?}").contains("c%r"));
}

#[tokio::test]
async fn positive_answers_are_cached_for_a_minute_and_not_beyond_the_expiry() {
    // AUTH-R-42
    let clock = clock();
    let server = opaque_issuer(&clock).await;
    let verifier = introspecting(&server, &clock);
    let requests = || server.requests_at(Endpoint::Introspection).len();
    let issue = |seconds: u64| {
        let token = server.token("alice").resource(RESOURCE);
        token.lifetime(Duration::from_secs(seconds)).issue()
    };
    let (long, short) = (issue(600), issue(30));
    for _ in 0..3 {
        assert_eq!(outcome(&verifier, &long).await, Ok(()));
        assert_eq!(outcome(&verifier, &short).await, Ok(()));
    }
    assert_eq!(requests(), 2);
    clock.advance(Duration::from_secs(30));
    assert_eq!(outcome(&verifier, &long).await, Ok(()));
    assert_eq!(requests(), 2);
    assert_eq!(outcome(&verifier, &short).await, Err(VerifyError::Invalid));
    assert_eq!(requests(), 3);
    server.revoke_user("alice");
    assert_eq!(outcome(&verifier, &long).await, Ok(()));
    clock.advance(Duration::from_secs(30));
    assert_eq!(outcome(&verifier, &long).await, Err(VerifyError::Invalid));
}

#[tokio::test]
async fn cached_answers_end_if_the_clock_is_set_back() {
    // AUTH-R-42
    let clock = clock();
    let server = opaque_issuer(&clock).await;
    let verifier = introspecting(&server, &clock);
    let token = token(&server);
    assert_eq!(outcome(&verifier, &token).await, Ok(()));
    clock.set_back(Duration::from_secs(30));
    assert_eq!(outcome(&verifier, &token).await, Ok(()));
    assert_eq!(server.requests_at(Endpoint::Introspection).len(), 2);
    server.revoke_user("alice");
    clock.advance(Duration::from_secs(60));
    assert_eq!(outcome(&verifier, &token).await, Err(VerifyError::Invalid));
}

#[tokio::test]
async fn answers_that_describe_no_valid_token_are_refused() {
    // AUTH-X-25
    let replace = |name, value| Fault::Replace(Endpoint::Introspection, name, value);
    let omit = |name| Fault::Omit(Endpoint::Introspection, name);
    for (fault, expected) in [
        (replace("active", json!("true")), VerifyError::Invalid),
        (replace("active", json!(1)), VerifyError::Invalid),
        (replace("active", json!(null)), VerifyError::Invalid),
        (omit("active"), VerifyError::Invalid),
        (omit("aud"), VerifyError::Invalid),
        (omit("exp"), VerifyError::Invalid),
        (replace("exp", json!("9999999999")), VerifyError::Invalid),
        (replace("exp", json!(1)), VerifyError::Expired),
        (
            replace("iss", json!("https://other.example")),
            VerifyError::Invalid,
        ),
        (
            replace("token_type", json!("refresh_token")),
            VerifyError::Invalid,
        ),
        (replace("scope", json!(1)), VerifyError::Invalid),
    ] {
        let clock = clock();
        let server = opaque_issuer(&clock).await;
        server.inject(fault.clone());
        let verifier = introspecting(&server, &clock);
        let outcome = outcome(&verifier, &token(&server)).await;
        assert_eq!(outcome, Err(expected), "{fault:?}");
    }
}

#[tokio::test]
async fn an_answer_without_issuer_and_subject_is_of_the_asked_issuer_and_the_client() {
    let clock = clock();
    let server = opaque_issuer(&clock).await;
    server.inject(Fault::Omit(Endpoint::Introspection, "iss"));
    server.inject(Fault::Omit(Endpoint::Introspection, "sub"));
    let verifier = introspecting(&server, &clock);
    let token = verify(&verifier, &token(&server)).await.unwrap();
    assert_eq!(
        (&*token.issuer, &*token.subject),
        (&*server.issuer(), "test")
    );
    server.inject(Fault::Omit(Endpoint::Introspection, "client_id"));
    let other = self::token(&server);
    assert_eq!(outcome(&verifier, &other).await, Err(VerifyError::Invalid));
}

#[tokio::test]
async fn an_endpoint_that_fails_makes_tokens_unverifiable() {
    // AUTH-X-25, AUTH-R-20, AUTH-R-42
    for fault in [
        Fault::Status(Endpoint::Introspection, StatusCode::INTERNAL_SERVER_ERROR),
        Fault::Error(Endpoint::Introspection, "invalid_client"),
        Fault::Redirect(Endpoint::Introspection, "/elsewhere".to_owned()),
        Fault::Huge(Endpoint::Introspection, 1 << 30),
        Fault::LoseAnswer(Endpoint::Introspection),
        Fault::Body(Endpoint::Introspection, "true".into()),
        Fault::Body(Endpoint::Introspection, "[]".into()),
    ] {
        let clock = clock();
        let server = opaque_issuer(&clock).await;
        server.inject_once(fault.clone());
        let verifier = introspecting(&server, &clock);
        let token = token(&server);
        assert_eq!(
            outcome(&verifier, &token).await,
            Err(UNAVAILABLE),
            "{fault:?}"
        );
        // The failure was not cached.
        assert_eq!(outcome(&verifier, &token).await, Ok(()), "{fault:?}");
    }
}

//! Signed tokens against the authorizer of a resource server.

use http::Request;
use serde_json::{Value, json};
use treenail_http_server::HttpAuthorizer;
use treenail_runtime::Server;

use super::{ISSUER, NOW, RESOURCE, claims_with, clock, jwks, object, sign};
use crate::jose::SigningKey;
use crate::server::authorizer::Authorizer;
use crate::server::{JwtVerifier, ResourceServer};

fn authorizer(key: &SigningKey) -> Authorizer {
    let verifier = JwtVerifier::builder(ISSUER).jwks(jwks(&[key]));
    let config = ResourceServer::new(RESOURCE)
        .issuer(ISSUER)
        .verifier(verifier.clock(clock()).build().unwrap())
        .clock(clock());
    let server = Server::builder("test", "1.0.0").build().unwrap();
    Authorizer::new(&config, &server).unwrap()
}

#[cfg(feature = "test-authorization")]
#[tokio::test]
async fn without_a_verifier_the_keys_of_each_issuer_are_discovered() {
    // AUTH-R-33, AUTH-R-40
    use crate::testing::TestAuthorizationServer;

    let clock = clock();
    let start = async || {
        let builder = TestAuthorizationServer::builder().clock(clock.clone());
        builder.start().await.unwrap()
    };
    let (first, second, stranger) = (start().await, start().await, start().await);
    let config = ResourceServer::new(RESOURCE)
        .issuer(first.issuer())
        .issuer(second.issuer())
        .clock(clock.clone());
    let server = Server::builder("test", "1.0.0").build().unwrap();
    let authorizer = Authorizer::new(&config, &server).unwrap();
    for issuer in [&first, &second] {
        let token = issuer.token("alice").resource(RESOURCE).issue();
        assert_eq!(send(&authorizer, &token).await, Ok(()));
    }
    let token = stranger.token("alice").resource(RESOURCE).issue();
    expect_invalid(&authorizer, &token, &json!("a strange issuer")).await;
    // Its key, under the name of another issuer.
    let forged = stranger.token("alice").resource(RESOURCE);
    let forged = forged.claim("iss", json!(first.issuer())).issue();
    expect_invalid(&authorizer, &forged, &json!("a strange key")).await;
}

/// Returns the status of a refusal, with its challenge.
async fn send(authorizer: &Authorizer, token: &str) -> Result<(), (u16, String)> {
    let request = Request::post("/mcp").header("authorization", format!("Bearer {token}"));
    let (parts, ()) = request.body(()).unwrap().into_parts();
    let Err(response) = authorizer.authorize(&parts).await else {
        return Ok(());
    };
    let challenge = response.headers()["www-authenticate"].to_str().unwrap();
    Err((response.status().as_u16(), challenge.to_owned()))
}

async fn expect_invalid(authorizer: &Authorizer, token: &str, claim: &Value) {
    let (status, challenge) = send(authorizer, token).await.unwrap_err();
    assert_eq!(status, 401, "{claim}");
    assert!(
        challenge.contains(r#"error="invalid_token""#),
        "{challenge}"
    );
    assert!(!challenge.contains(token), "{challenge}");
}

#[tokio::test]
async fn tokens_for_other_audiences_are_refused() {
    // AUTH-X-22, AUTH-R-27, AUTH-R-28
    let key = SigningKey::generate().unwrap();
    let authorizer = authorizer(&key);
    for audience in [json!(RESOURCE), json!(["https://other.example", RESOURCE])] {
        let token = sign(&key, "at+jwt", &claims_with("aud", Some(audience)));
        assert_eq!(send(&authorizer, &token).await, Ok(()));
    }
    for audience in [
        json!("desktop"),
        json!("https://mcp.example.com"),
        json!("https://mcp.example.com/"),
        json!("https://mcp.example.com/mcp/"),
        json!("https://mcp.example.com/mcp2"),
        json!("https://mcp.example.com:8443/mcp"),
        json!("https://MCP.example.com/mcp"),
        json!("http://mcp.example.com/mcp"),
        json!("https://mcp.example.com/tenant/mcp"),
        json!("https://mcp.example.com/mcp?x"),
        json!(["https://upstream.example", "https://mcp.example.com"]),
    ] {
        let token = sign(&key, "at+jwt", &claims_with("aud", Some(audience.clone())));
        expect_invalid(&authorizer, &token, &audience).await;
    }
}

#[tokio::test]
async fn other_kinds_of_tokens_are_refused() {
    // AUTH-X-21, AUTH-X-35, AUTH-R-67
    let key = SigningKey::generate().unwrap();
    let authorizer = authorizer(&key);
    for typ in ["oauth-id-jag+jwt", "logout+jwt", "dpop+jwt", "secevent+jwt"] {
        let token = sign(&key, typ, &super::claims());
        expect_invalid(&authorizer, &token, &json!(typ)).await;
    }
    // An ID token names the client as its audience, and an upstream token another server.
    for (iss, aud) in [
        (ISSUER, "desktop"),
        (ISSUER, "https://upstream.example"),
        ("https://upstream-id.example", RESOURCE),
    ] {
        let claims = json!({ "iss": iss, "aud": aud, "sub": "alice", "exp": NOW + 60 });
        let token = sign(&key, "JWT", &object(claims.clone()));
        expect_invalid(&authorizer, &token, &claims).await;
    }
}

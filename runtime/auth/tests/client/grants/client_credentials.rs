//! Credentials of the client itself.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::{StatusCode, header};
use serde_json::{Value, json};
use treenail::auth::testing::{Endpoint, Fault, TestClient};
use treenail::auth::{ClientCredentials, OAuth, SigningKey};

use super::assert_no_user;
use crate::fixture::{World, extensions};

fn claims(token: &str) -> Value {
    let payload = token.split('.').nth(1).expect("a signed token");
    let payload = URL_SAFE_NO_PAD.decode(payload).expect("base64url");
    serde_json::from_slice(&payload).expect("JSON")
}

// AUTH-C-136, AUTH-C-137, AUTH-C-139, AUTH-C-96
#[tokio::test]
async fn a_secret_obtains_tokens_for_the_client_itself() {
    let client = TestClient::secret("planner", "s&cret");
    let world = World::with(|builder| builder.client(client), |resource| resource).await;
    let credentials = ClientCredentials::secret("planner", "s&cret");
    let credentials = world.bound(credentials);
    let declared = world.call(&OAuth::client_credentials(credentials)).await;
    assert_eq!(
        declared.expect("a result"),
        "io.modelcontextprotocol/oauth-client-credentials"
    );
    let [request] = &world.token_requests()[..] else {
        panic!("one token request");
    };
    assert_eq!(request.parameter("grant_type"), Some("client_credentials"));
    assert_eq!(request.parameter("resource"), Some(world.url.as_str()));
    let basic = STANDARD.encode("planner:s%26cret");
    assert_eq!(
        request.headers[header::AUTHORIZATION],
        format!("Basic {basic}")
    );
    assert_no_user(&world);
    world.finish().await;
}

#[tokio::test]
async fn an_outage_of_the_authorization_server_is_no_refusal_of_its_tokens() {
    let client = TestClient::secret("planner", "s3cret");
    let world = World::with(|builder| builder.client(client), |resource| resource).await;
    let credentials = world.bound(ClientCredentials::secret("planner", "s3cret"));
    let oauth = OAuth::client_credentials(credentials);
    let outage = Fault::Status(Endpoint::Token, StatusCode::SERVICE_UNAVAILABLE);
    world.authorization.inject(outage);
    for _ in 0..5 {
        world.call(&oauth).await.expect_err("an outage");
    }
    world.authorization.clear_faults();
    world.call(&oauth).await.expect("a result");
    world.finish().await;
}

// AUTH-C-138, AUTH-C-141
#[tokio::test]
async fn a_key_signs_a_new_assertion_for_each_renewal() {
    let key = SigningKey::generate().expect("a key").key_id("2026");
    let jwks = json!({"keys": [key.public_jwk()]});
    let client = TestClient::jwks("planner", jwks);
    let world = World::with(|builder| builder.client(client), |resource| resource).await;
    let credentials = ClientCredentials::private_key("planner", key);
    let credentials = world.bound(credentials);
    let oauth = OAuth::client_credentials(credentials).clock(world.clock.clone());
    let session = world.connect(&oauth).await;
    let session = session.expect("a session");
    extensions(&session).await.expect("a result");
    world.clock.advance(Duration::from_secs(3600));
    extensions(&session).await.expect("a result");
    let requests = world.token_requests();
    assert_eq!(requests.len(), 2);
    let assertions = requests.iter().map(|request| {
        assert_eq!(request.parameter("grant_type"), Some("client_credentials"));
        assert!(!request.headers.contains_key(header::AUTHORIZATION));
        let assertion = request.parameter("client_assertion").expect("an assertion");
        claims(assertion)
    });
    let assertions: Vec<_> = assertions.collect();
    for claims in &assertions {
        assert_eq!(
            (&claims["iss"], &claims["sub"]),
            (&json!("planner"), &json!("planner"))
        );
        assert_eq!(claims["aud"], json!(world.authorization.issuer()));
        let lifetime =
            claims["exp"].as_u64().expect("a time") - claims["iat"].as_u64().expect("a time");
        assert!(lifetime <= 300);
    }
    assert_ne!(assertions[0]["jti"], assertions[1]["jti"]);
    world.finish().await;
}

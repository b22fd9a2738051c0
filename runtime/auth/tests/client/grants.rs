//! Grants without a user.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::{StatusCode, header};
use serde_json::{Value, json};
use treenail::auth::testing::{
    Endpoint, Fault, RecordedRequest, TestAuthorizationServer, TestClient,
};
use treenail::auth::{
    ClientCredentials, IdentityProvider, OAuth, Secret, SigningKey, SubjectToken, WorkloadToken,
};

use crate::fixture::{World, extensions};

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

fn claims(token: &str) -> Value {
    let payload = token.split('.').nth(1).expect("a signed token");
    let payload = URL_SAFE_NO_PAD.decode(payload).expect("base64url");
    serde_json::from_slice(&payload).expect("JSON")
}

fn assert_no_user(world: &World) {
    for endpoint in [Endpoint::Authorization, Endpoint::Registration] {
        assert!(world.authorization.requests_at(endpoint).is_empty());
    }
}

// AUTH-C-136, AUTH-C-137, AUTH-C-139, AUTH-C-96
#[tokio::test]
async fn a_secret_obtains_tokens_for_the_client_itself() {
    let client = TestClient::with_secret("planner", "s&cret");
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
    let client = TestClient::with_secret("planner", "s3cret");
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
    let key = SigningKey::generate().expect("a key").with_key_id("2026");
    let jwks = json!({"keys": [key.public_jwk()]});
    let client = TestClient::with_keys("planner", jwks);
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

/// An identity provider at which `planner` is registered, and a token of its user.
async fn identity_provider() -> (TestAuthorizationServer, IdentityProvider, Arc<AtomicUsize>) {
    let client = TestClient::with_secret("planner", "at provider");
    let server = TestAuthorizationServer::builder().client(client).start();
    let server = server.await.expect("a free port");
    let (calls, issuing) = (Arc::new(AtomicUsize::new(0)), server.clone());
    let count = Arc::clone(&calls);
    let provider = IdentityProvider::new(
        format!("{}/token", server.issuer()),
        ClientCredentials::secret("planner", "at provider"),
        move || {
            count.fetch_add(1, Ordering::Relaxed);
            let token = issuing
                .token("alice")
                .typ("JWT")
                .claim("aud", json!("planner"));
            let token = SubjectToken::id_token(token.issue());
            async { Ok(token) }
        },
    );
    (server, provider, calls)
}

async fn enterprise(provider: &TestAuthorizationServer) -> World {
    let client = TestClient::with_secret("planner", "at server");
    World::with(
        |builder| builder.client(client).trust(provider),
        |resource| resource,
    )
    .await
}

fn parameters(request: &RecordedRequest, names: [&str; 4]) -> Vec<String> {
    let value = |name| request.parameter(name).unwrap_or_default().to_owned();
    names.into_iter().map(value).collect()
}

// AUTH-C-142 … 145, AUTH-C-147, AUTH-C-148, AUTH-C-149
#[tokio::test]
async fn an_identity_provider_grants_access_without_asking_the_user() {
    let (provider, configured, calls) = identity_provider().await;
    let world = enterprise(&provider).await;
    let credentials = ClientCredentials::secret("planner", "at server");
    let credentials = world.bound(credentials);
    let oauth = OAuth::enterprise("Travel planner", configured).client(credentials);
    let oauth = oauth.clock(world.clock.clone());
    let session = world.connect(&oauth).await.expect("a session");
    let declared = extensions(&session).await.expect("a result");
    assert_eq!(
        declared,
        "io.modelcontextprotocol/enterprise-managed-authorization"
    );
    world.clock.advance(Duration::from_secs(3600));
    provider.advance(Duration::from_secs(3600));
    extensions(&session).await.expect("a result");
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    let exchange = &provider.requests_at(Endpoint::Token)[0];
    let names = [
        "requested_token_type",
        "audience",
        "resource",
        "subject_token_type",
    ];
    let expected = [
        "urn:ietf:params:oauth:token-type:id-jag",
        &world.authorization.issuer(),
        &world.url,
        "urn:ietf:params:oauth:token-type:id_token",
    ];
    assert_eq!(parameters(exchange, names), expected);
    let requests = world.token_requests();
    assert_eq!(requests.len(), 2);
    for request in &requests {
        assert_eq!(request.parameter("grant_type"), Some(JWT_BEARER));
        assert_eq!(request.parameter("resource"), Some(world.url.as_str()));
        assert!(request.headers.contains_key(header::AUTHORIZATION));
        assert!(!request.target.contains('?'));
    }
    assert_ne!(
        requests[0].parameter("assertion"),
        requests[1].parameter("assertion")
    );
    assert_no_user(&world);
    world.finish().await;
}

// AUTH-C-144
#[tokio::test]
async fn a_response_that_is_no_identity_assertion_reaches_no_server() {
    let (provider, configured, _) = identity_provider().await;
    let world = enterprise(&provider).await;
    let credentials = ClientCredentials::secret("planner", "at server");
    let credentials = world.bound(credentials);
    let oauth = OAuth::enterprise("Travel planner", configured).client(credentials);
    for (member, value) in [
        (
            "issued_token_type",
            "urn:ietf:params:oauth:token-type:access_token",
        ),
        ("token_type", "Bearer"),
    ] {
        provider.clear_faults();
        provider.inject(Fault::Replace(Endpoint::Token, member, json!(value)));
        let error = world.call(&oauth).await.expect_err("refused").to_string();
        assert!(error.contains(member), "{error}");
    }
    provider.clear_faults();
    provider.inject(Fault::Error(Endpoint::Token, "access_denied"));
    let error = world.call(&oauth).await.expect_err("refused").to_string();
    assert!(error.contains("identity provider"), "{error}");
    assert!(world.token_requests().is_empty());
    world.finish().await;
}

/// A platform that issues tokens to workloads.
fn platform() -> TestAuthorizationServer {
    TestAuthorizationServer::builder()
        .origin("https://platform.example")
        .build()
}

fn workload_token(platform: &TestAuthorizationServer, world: &World) -> String {
    let token = platform.token("workload").typ("JWT");
    token
        .claim("aud", json!(world.authorization.issuer()))
        .issue()
}

// AUTH-C-157, AUTH-C-158, AUTH-C-160
#[tokio::test]
async fn a_token_of_the_platform_is_read_again_for_each_renewal() {
    let platform = platform();
    let client = TestClient::public("planner");
    let world = World::with(
        |builder| builder.client(client).trust(&platform),
        |resource| resource,
    )
    .await;
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("token");
    let credentials = ClientCredentials::public("planner");
    let credentials = world.bound(credentials);
    let oauth = OAuth::workload(credentials, WorkloadToken::file(&path));
    let oauth = oauth.clock(world.clock.clone());
    let first = workload_token(&platform, &world);
    std::fs::write(&path, &first).expect("written");
    let session = world.connect(&oauth).await.expect("a session");
    let declared = extensions(&session).await.expect("a result");
    assert_eq!(declared, "io.modelcontextprotocol/auth/wif");
    world.clock.advance(Duration::from_secs(3600));
    platform.advance(Duration::from_secs(3600));
    let second = workload_token(&platform, &world);
    std::fs::write(&path, format!("{second}\n")).expect("written");
    extensions(&session).await.expect("a result");
    let requests = world.token_requests();
    let sent: Vec<_> = requests
        .iter()
        .filter_map(|request| request.parameter("assertion"))
        .collect();
    assert_eq!(sent, [first, second]);
    for request in &requests {
        assert_eq!(request.parameter("grant_type"), Some(JWT_BEARER));
        assert_eq!(request.parameter("resource"), Some(world.url.as_str()));
    }
    assert_no_user(&world);
    world.finish().await;
}

// AUTH-C-159
#[tokio::test]
async fn a_refused_token_of_the_platform_is_not_sent_again_until_it_changes() {
    let platform = platform();
    let client = TestClient::public("planner");
    let world = World::with(
        |builder| builder.client(client).trust(&platform),
        |resource| resource,
    )
    .await;
    let current = Arc::new(Mutex::new("not.a.token".to_owned()));
    let source = Arc::clone(&current);
    let token = WorkloadToken::function(move || {
        let token = Secret::from(source.lock().expect("no panic").as_str());
        async { Ok(token) }
    });
    let credentials = ClientCredentials::public("planner");
    let credentials = world.bound(credentials);
    let oauth = OAuth::workload(credentials, token);
    for expected in ["invalid_grant", "refused this token"] {
        let error = world.call(&oauth).await.expect_err("refused").to_string();
        assert!(error.contains(expected), "{error}");
        assert_eq!(world.token_requests().len(), 1);
    }
    *current.lock().expect("no panic") = workload_token(&platform, &world);
    world.call(&oauth).await.expect("a result");
    assert_eq!(world.token_requests().len(), 2);
    world.finish().await;
}

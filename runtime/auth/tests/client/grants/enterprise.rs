//! Access that an identity provider grants.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::{HeaderMap, Method, header};
use serde_json::json;
use treenail::auth::testing::{
    Endpoint, Fault, RecordedRequest, TestAuthorizationServer, TestClient,
};
use treenail::auth::{ClientCredentials, IdentityProvider, OAuth, SubjectToken};
use treenail::client::{HttpAttempt, HttpAuthorization};

use super::{JWT_BEARER, assert_no_user};
use crate::fixture::{World, extensions};

/// An identity provider at which `planner` is registered, and a token of its user.
async fn identity_provider() -> (TestAuthorizationServer, IdentityProvider, Arc<AtomicUsize>) {
    let client = TestClient::secret("planner", "at provider");
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
    let client = TestClient::secret("planner", "at server");
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
    let url = world.url.parse().expect("a URL");
    let mut background = HttpAttempt::new(&Method::GET, &url, &url);
    background.may_ask_user = false;
    let mut headers = HeaderMap::new();
    let sent = oauth.authorize(&mut background, &mut headers).await;
    sent.expect("the expired token");
    assert_eq!(calls.load(Ordering::Relaxed), 1);
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

#[tokio::test]
async fn failures_of_an_identity_provider_do_not_end_the_session() {
    let (provider, configured, calls) = identity_provider().await;
    let world = enterprise(&provider).await;
    let credentials = ClientCredentials::secret("planner", "at server");
    let credentials = world.bound(credentials);
    let oauth = OAuth::enterprise("Travel planner", configured).client(credentials);
    provider.inject(Fault::Error(Endpoint::Token, "access_denied"));
    for _ in 0..5 {
        world.call(&oauth).await.expect_err("refused");
    }
    assert_eq!(calls.load(Ordering::Relaxed), 5);
    world.finish().await;
}

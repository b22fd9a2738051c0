//! Tokens of a workload, issued by its platform.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use treenail::auth::testing::{TestAuthorizationServer, TestClient};
use treenail::auth::{ClientCredentials, OAuth, Secret, WorkloadToken};

use super::{JWT_BEARER, assert_no_user};
use crate::fixture::{World, extensions};

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

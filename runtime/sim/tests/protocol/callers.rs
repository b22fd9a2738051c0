//! Configured HTTP services: callers with an identity, and services without sessions.

use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::{Response, StatusCode};
use tokio::time::sleep;
use treenail::Value;
use treenail::auth::testing::TestAuthorizationServer;
use treenail::auth::{FixedTokenVerifier, ResourceServer, Secret};
use treenail::context::Principal;
use treenail::http::{AuthorizeFuture, Authorized, HttpAuthorizer};
use treenail::prelude::*;
use treenail::schema::Revision;
use treenail::scope::{Access, Authority, RequiredScopes};
use treenail::sim::{Simulation, check};

use crate::SEEDS;

const ISSUER: &str = "https://id.example.com";
const RESOURCE: &str = "http://localhost/mcp";
const USERS: [&str; 2] = ["alice", "bob"];

/// Returns the caller.
#[mcp_tool(read_only)]
fn whoami(cx: &Context) -> Option<String> {
    Some(cx.principal()?.to_string())
}

/// Refuses callers without a key with a text.
#[derive(Debug)]
struct ApiKey;

#[derive(Debug, Default)]
struct NoScopes(RequiredScopes);

impl Authority for NoScopes {
    fn has_scope(&self, _: &str) -> bool {
        false
    }

    fn base(&self) -> &RequiredScopes {
        &self.0
    }

    fn refusal(&self, _: &str) -> Value {
        json!({})
    }
}

fn refuse(status: StatusCode) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from_static(b"a key is required"));
    *response.status_mut() = status;
    response
}

impl HttpAuthorizer for ApiKey {
    fn host(&self) -> &'static str {
        "localhost"
    }

    fn serves(&self, _: &str) -> bool {
        false
    }

    fn document(&self, _: &Parts) -> Response<Bytes> {
        refuse(StatusCode::NOT_FOUND)
    }

    fn authorize<'a>(&'a self, parts: &'a Parts) -> AuthorizeFuture<'a> {
        let access = || Access::new(NoScopes::default());
        let authorized = parts.headers.get("x-key");
        let authorized = authorized.map(|_| Authorized::new(Principal::new("alice"), access()));
        Box::pin(async move { authorized.ok_or_else(|| refuse(StatusCode::UNAUTHORIZED)) })
    }

    fn forbid(&self, _: &Authorized, _: &str) -> Response<Bytes> {
        refuse(StatusCode::FORBIDDEN)
    }
}

fn token(user: &str) -> String {
    format!("token-of-{user}-0123456789")
}

fn resource_server() -> ResourceServer {
    let verifier = FixedTokenVerifier::new(ISSUER, RESOURCE).unwrap();
    let verifier = USERS.into_iter().fold(verifier, |verifier, user| {
        let secret = Secret::from(token(user));
        verifier.token(&secret, user, "".parse().unwrap()).unwrap()
    });
    ResourceServer::new(RESOURCE)
        .issuer(ISSUER)
        .verifier(verifier)
}

fn simulation(seed: u64) -> Simulation {
    Simulation::new(seed)
        .server(|_| treenail::server!().tools(tools![whoami]).build())
        .replicas(2)
}

#[test]
fn simulated_callers_have_identities() {
    check(SEEDS, |seed| {
        simulation(seed)
            .http_service(|_, service| service.authorize(resource_server()))
            .clients(3, |client| async move {
                let Some(user) = USERS.get(client.index()) else {
                    assert!(client.connect().await.is_err(), "it has no token");
                    return;
                };
                let token = format!("Bearer {}", token(user));
                let builder = client.builder().header("authorization", token);
                let session = builder.build().await.unwrap();
                let caller: String = session.call_tool_as("whoami", ()).await.unwrap();
                assert_eq!(caller, format!("{ISSUER} {user}"));
            })
    });
}

#[test]
fn a_simulated_service_has_no_sessions_if_it_is_configured_so() {
    check(SEEDS, |seed| {
        simulation(seed)
            .http_service(|_, service| Ok(service.without_sessions()))
            .balance(treenail::sim::Balance::Random)
            .clients(2, |client| async move {
                let builder = client.builder().protocol_version(Revision::V2025_11_25);
                let session = builder.build().await.unwrap();
                for _ in 0..4 {
                    session.call_tool("whoami", ()).await.unwrap();
                }
            })
    });
}

#[test]
fn a_service_that_cannot_be_configured_is_found() {
    let undeclared = |service: treenail::http::HttpService| {
        service.authorize(resource_server().required_scopes(["files:read"]))
    };
    let broken = simulation(1)
        .http_service(move |_, service| undeclared(service))
        .clients(1, |_| async {});
    let report = broken.run();
    assert!(
        report.violations()[0].contains("the server does not start"),
        "{report}"
    );
}

#[tokio::test]
#[should_panic(expected = "use `#[test]` in place of `#[tokio::test]`")]
async fn a_simulation_within_a_runtime_is_refused() {
    check(1, |seed| simulation(seed).clients(1, |_| async {}));
}

#[test]
fn tokens_expire_by_the_time_of_the_process() {
    check(SEEDS, |seed| {
        let users = TestAuthorizationServer::builder()
            .resource(RESOURCE)
            .build();
        let verifier = users.clone();
        simulation(seed)
            .http_service(move |_, service| {
                let server = ResourceServer::new(RESOURCE)
                    .issuer(verifier.issuer())
                    .verifier(verifier.clone());
                service.authorize(server)
            })
            .clients(1, move |client| {
                let users = users.clone();
                async move {
                    let token = users.token("alice").lifetime(Duration::from_secs(60));
                    let token = format!("Bearer {}", token.issue());
                    let builder = client.builder().header("authorization", token);
                    let session = builder.build().await.unwrap();
                    for (wait, is_valid) in [(0, true), (30, true), (300, false)] {
                        sleep(Duration::from_secs(wait)).await;
                        let called = session.call_tool("whoami", ()).await;
                        assert_eq!(called.is_ok(), is_valid, "after {wait} s more");
                    }
                }
            })
    });
}

#[test]
fn a_refusal_without_json_breaks_no_rule() {
    let guarded = simulation(1)
        .http_service(|_, service| service.authorize(ApiKey))
        .clients(1, |client| async move {
            assert!(client.connect().await.is_err(), "it has no key");
            let builder = client.builder().header("x-key", "1");
            let session = builder.build().await.unwrap();
            let caller: String = session.call_tool_as("whoami", ()).await.unwrap();
            assert_eq!(caller, "alice");
        });
    guarded.run().assert_ok();
}

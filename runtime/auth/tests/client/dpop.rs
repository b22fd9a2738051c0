//! Tokens that are bound to a key of the client.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, Method, StatusCode};
use serde_json::{Value, json};
use treenail::auth::testing::{Endpoint, Fault};
use treenail::auth::{Dpop, DpopAlgorithm, FileStore, MemoryStore, OAuth};
use treenail::client::{AuthorizationFuture, HttpAttempt, HttpAuthorization, Refusal};
use treenail::prelude::*;

use crate::fixture::{World, extensions};

/// Returns the header and the claims of a proof.
fn proof(headers: &HeaderMap) -> (Value, Value) {
    let proof = headers["dpop"].to_str().expect("a text");
    let part = |index| {
        let part = proof.split('.').nth(index).expect("a signed token");
        let part = URL_SAFE_NO_PAD.decode(part).expect("base64url");
        serde_json::from_slice::<Value>(&part).expect("JSON")
    };
    (part(0), part(1))
}

/// Starts servers that require proofs with nonces.
async fn strict() -> World {
    World::with(
        |builder| builder.require_dpop().require_dpop_nonce(),
        |resource| resource.dpop(Dpop::required().nonces([7; 32]).expect("a key")),
    )
    .await
}

// AUTH-C-150 … 156, AUTH-X-34
#[tokio::test]
async fn each_request_has_a_proof_of_the_same_key_with_the_nonce_of_its_server() {
    for algorithm in [DpopAlgorithm::Es256, DpopAlgorithm::EdDsa] {
        let world = strict().await;
        let oauth = world.user().dpop_with(algorithm);
        let session = world.connect(&oauth).await.expect("a session");
        assert_eq!(
            extensions(&session).await.expect("a result"),
            "io.modelcontextprotocol/auth/dpop"
        );
        world.clock.advance(Duration::from_secs(290));
        world.authorization.rotate_dpop_nonce();
        extensions(&session).await.expect("a result");
        let requests = world.token_requests();
        // Each grant is repeated once with a nonce.
        let grants: Vec<_> = requests
            .iter()
            .filter_map(|request| request.parameter("grant_type"))
            .collect();
        let expected = [
            "authorization_code",
            "authorization_code",
            "refresh_token",
            "refresh_token",
        ];
        assert_eq!(grants, expected);
        let mut ids = HashSet::new();
        for request in &requests {
            let (header, claims) = proof(&request.headers);
            assert_eq!(header["typ"], "dpop+jwt");
            assert!(header["jwk"].get("d").is_none());
            assert_eq!(header["jwk"], proof(&requests[0].headers).0["jwk"]);
            assert_eq!(claims["htm"], "POST");
            assert_eq!(
                claims["htu"],
                json!(format!("{}/token", world.authorization.issuer()))
            );
            assert!(ids.insert(claims["jti"].to_string()));
        }
        assert_ne!(
            proof(&requests[1].headers).1["nonce"],
            proof(&requests[3].headers).1["nonce"]
        );
        world.finish().await;
    }
}

/// OAuth client that notes the responses to requests for the end of a session.
#[derive(Debug)]
struct Noted {
    oauth: OAuth,
    ends: Arc<Mutex<Vec<StatusCode>>>,
}

impl HttpAuthorization for Noted {
    fn authorize<'a>(
        &'a self,
        request: &'a mut HttpAttempt<'_>,
        headers: &'a mut HeaderMap,
    ) -> AuthorizationFuture<'a, ()> {
        self.oauth.authorize(request, headers)
    }

    fn observe(&self, request: &HttpAttempt<'_>, status: StatusCode, response: &HeaderMap) {
        if *request.http_method == Method::DELETE {
            self.ends.lock().expect("no panic").push(status);
        }
        self.oauth.observe(request, status, response);
    }

    fn refused<'a>(
        &'a self,
        request: &'a mut HttpAttempt<'_>,
        status: StatusCode,
        response: &'a HeaderMap,
    ) -> AuthorizationFuture<'a, Refusal> {
        self.oauth.refused(request, status, response)
    }
}

// AUTH-C-155
#[tokio::test]
async fn the_end_of_a_session_is_sent_again_with_a_nonce_and_asks_no_user() {
    for (age, expected) in [
        // The nonce of the server has expired, the token has not.
        (301, vec![StatusCode::UNAUTHORIZED, StatusCode::NO_CONTENT]),
        (0, vec![StatusCode::NO_CONTENT]),
    ] {
        let world = strict().await;
        let ends = Arc::<Mutex<Vec<_>>>::default();
        let authorization = Noted {
            oauth: world.user().dpop(),
            ends: ends.clone(),
        };
        let builder = McpClient::builder().url(world.url.as_str());
        let builder = builder.protocol_version("2025-11-25".parse().expect("a revision"));
        let session = builder.authorization(authorization).build().await;
        let session = session.expect("a session");
        extensions(&session).await.expect("a result");
        world.clock.advance(Duration::from_secs(age));
        session.close().await.expect("an end");
        let requests = world.authorization.requests_at(Endpoint::Authorization);
        assert_eq!(requests.len(), 1);
        assert_eq!(*ends.lock().expect("no panic"), expected);
        world.finish().await;
    }
}

// AUTH-C-155
#[tokio::test]
async fn a_server_that_demands_nonces_for_ever_is_given_up() {
    let world = World::start().await;
    world
        .authorization
        .inject(Fault::Error(Endpoint::Token, "use_dpop_nonce"));
    let nonce = http::HeaderValue::from_static("nonce");
    let name = http::HeaderName::from_static("dpop-nonce");
    world
        .authorization
        .inject(Fault::Header(Endpoint::Token, name, nonce));
    let error = world.call(&world.user().dpop()).await.expect_err("refused");
    assert!(error.to_string().contains("use_dpop_nonce"), "{error}");
    assert!(world.token_requests().len() <= 2);
    world.finish().await;
}

// AUTH-C-99
#[tokio::test]
async fn a_bearer_token_in_place_of_a_bound_one_is_refused() {
    let world = World::start().await;
    let fault = Fault::Replace(Endpoint::Token, "token_type", json!("Bearer"));
    world.authorization.inject(fault);
    let error = world.call(&world.user().dpop()).await.expect_err("refused");
    assert!(
        error.to_string().contains("`token_type` must be `DPoP`"),
        "{error}"
    );
    world.finish().await;
}

// AUTH-C-32
#[tokio::test]
async fn a_server_that_requires_bound_tokens_is_an_error_without_configuration() {
    let world = World::with(
        |builder| builder,
        |resource| resource.dpop(Dpop::required()),
    )
    .await;
    let error = world.call(&world.user()).await.expect_err("refused");
    assert!(error.to_string().contains("OAuth::dpop"), "{error}");
    assert!(world.token_requests().is_empty());
    world.finish().await;
}

// AUTH-C-153
#[tokio::test]
async fn an_algorithm_that_is_not_listed_is_refused_before_the_request() {
    let world = World::start().await;
    let member = "dpop_signing_alg_values_supported";
    for endpoint in [Endpoint::OAuthMetadata, Endpoint::OpenIdMetadata] {
        let fault = Fault::Replace(endpoint, member, json!(["EdDSA"]));
        world.authorization.inject(fault);
    }
    let error = world.call(&world.user().dpop()).await.expect_err("refused");
    assert!(error.to_string().contains(member), "{error}");
    assert!(world.token_requests().is_empty());
    world.finish().await;
}

// AUTH-C-153
#[tokio::test]
async fn an_algorithm_with_two_names_has_the_listed_one() {
    let world = strict().await;
    let member = "dpop_signing_alg_values_supported";
    let fault = Fault::Replace(Endpoint::OAuthMetadata, member, json!(["ES256", "Ed25519"]));
    world.authorization.inject(fault);
    let oauth = world.user().dpop_with(DpopAlgorithm::EdDsa);
    world.call(&oauth).await.expect("a result");
    let requests = world.token_requests();
    assert_eq!(proof(&requests[0].headers).0["alg"], "Ed25519");
    world.finish().await;
}

// AUTH-C-151
#[tokio::test]
async fn the_key_is_stored_with_the_tokens() {
    let world = strict().await;
    let directory = tempfile::tempdir().expect("a directory");
    let open = || {
        let builder = FileStore::builder("planner").directory(directory.path().join("tokens"));
        builder.key_file().open().expect("a store")
    };
    world
        .call(&world.user().dpop().store(open()))
        .await
        .expect("a result");
    let before = world.token_requests().len();
    world
        .call(&world.user().dpop().store(open()))
        .await
        .expect("a result");
    assert_eq!(world.token_requests().len(), before);
    // Tokens of the other type are not used.
    let bearer = world
        .call(&world.user().store(open()))
        .await
        .expect_err("refused");
    assert!(bearer.to_string().contains("OAuth::dpop"), "{bearer}");
    let fresh = world.user().dpop().store(MemoryStore::new());
    world.call(&fresh).await.expect("a result");
    world.finish().await;
}

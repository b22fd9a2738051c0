//! Secrets, keys and tokens of platforms belong to one authorization server. AUTH-X-07, AUTH-C-140, AUTH-C-161.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use treenail::auth::testing::{Endpoint, TestAuthorizationServer};
use treenail::auth::{
    ClientCredentials, IdentityProvider, OAuth, Secret, SigningKey, SubjectToken, WorkloadToken,
};

use crate::fixture::World;

/// The issuer that the program names; the MCP server names another one.
const HONEST: &str = "https://honest.example";

fn key() -> SigningKey {
    SigningKey::generate().expect("a key")
}

/// Returns a token of the platform that counts its uses.
fn counted() -> (WorkloadToken, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&calls);
    let token = WorkloadToken::function(move || {
        count.fetch_add(1, Ordering::Relaxed);
        async { Ok(Secret::from("token")) }
    });
    (token, calls)
}

fn provider(server: &TestAuthorizationServer) -> IdentityProvider {
    let client = ClientCredentials::secret("planner", "s3cret");
    IdentityProvider::new(format!("{}/token", server.issuer()), client, || async {
        Ok(SubjectToken::id_token("token"))
    })
}

#[tokio::test]
async fn nothing_is_sent_to_an_issuer_that_the_program_has_not_named() {
    let world = World::start().await;
    let identity = TestAuthorizationServer::builder()
        .start()
        .await
        .expect("a free port");
    let (token, calls) = counted();
    let secret = ClientCredentials::secret("planner", "s3cret").issuer(HONEST);
    let keyed = ClientCredentials::private_key("planner", key()).issuer(HONEST);
    let public = ClientCredentials::public("planner").issuer(HONEST);
    for oauth in [
        OAuth::client_credentials(secret.clone()),
        OAuth::client_credentials(keyed),
        OAuth::workload(public, token),
        OAuth::enterprise("Travel planner", provider(&identity)).client(secret),
    ] {
        for oauth in [oauth.clone(), oauth.dpop()] {
            let error = world.call(&oauth).await.expect_err("refused").to_string();
            let issuer = world.authorization.issuer();
            assert!(error.contains(HONEST) && error.contains(&issuer), "{error}");
        }
    }
    assert!(world.token_requests().is_empty());
    assert!(
        world
            .authorization
            .requests_at(Endpoint::Registration)
            .is_empty()
    );
    assert!(identity.requests().is_empty());
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    world.finish().await;
}

#[tokio::test]
async fn credentials_without_an_issuer_are_invalid() {
    let world = World::start().await;
    let (token, calls) = counted();
    let public = ClientCredentials::public("planner");
    for oauth in [
        OAuth::client_credentials(ClientCredentials::secret("planner", "s3cret")),
        OAuth::client_credentials(ClientCredentials::private_key("planner", key())),
        OAuth::client_credentials(public.clone().allow_any_issuer()),
        OAuth::workload(public, token),
        OAuth::enterprise("Travel planner", provider(&world.authorization)),
    ] {
        let error = world.call(&oauth).await.expect_err("refused");
        assert!(format!("{error:?}").contains("Invalid("), "{error:?}");
    }
    assert!(world.authorization.requests().is_empty());
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    world.finish().await;
}

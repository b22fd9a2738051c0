//! Clients with one store, as in several processes.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;

use super::fixture::{Verdict, call, oauth, session};
use super::renewal::{refreshes, start};
use crate::client::store::StoreKey;
use crate::testing::{Endpoint, Fault, TestAuthorizationServer};
use crate::{MemoryStore, TokenStore};

#[tokio::test]
async fn clients_with_one_store_refresh_one_after_the_other() {
    let (server, resource, clock) = start().await;
    let store: Arc<MemoryStore> = Arc::default();
    let client = || {
        session(
            &resource,
            &oauth().clock(clock.clone()).store(store.clone()),
        )
    };
    let (one, other) = (client(), client());
    call(&one, "tools/list").await.unwrap();
    call(&other, "tools/list").await.unwrap();
    assert_eq!(
        server.requests_at(Endpoint::Authorization).len(),
        1,
        "AUTH-C-123"
    );
    clock.advance(Duration::from_secs(3590));
    let (first, second) = tokio::join!(call(&one, "tools/list"), call(&other, "tools/list"));
    first.unwrap();
    second.unwrap();
    // The second use of a rotated token would revoke everything.
    assert_eq!(refreshes(&server).len(), 1, "AUTH-X-15 AUTH-C-116");
    assert_eq!(
        server.requests_at(Endpoint::Authorization).len(),
        1,
        "AUTH-X-15"
    );
}

#[tokio::test]
async fn logout_deletes_tokens_that_another_client_has_renewed() {
    let (server, resource, clock) = start().await;
    let store = Arc::<MemoryStore>::default();
    let clients = [(); 2].map(|()| oauth().store(store.clone()).clock(clock.clone()));
    let [first, second] = clients.each_ref().map(|client| session(&resource, client));
    call(&first, "tools/list").await.unwrap();
    clock.advance(Duration::from_secs(3_700));
    call(&second, "tools/list").await.unwrap();
    let requests = server.requests_at(Endpoint::Token);
    let grants = requests.iter().map(|it| it.parameter("grant_type"));
    let expected = [Some("authorization_code"), Some("refresh_token")];
    assert_eq!(grants.collect::<Vec<_>>(), expected);

    clients[0].logout(&resource.url()).await.unwrap();
    let client_id = server.requests_at(Endpoint::Authorization)[0]
        .parameter("client_id")
        .unwrap()
        .to_owned();
    let key = StoreKey::tokens(&resource.url(), &server.issuer(), &client_id);
    assert!(store.load(&key).await.unwrap().is_none(), "AUTH-C-121");
}

/// Lets a client send a request after the tokens that another one has stored meanwhile have expired. Returns true if it
/// succeeds, and the number of refreshes and of authorizations for it.
async fn call_with_expired_tokens(
    prepare: impl FnOnce(&TestAuthorizationServer),
) -> (bool, usize, usize) {
    let (server, resource, clock) = start().await;
    let store = Arc::<MemoryStore>::default();
    let clients = [(); 2].map(|()| oauth().store(store.clone()).clock(clock.clone()));
    let [first, second] = clients.each_ref().map(|client| session(&resource, client));
    resource.rule(|_| Verdict::Accept);
    call(&first, "tools/list").await.unwrap();
    resource.rule(|seen| match seen.token {
        None => Verdict::Unauthorized(String::new()),
        Some(_) => Verdict::Accept,
    });
    call(&second, "tools/list").await.unwrap();
    clock.advance(Duration::from_secs(3700));
    server.clear_requests();
    prepare(&server);
    let is_accepted = call(&first, "tools/list").await.is_ok();
    let authorizations = server.requests_at(Endpoint::Authorization).len();
    (is_accepted, refreshes(&server).len(), authorizations)
}

#[tokio::test]
async fn expired_tokens_of_another_client_are_refreshed() {
    let refreshed = call_with_expired_tokens(|_| {}).await;
    assert_eq!(refreshed, (true, 1, 0), "AUTH-C-123");
    let revoked = call_with_expired_tokens(|server| server.revoke_user("user")).await;
    assert_eq!(revoked, (true, 1, 1), "AUTH-C-112");
    let status = Fault::Status(Endpoint::Token, StatusCode::SERVICE_UNAVAILABLE);
    let outage = call_with_expired_tokens(|server| server.inject(status)).await;
    assert_eq!(outage, (false, 1, 0), "AUTH-C-117");
}

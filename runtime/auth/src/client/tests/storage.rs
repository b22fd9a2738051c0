//! Tokens and the store: large records, and a store that fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::fixture::{REDIRECT_URI, Resource, Verdict, call, clock, oauth, session, session_at};
use crate::testing::{Endpoint, TestAuthorizationServer, TestClient};
use crate::{
    AuthError, ClientCredentials, Generation, MemoryStore, Scopes, StoreFuture, StoreKey,
    StoreLock, StoredEntry, TokenStore,
};

/// Store on a disk without space for more than registrations, once the flag is set.
#[derive(Debug, Default)]
struct FullStore {
    inner: MemoryStore,
    is_full: AtomicBool,
    /// Locks of files cannot be created either.
    refuses_locks: bool,
}

impl FullStore {
    fn refuses(&self, key: &StoreKey) -> bool {
        self.is_full.load(Ordering::Relaxed) && !key.to_string().contains("registration")
    }
}

fn full<T>() -> Result<T, AuthError> {
    Err(AuthError::Store("no space left on device".into()))
}

impl TokenStore for FullStore {
    fn load<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, Option<StoredEntry>> {
        self.inner.load(key)
    }

    fn store<'a>(&'a self, key: &'a StoreKey, entry: StoredEntry) -> StoreFuture<'a, ()> {
        if self.refuses(key) {
            return Box::pin(async { full() });
        }
        self.inner.store(key, entry)
    }

    fn delete<'a>(&'a self, key: &'a StoreKey, generation: Generation) -> StoreFuture<'a, bool> {
        self.inner.delete(key, generation)
    }

    fn lock<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, StoreLock> {
        if self.refuses_locks && self.refuses(key) {
            return Box::pin(async { full() });
        }
        self.inner.lock(key)
    }
}

#[tokio::test]
async fn a_sign_in_survives_a_store_that_fails() {
    let app = TestClient::public("app").redirect_uri(REDIRECT_URI);
    let server = TestAuthorizationServer::builder().client(app);
    let server = server.access_token_lifetime(Duration::from_secs(3600));
    let server = server.start().await.unwrap();
    for refuses_locks in [false, true] {
        let unbound = || oauth().client(ClientCredentials::public("app"));
        for client in [oauth(), unbound()] {
            let resource = Resource::start(&server).await;
            server.clear_requests();
            let store = FullStore {
                is_full: true.into(),
                refuses_locks,
                ..FullStore::default()
            };
            let clock = clock();
            let session = session(&resource, &client.clock(clock.clone()).store(store));
            for _ in 0..4 {
                call(&session, "tools/list").await.unwrap();
            }
            assert_eq!(server.requests_at(Endpoint::Authorization).len(), 1);
            let tokens = resource.tokens();
            assert!(tokens[1].is_some() && tokens[1..].iter().all(|one| *one == tokens[1]));
            for refreshes in 1..3 {
                clock.advance(Duration::from_secs(3700));
                call(&session, "tools/list").await.unwrap();
                assert_eq!(server.requests_at(Endpoint::Token).len(), 1 + refreshes);
            }
            assert_eq!(server.requests_at(Endpoint::Authorization).len(), 1);
        }
    }
}

#[tokio::test]
async fn a_logout_revokes_tokens_that_could_not_be_stored() {
    let server = TestAuthorizationServer::builder();
    let server = server.access_token_lifetime(Duration::from_secs(3600));
    let server = server.start().await.unwrap();
    let resource = Resource::start(&server).await;
    let (clock, store) = (clock(), Arc::<FullStore>::default());
    let client = oauth().clock(clock.clone()).store(Arc::clone(&store));
    let before = session(&resource, &client);
    call(&before, "tools/list").await.unwrap();
    store.is_full.store(true, Ordering::Relaxed);
    for _ in 0..2 {
        clock.advance(Duration::from_secs(3700));
        call(&before, "tools/list").await.unwrap();
    }
    client.logout(&resource.url()).await.unwrap();
    let sent = |endpoint, name: &str| {
        let requests = server.requests_at(endpoint);
        let values = requests.iter().filter_map(|one| one.parameter(name));
        values.map(ToOwned::to_owned).collect::<Vec<_>>()
    };
    let (revoked, used) = (
        sent(Endpoint::Revocation, "token"),
        sent(Endpoint::Token, "refresh_token"),
    );
    assert_eq!((revoked.len(), used.len()), (1, 2));
    assert!(!used.contains(&revoked[0]), "a former token was revoked");
    // The stored entry of the former tokens is deleted.
    call(&session(&resource, &client), "tools/list")
        .await
        .unwrap();
    assert_eq!(server.requests_at(Endpoint::Authorization).len(), 2);
}

fn scopes(range: std::ops::Range<usize>) -> Scopes {
    let names: Vec<_> = range.map(|number| format!("s{number}")).collect();
    names.join(" ").parse().unwrap()
}

/// Starts a server that demands 40 further scopes for each call of a tool, `step_ups` times.
async fn start(step_ups: usize) -> (TestAuthorizationServer, Resource) {
    let server = TestAuthorizationServer::builder();
    let server = server.access_token_lifetime(Duration::from_secs(3600));
    let server = server.start().await.unwrap();
    let resource = Resource::start(&server).await;
    let needed = move |step: usize| scopes(step * 40..step * 40 + 40);
    let (mut step, mut accepted) = (0, None);
    resource.rule(move |seen| match (&seen.token, &*seen.method) {
        (None, _) => Verdict::Unauthorized(format!(r#", scope="{}""#, needed(0))),
        // A token suffices for one call.
        (token, "tools/call") if step < step_ups && accepted == *token => {
            step += 1;
            let challenge = r#"Bearer error="insufficient_scope""#;
            Verdict::Forbidden(format!(r#"{challenge}, scope="{}""#, needed(step)))
        }
        (token, _) => {
            accepted.clone_from(token);
            Verdict::Accept
        }
    });
    (server, resource)
}

#[tokio::test]
async fn tokens_with_many_scopes_can_be_read_again() {
    let (server, resource) = start(1).await;
    let (clock, store) = (clock(), Arc::<MemoryStore>::default());
    let client = oauth().clock(clock.clone()).store(store);
    let before = session(&resource, &client);
    call(&before, "tools/list").await.unwrap();
    call(&before, "tools/call").await.unwrap();
    assert_eq!(server.requests_at(Endpoint::Authorization).len(), 2);
    clock.advance(Duration::from_secs(3700));
    // The refresh compares the tokens with the stored ones.
    call(&session(&resource, &client), "tools/list")
        .await
        .unwrap();
    assert_eq!(server.requests_at(Endpoint::Authorization).len(), 2);
    assert_eq!(server.requests_at(Endpoint::Token).len(), 3);
}

#[tokio::test]
async fn scopes_that_no_record_can_have_are_not_asked_for() {
    let (server, resource) = start(30).await;
    let session = session(&resource, &oauth());
    call(&session, "tools/list").await.unwrap();
    for _ in 0..24 {
        call(&session, "tools/call").await.unwrap();
    }
    let authorizations = server.requests_at(Endpoint::Authorization).len();
    assert_eq!(authorizations, 25);
    let error = call(&session, "tools/call").await.unwrap_err().to_string();
    assert!(error.contains("1024 scopes"), "{error}");
    let authorizations = server.requests_at(Endpoint::Authorization).len();
    assert_eq!(authorizations, 25, "the user is not asked in vain");
}

#[tokio::test]
async fn a_step_up_keeps_the_scopes_of_tokens_that_could_not_be_stored() {
    let server = TestAuthorizationServer::builder().start().await.unwrap();
    let resource = Resource::start(&server).await;
    let store = Arc::<FullStore>::default();
    let session = session(&resource, &oauth().store(Arc::clone(&store)));
    let mut required = [Some("b"), None, Some("c"), None].into_iter();
    resource.rule(move |seen| match (&seen.token, &*seen.method) {
        (None, _) => Verdict::Unauthorized(r#", scope="a""#.into()),
        (Some(_), "tools/call") => match required.next().flatten() {
            Some(scope) => Verdict::Forbidden(format!(
                r#"Bearer error="insufficient_scope", scope="{scope}""#
            )),
            None => Verdict::Accept,
        },
        _ => Verdict::Accept,
    });
    call(&session, "tools/list").await.unwrap();
    store.is_full.store(true, Ordering::Relaxed);
    for _ in 0..2 {
        call(&session, "tools/call").await.unwrap();
    }
    let requests = server.requests_at(Endpoint::Authorization);
    let scopes: Vec<_> = requests.iter().map(|one| one.parameter("scope")).collect();
    assert_eq!(
        scopes,
        [Some("a"), Some("a b"), Some("a b c")],
        "AUTH-C-106"
    );
}

#[tokio::test]
async fn servers_of_one_resource_have_tokens_of_their_own() {
    let server = TestAuthorizationServer::builder();
    let server = server.access_token_lifetime(Duration::from_secs(3600));
    let server = server.start().await.unwrap();
    let resource = Resource::start(&server).await;
    let (clock, store) = (clock(), Arc::<MemoryStore>::default());
    let client = || oauth().clock(clock.clone()).store(store.clone());
    let urls = [resource.url(), format!("{}/below", resource.url())];
    let one = client();
    for (url, scopes) in urls.iter().zip(["a b", "c"]) {
        resource.rule(move |seen| match &seen.token {
            None => Verdict::Unauthorized(format!(r#", scope="{scopes}""#)),
            Some(_) => Verdict::Accept,
        });
        let session = session_at(url.clone(), &one);
        call(&session, "tools/list").await.unwrap();
    }
    clock.advance(Duration::from_secs(3590));
    let first = session_at(urls[0].clone(), &one);
    call(&first, "tools/list").await.unwrap();
    one.logout(&urls[1]).await.unwrap();
    for client in [one, client()] {
        let status = client.status(&urls[0]).await.unwrap();
        let scopes = status.map(|status| status.scopes.to_string());
        assert_eq!(scopes.as_deref(), Some("a b"), "AUTH-C-106");
        assert!(client.status(&urls[1]).await.unwrap().is_none());
    }
}

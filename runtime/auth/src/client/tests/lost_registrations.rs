//! Registrations that the authorization server has lost.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::fixture::{REDIRECT_URI, Resource, approve, call, oauth, session};
use crate::client::store::{RegistrationRecord, StoreKey, save_locked};
use crate::testing::{Endpoint, Fault, TestAuthorizationServer, TestClient};
use crate::{
    Callback, Generation, MemoryStore, OAuth, StoreFuture, StoreLock, StoredEntry, TokenStore,
};

/// An authorization server with a stored registration, and an MCP server at which the client is not signed in.
struct Setup {
    server: TestAuthorizationServer,
    /// The client is signed in here.
    first: Resource,
    other: Resource,
    store: Arc<MemoryStore>,
    client: OAuth,
}

impl Setup {
    async fn new() -> Self {
        let builder = TestAuthorizationServer::builder();
        let public = TestClient::public("other").redirect_uri(REDIRECT_URI);
        let server = builder.client(public).start().await.unwrap();
        let (first, other) = (
            Resource::start(&server).await,
            Resource::start(&server).await,
        );
        let store: Arc<MemoryStore> = Arc::default();
        let client = oauth().store(store.clone());
        call(&session(&first, &client), "tools/list").await.unwrap();
        Self {
            server,
            first,
            other,
            store,
            client,
        }
    }

    /// Makes the authorization server lose the registration. It shows an error page to the user.
    async fn lose(&self) {
        let status = self.client.status(&self.first.url()).await.unwrap();
        self.server.remove_client(&status.unwrap().client_id);
        self.server.clear_requests();
    }

    async fn sign_in(&self) {
        let session = session(&self.other, &self.client);
        call(&session, "tools/list").await.unwrap();
    }

    /// Returns the numbers of registrations and authorizations.
    fn counts(&self) -> (usize, usize) {
        let count = |endpoint| self.server.requests_at(endpoint).len();
        (
            count(Endpoint::Registration),
            count(Endpoint::Authorization),
        )
    }
}

#[tokio::test]
async fn a_refused_registration_is_repeated_once() {
    let setup = Setup::new().await;
    setup.server.clear_requests();
    let refused = Fault::Error(Endpoint::Token, "invalid_client");
    setup.server.inject_once(refused);
    setup.sign_in().await;
    assert_eq!(setup.counts(), (1, 2), "AUTH-C-67");
}

#[tokio::test]
async fn a_registration_is_forgotten_after_a_flow_without_response() {
    let setup = Setup::new().await;
    setup.lose().await;
    let waiting = Callback::new(REDIRECT_URI, |_| std::future::pending());
    let waiting = OAuth::callback("test client", waiting).store(setup.store.clone());
    let waiting = waiting.sign_in_timeout(Duration::from_millis(1));
    let error = call(&session(&setup.other, &waiting), "tools/list").await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("did not sign in"), "{error}");
    setup.sign_in().await;
    assert_eq!(setup.counts(), (1, 1), "AUTH-C-67");
}

#[tokio::test]
async fn logout_forgets_a_registration() {
    let setup = Setup::new().await;
    setup.lose().await;
    // The authorization server does not know the client, and refuses the revocation.
    let _ = setup.client.logout(&setup.first.url()).await;
    setup.sign_in().await;
    assert_eq!(setup.counts(), (1, 1), "AUTH-C-67");
}

#[tokio::test]
async fn logout_leaves_the_secret_of_a_registration_to_other_servers() {
    let setup = Setup::new().await;
    let key = StoreKey::registration(&setup.server.issuer());
    let status = setup.client.status(&setup.first.url()).await.unwrap();
    let confidential = RegistrationRecord {
        client_secret: Some("s3cret".into()),
        ..registration(&status.unwrap().client_id)
    };
    save_locked(&*setup.store, &key, confidential)
        .await
        .unwrap();
    setup.client.logout(&setup.first.url()).await.unwrap();
    let entry = TokenStore::load(&*setup.store, &key).await.unwrap();
    assert!(entry.is_some(), "AUTH-C-121");
}

#[tokio::test]
async fn the_registration_of_another_process_remains() {
    let setup = Setup::new().await;
    setup.server.clear_requests();
    setup
        .server
        .inject_once(Fault::Error(Endpoint::Token, "invalid_client"));
    let (store, issuer) = (setup.store.clone(), setup.server.issuer());
    let agent = Callback::new(REDIRECT_URI, move |request| {
        let (store, key) = (store.clone(), StoreKey::registration(&issuer));
        async move {
            save_locked(&*store, &key, registration("other")).await?;
            approve(request).await
        }
    });
    let client = OAuth::callback("test client", agent).store(setup.store.clone());
    let session = session(&setup.other, &client);
    call(&session, "tools/list").await.unwrap();
    assert_eq!(setup.counts(), (0, 2), "AUTH-C-67");
    let tokens = setup.server.requests_at(Endpoint::Token);
    assert_eq!(tokens[1].parameter("client_id"), Some("other"), "AUTH-C-67");
}

/// Store that notes the entries that are deleted, and if their locks are held.
#[derive(Debug, Default)]
struct LockedStore {
    inner: MemoryStore,
    held: Arc<Mutex<Vec<StoreKey>>>,
    deleted: Mutex<Vec<(StoreKey, bool)>>,
}

/// Lock that is held.
struct Held {
    key: StoreKey,
    all: Arc<Mutex<Vec<StoreKey>>>,
    _lock: StoreLock,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.all.lock().unwrap().retain(|key| *key != self.key);
    }
}

impl TokenStore for LockedStore {
    fn load<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, Option<StoredEntry>> {
        self.inner.load(key)
    }

    fn store<'a>(&'a self, key: &'a StoreKey, entry: StoredEntry) -> StoreFuture<'a, ()> {
        self.inner.store(key, entry)
    }

    fn delete<'a>(&'a self, key: &'a StoreKey, generation: Generation) -> StoreFuture<'a, bool> {
        let is_held = self.held.lock().unwrap().contains(key);
        self.deleted.lock().unwrap().push((key.clone(), is_held));
        self.inner.delete(key, generation)
    }

    fn lock<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, StoreLock> {
        Box::pin(async move {
            let lock = self.inner.lock(key).await?;
            self.held.lock().unwrap().push(key.clone());
            Ok(StoreLock::new(Held {
                key: key.clone(),
                all: Arc::clone(&self.held),
                _lock: lock,
            }))
        })
    }
}

#[tokio::test]
async fn a_registration_is_deleted_under_its_lock() {
    let setup = Setup::new().await;
    let store = Arc::<LockedStore>::default();
    let client = oauth().store(store.clone());
    let sign_in = async |resource| {
        call(&session(resource, &client), "tools/list")
            .await
            .unwrap()
    };
    sign_in(&setup.first).await;
    let refused = Fault::Error(Endpoint::Token, "invalid_client");
    setup.server.inject_once(refused);
    sign_in(&setup.other).await;
    client.logout(&setup.other.url()).await.unwrap();
    let deleted = store.deleted.lock().unwrap().clone();
    let key = StoreKey::registration(&setup.server.issuer());
    let registrations = deleted.iter().filter(|(deleted, _)| *deleted == key);
    assert_eq!(registrations.count(), 2, "{deleted:?}");
    assert!(deleted.iter().all(|(_, is_held)| *is_held), "{deleted:?}");
}

fn registration(client_id: &str) -> RegistrationRecord {
    RegistrationRecord {
        client_id: client_id.to_owned(),
        client_secret: None,
        secret_expires_at: None,
        auth_method: Some("none".into()),
        redirect_uris: vec![REDIRECT_URI.into()],
    }
}

//! No secret is in a log, an error, a `Debug` output or a panic. AUTH-X-18, AUTH-C-05, AUTH-C-149.

mod recorder;
mod spy;

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use treenail::auth::testing::{Endpoint, Fault, TestAuthorizationServer, TestClient};
use treenail::auth::{
    Callback, ClientCredentials, Dpop, FileStore, FileStoreKey, IdentityProvider, OAuth, Secret,
    SigningKey, StoreKey, StoredEntry, SubjectToken, TokenStore, WorkloadToken,
};

use self::recorder::{log, record, record_error, start_recording};
use self::spy::{Secrets, Spy};
use crate::fixture::{REDIRECT_URI, World, extensions};

/// Part of every secret of these tests.
const CANARY: &str = "can4ry";
const SECRET: &str = "can4ry-client-secret";

/// Runs a flow from the first request to the logout, and records everything that can be printed.
async fn run(world: &World, oauth: OAuth, spy: &Spy) {
    let oauth = oauth.clock(world.clock.clone()).store(spy.clone());
    match world.connect(&oauth).await {
        Ok(session) => {
            record(&format!("{session:?} {:?}", extensions(&session).await));
            world.clock.advance(Duration::from_secs(290));
            record(&format!("{:?}", extensions(&session).await));
        }
        Err(error) => record_error(&error),
    }
    if let Err(error) = oauth.logout(&world.url).await {
        record_error(&error);
    }
    record(&format!("{oauth:?} {oauth:#?} {spy:?}"));
    spy.secrets.add_requests(&world.authorization);
}

/// Returns a client of each kind, with canaries as secrets.
fn clients(world: &World, platform: &TestAuthorizationServer, key: &SigningKey) -> Vec<OAuth> {
    let secret = || world.bound(ClientCredentials::secret("planner", SECRET));
    let keyed = world.bound(ClientCredentials::private_key("keyed", key.clone()));
    let public = world.bound(ClientCredentials::public("public"));
    let id_token = platform
        .token("alice")
        .typ("JWT")
        .claim("aud", json!("planner"))
        .issue();
    let subject = move || {
        let token = SubjectToken::id_token(id_token.as_str());
        async { Ok(token) }
    };
    let at_provider = ClientCredentials::secret("planner", SECRET);
    let provider =
        IdentityProvider::new(format!("{}/token", platform.issuer()), at_provider, subject);
    let workload = platform.token("workload").typ("JWT");
    let workload = workload
        .claim("aud", json!(world.authorization.issuer()))
        .issue();
    let token = WorkloadToken::function(move || {
        let token = Secret::from(workload.as_str());
        async { Ok(token) }
    });
    let refused = WorkloadToken::function(|| async { Ok(Secret::from("can4ry-platform-token")) });
    let panics = Callback::new(REDIRECT_URI, |request| async move {
        record(&format!("{request:?}"));
        panic!("expected by the test")
    });
    record(&format!(
        "{:?} {keyed:?} {provider:?} {token:?} {key:?} {panics:?}",
        secret()
    ));
    vec![
        world.user(),
        world.user().client(secret()),
        world.user().dpop(),
        OAuth::client_credentials(secret()),
        OAuth::client_credentials(keyed).dpop(),
        OAuth::enterprise("test client", provider).client(secret()),
        OAuth::workload(public.clone(), token),
        OAuth::workload(public, refused),
        OAuth::token_source(|| async { Ok(Secret::from("can4ry-token-of-a-source")) }),
        OAuth::callback("test client", panics),
    ]
}

/// Returns an identity provider and platform, and a server that trusts it.
async fn start(key: &SigningKey) -> (TestAuthorizationServer, World) {
    let client = TestClient::secret("planner", SECRET);
    let platform = TestAuthorizationServer::builder().client(client).start();
    let platform = platform.await.expect("a free port");
    let keys = json!({"keys": [key.public_jwk()]});
    let world = World::with(
        |builder| {
            let builder =
                builder.client(TestClient::secret("planner", SECRET).redirect_uri(REDIRECT_URI));
            let builder = builder.client(TestClient::jwks("keyed", keys));
            builder.client(TestClient::public("public"))
        },
        |resource| resource.dpop(Dpop::optional()),
    );
    let world = world.await;
    (platform, world)
}

#[tokio::test]
async fn no_flow_writes_a_secret() {
    start_recording();
    let key = SigningKey::generate().expect("a key");
    let ((platform, world), spy) = (start(&key).await, Spy::default());
    for oauth in clients(&world, &platform, &key) {
        run(&world, oauth, &spy).await;
    }
    spy.secrets.add_requests(&platform);
    for grant in [
        "authorization_code",
        "refresh_token",
        "client_credentials",
        "urn:ietf:params:oauth:grant-type:jwt-bearer",
    ] {
        let requests = world.token_requests();
        assert!(
            requests
                .iter()
                .any(|request| request.parameter("grant_type") == Some(grant)),
            "{grant}"
        );
    }
    // Codes, verifiers, tokens and assertions of all these flows.
    assert!(spy.secrets.len() > 20, "{}", spy.secrets.len());
    spy.secrets.check();
    world.finish().await;
}

#[tokio::test]
async fn no_response_of_a_hostile_server_is_shown() {
    start_recording();
    let key = SigningKey::generate().expect("a key");
    let ((platform, world), spy) = (start(&key).await, Spy::default());
    for (endpoint, body) in [
        (Endpoint::Token, "can4ry"),
        (
            Endpoint::Token,
            r#"{"access_token":"can4ry\r\nX-Evil: 1","token_type":"Bearer"}"#,
        ),
        (
            Endpoint::Token,
            r#"{"access_token":["can4ry"],"token_type":"can4ry"}"#,
        ),
        (
            Endpoint::Registration,
            r#"{"client_id":7,"client_secret":"can4ry"}"#,
        ),
        (Endpoint::OAuthMetadata, r#"{"issuer":["can4ry"]}"#),
    ] {
        world.authorization.clear_faults();
        world
            .authorization
            .inject(Fault::Body(endpoint, body.into()));
        for oauth in clients(&world, &platform, &key) {
            run(&world, oauth, &spy).await;
        }
    }
    spy.secrets.check();
    world.finish().await;
}

#[tokio::test]
async fn a_store_in_files_writes_no_secret() {
    start_recording();
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("tokens");
    let text = STANDARD.encode(b"can4ry-can4ry-can4ry-can4ry-cana");
    let key: FileStoreKey = text.parse().expect("a key");
    let builder = FileStore::builder("planner")
        .directory(&path)
        .key(key.clone());
    record(&format!("{key:?} {builder:?}"));
    let store = builder.open().expect("a store");
    let name = StoreKey::server("https://example.com/mcp");
    let generation = "00112233445566778899aabbccddeeff"
        .parse()
        .expect("a generation");
    let entry = || StoredEntry::new(generation, Secret::from("can4ry-text"));
    store.store(&name, entry()).await.expect("stored");
    record(&format!("{store:?} {:?}", store.load(&name).await));
    for file in std::fs::read_dir(&path).expect("a directory") {
        std::fs::write(file.expect("a file").path(), "can4ry-damaged").expect("written");
    }
    assert!(store.load(&name).await.expect("no error").is_none());
    let secrets = Secrets::default();
    secrets.add(&text);
    secrets.check();
    let log = log();
    assert!(
        log.contains("the stored entry is damaged"),
        "events are recorded"
    );
}

//! No secret is in a log, an error, a `Debug` output or a panic. AUTH-X-18, AUTH-C-05, AUTH-C-149.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use treenail::auth::testing::{Endpoint, Fault, TestAuthorizationServer, TestClient};
use treenail::auth::{
    Callback, ClientCredentials, Dpop, FileStore, FileStoreKey, Generation, IdentityProvider,
    MemoryStore, OAuth, Secret, SigningKey, StoreFuture, StoreKey, StoreLock, StoredEntry,
    SubjectToken, TokenStore, WorkloadToken,
};

use crate::fixture::{REDIRECT_URI, World, extensions};

/// Part of every secret of these tests.
const CANARY: &str = "can4ry";
const SECRET: &str = "can4ry-client-secret";

/// Everything that the process has written since the start of the tests.
static LOG: Mutex<String> = Mutex::new(String::new());

fn record(text: &str) {
    let mut log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = writeln!(log, "{text}");
}

/// Records all spans and events of all levels, and the messages of panics.
struct Recorder;

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields(span.metadata().name().to_owned());
        span.record(&mut fields);
        record(&fields.0);
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        let mut fields = Fields(String::new());
        values.record(&mut fields);
        record(&fields.0);
    }

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields(event.metadata().target().to_owned());
        event.record(&mut fields);
        record(&fields.0);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

fn start_recording() {
    static STARTED: OnceLock<()> = OnceLock::new();
    STARTED.get_or_init(|| {
        tracing::subscriber::set_global_default(Recorder).expect("the only subscriber");
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            record(&panic.to_string());
            before(panic);
        }));
    });
}

/// Records an error with its causes, in both forms.
fn record_error(error: &(dyn std::error::Error + 'static)) {
    let mut cause = Some(error);
    while let Some(error) = cause {
        record(&format!("{error} {error:?} {error:#?}"));
        cause = error.source();
    }
}

/// Store in memory that remembers each secret of its entries.
#[derive(Clone, Debug, Default)]
struct Spy {
    store: Arc<MemoryStore>,
    secrets: Secrets,
}

/// Secrets that were seen. `Debug` is that of a type with secrets in a program.
#[derive(Clone, Default)]
struct Secrets(Arc<Mutex<BTreeSet<String>>>);

impl std::fmt::Debug for Secrets {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Secrets")
    }
}

impl Secrets {
    fn add(&self, secret: &str) {
        // Shorter texts, such as ids, may be in a log by chance.
        if secret.len() >= 12 {
            let mut secrets = self.0.lock().expect("no panic");
            secrets.insert(secret.to_owned());
        }
    }

    /// Adds the secrets of the requests that an authorization server has received.
    fn add_requests(&self, server: &TestAuthorizationServer) {
        const NAMES: [&str; 8] = [
            "assertion",
            "client_assertion",
            "client_secret",
            "code",
            "code_verifier",
            "refresh_token",
            "subject_token",
            "token",
        ];
        for request in server.requests() {
            for name in NAMES {
                self.add(request.parameter(name).unwrap_or_default());
            }
            for header in ["authorization", "dpop"] {
                let value = request
                    .headers
                    .get(header)
                    .and_then(|value| value.to_str().ok());
                let value = value.unwrap_or_default();
                self.add(value.split(' ').next_back().unwrap_or_default());
            }
        }
    }

    fn len(&self) -> usize {
        self.0.lock().expect("no panic").len()
    }

    /// Checks that no secret was written.
    fn check(&self) {
        let log = LOG.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let secrets = self.0.lock().expect("no panic").clone();
        for secret in secrets.iter().map(String::as_str).chain([CANARY]) {
            let line = log.lines().find(|line| line.contains(secret));
            assert!(line.is_none(), "{secret}: {line:?}");
        }
    }
}

impl TokenStore for Spy {
    fn load<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, Option<StoredEntry>> {
        self.store.load(key)
    }

    fn store<'a>(&'a self, key: &'a StoreKey, entry: StoredEntry) -> StoreFuture<'a, ()> {
        record(&format!("{key:?} {key} {entry:?}"));
        let members: Value = serde_json::from_str(entry.text.expose()).expect("JSON");
        for name in ["access_token", "refresh_token", "client_secret", "pkcs8"] {
            self.secrets.add(members[name].as_str().unwrap_or_default());
        }
        self.store.store(key, entry)
    }

    fn delete<'a>(&'a self, key: &'a StoreKey, generation: Generation) -> StoreFuture<'a, bool> {
        self.store.delete(key, generation)
    }

    fn lock<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, StoreLock> {
        self.store.lock(key)
    }
}

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
    let client = TestClient::with_secret("planner", SECRET);
    let platform = TestAuthorizationServer::builder().client(client).start();
    let platform = platform.await.expect("a free port");
    let keys = json!({"keys": [key.public_jwk()]});
    let world = World::with(
        |builder| {
            let builder = builder
                .client(TestClient::with_secret("planner", SECRET).redirect_uri(REDIRECT_URI));
            let builder = builder.client(TestClient::with_keys("keyed", keys));
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
    let log = LOG.lock().unwrap_or_else(PoisonError::into_inner).clone();
    assert!(
        log.contains("the stored entry is damaged"),
        "events are recorded"
    );
}

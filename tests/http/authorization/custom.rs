//! An authorizer of the program, in place of a resource server.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::request::Parts;
use http::{Response, StatusCode};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};
use treenail::context::Principal;
use treenail::http::{AuthorizeFuture, Authorized, HttpAuthorizer, HttpBody, http_service};
use treenail::scope::{Access, Authority, RequiredScopes};

use super::{LIFETIME, builder, tool};
use crate::client::{Post, next};

/// Accepts one key, whose requests end `LIFETIME` later, and the key `endless`.
#[derive(Debug)]
struct ApiKey(&'static str);

/// The scopes of all callers.
#[derive(Debug, Default)]
struct Reader(RequiredScopes);

impl Authority for Reader {
    fn has_scope(&self, scope: &str) -> bool {
        scope == "files:read"
    }

    fn base(&self) -> &RequiredScopes {
        &self.0
    }

    fn refusal(&self, scopes: &str) -> Value {
        json!({ "scopes": scopes })
    }
}

fn respond(status: StatusCode, text: impl Into<Bytes>) -> Response<Bytes> {
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    response
}

impl HttpAuthorizer for ApiKey {
    fn host(&self) -> &'static str {
        "mcp.example.com"
    }

    fn serves(&self, path: &str) -> bool {
        path == "/keys"
    }

    fn document(&self, _: &Parts) -> Response<Bytes> {
        respond(StatusCode::OK, "how to get a key")
    }

    fn authorize<'a>(&'a self, parts: &'a Parts) -> AuthorizeFuture<'a> {
        let key = parts.headers.get("authorization");
        let key = key.filter(|key| *key == self.0 || *key == "endless");
        let caller = key.map(|key| {
            let access = Access::new(Reader::default());
            let mut caller = Authorized::new(Principal::new("alice"), access);
            caller.expires_at = (key == self.0).then(|| SystemTime::now() + LIFETIME);
            caller
        });
        Box::pin(async { caller.ok_or_else(|| respond(StatusCode::UNAUTHORIZED, "no key")) })
    }

    fn forbid(&self, _: &Authorized, scopes: &str) -> Response<Bytes> {
        respond(StatusCode::FORBIDDEN, scopes.to_owned())
    }
}

#[tokio::test]
async fn a_service_accepts_an_authorizer_of_the_program() {
    let shared: Arc<dyn HttpAuthorizer> = Arc::new(ApiKey("key"));
    let service = || http_service(builder().build().unwrap());
    for service in [
        service().authorize(ApiKey("key")).unwrap(),
        service().authorize(shared).unwrap(),
    ] {
        let keyed = |name: &str| tool(name).with("authorization", "key");
        let response = keyed("about").send(&service).await;
        assert_eq!(response.status, 200, "{response:?}");
        let response = keyed("about")
            .with("host", "mcp.example.com")
            .send(&service);
        assert_eq!(response.await.status, 200, "its host is allowed");
        let response = tool("about").send(&service).await;
        assert_eq!(response.status, 401);
        assert_eq!(response.body, "no key");
        let response = keyed("audit").send(&service).await;
        assert_eq!(response.status, 403);
        assert_eq!(response.body, "files:audit");
        let document = Post::raw("").method("GET").at("/keys").send(&service).await;
        assert_eq!(document.body, "how to get a key");
    }
}

#[tokio::test(start_paused = true)]
async fn the_streams_of_its_callers_end_at_their_expiry() {
    let service = http_service(builder().build().unwrap());
    let service = service.authorize(ApiKey("key")).unwrap();
    let filter = json!({"notifications": {"resourceSubscriptions": ["file:///x"]}});
    let listen = Post::modern("subscriptions/listen", filter).with("authorization", "key");
    let start = Instant::now();
    let response = listen.begin(&service).await;
    assert_eq!(response.status(), 200);
    read_to_end(response.into_body()).await;
    // The time of the system has passed beside the paused clock, too.
    let (elapsed, tolerance) = (start.elapsed(), Duration::from_secs(5));
    assert!(elapsed + tolerance > LIFETIME, "{elapsed:?}");
    assert!(elapsed < LIFETIME + tolerance, "{elapsed:?}");
}

async fn read_to_end(mut body: HttpBody) {
    while next(&mut body).await.is_some() {}
}

#[tokio::test(start_paused = true)]
async fn the_stream_of_a_session_outlives_the_first_key_if_another_has_no_expiry() {
    for (first, second) in [("key", "endless"), ("endless", "key")] {
        let service = http_service(builder().build().unwrap());
        let service = service.authorize(ApiKey("key")).unwrap();
        let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }});
        let post = Post::raw(initialize.to_string()).with("authorization", first);
        let response = post.send(&service).await;
        let session = response.header("mcp-session-id").unwrap();
        let get = Post::raw("").method("GET");
        let get = get.with("accept", "text/event-stream");
        let get = get
            .with("mcp-session-id", session)
            .with("authorization", second);
        let response = get.begin(&service).await;
        assert_eq!(response.status(), 200);
        let ended = timeout(2 * LIFETIME, read_to_end(response.into_body())).await;
        assert!(ended.is_err(), "{first} {second}");
    }
}

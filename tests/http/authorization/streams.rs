//! Streams of a caller whose token expires. The clock is paused, and advances while all tasks wait.

use std::time::Duration;

use http_body::Body as _;
use serde_json::{Value, json};
use tokio::time::Instant;
use treenail::http::HttpBody;
use treenail::schema::Revision;

use super::{Guarded, LEEWAY, LIFETIME, expect_forbidden, tool, with_token};
use crate::client::{Post, messages, next};

/// Reads a stream to its end, and returns its text and the time that it took.
async fn read(mut body: HttpBody) -> (String, Duration) {
    let start = Instant::now();
    let mut text = String::new();
    while let Some(data) = next(&mut body).await {
        text.push_str(std::str::from_utf8(&data).unwrap());
    }
    assert!(body.is_end_stream() || text.is_empty() || !text.contains("id:"));
    (text, start.elapsed())
}

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": Revision::V2025_06_18.as_str(),
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }})
}

struct Session<'a> {
    guarded: &'a Guarded,
    id: String,
}

impl<'a> Session<'a> {
    async fn start(guarded: &'a Guarded, token: &str) -> Self {
        let response = guarded
            .send(Post::raw(initialize().to_string()), token)
            .await;
        let id = response.header("mcp-session-id").unwrap().to_owned();
        let session = Self { guarded, id };
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let response = guarded.send(session.post(&initialized), token).await;
        response.expect_accepted("SRV-LHTTP-02");
        session
    }

    fn post(&self, message: &Value) -> Post {
        Post::raw(message.to_string()).with("mcp-session-id", &self.id)
    }

    async fn listen(&self, token: &str) -> HttpBody {
        let get = self
            .post(&Value::Null)
            .method("GET")
            .with("accept", "text/event-stream");
        let response = with_token(get, token).begin(&self.guarded.service).await;
        assert_eq!(response.status(), 200);
        response.into_body()
    }
}

/// Expects a stream to have ended after this time. Tokens expire by the clock of the system, which goes on while the paused clock stands
/// still, so the stream may end a little earlier.
#[track_caller]
fn expect_end(elapsed: Duration, expected: Duration, case: &str) {
    let second = Duration::from_secs(1);
    let range = expected.saturating_sub(10 * second)..expected + second;
    assert!(range.contains(&elapsed), "{case}: {elapsed:?}");
}

#[tokio::test(start_paused = true)]
async fn a_listening_stream_ends_when_the_token_expires() {
    let guarded = Guarded::new();
    let token = guarded.token("files:read");
    let session = Session::start(&guarded, &token).await;
    let (_, elapsed) = read(session.listen(&token).await).await;
    expect_end(elapsed, LIFETIME + LEEWAY, "AUTH-R-51 AUTH-X-30");
}

#[tokio::test(start_paused = true)]
async fn a_later_token_of_the_session_extends_the_stream() {
    let guarded = Guarded::new();
    let token = guarded.token("files:read");
    let session = Session::start(&guarded, &token).await;
    let body = session.listen(&token).await;
    let renewed = guarded.issue(super::ISSUER, "alice", |token| token.expires_at += LIFETIME);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    assert_eq!(
        guarded.send(session.post(&ping), &renewed).await.status,
        200
    );
    let (_, elapsed) = read(body).await;
    expect_end(elapsed, LIFETIME * 2 + LEEWAY, "AUTH-R-51");
}

#[tokio::test(start_paused = true)]
async fn a_subscription_ends_when_the_token_expires() {
    let guarded = Guarded::new();
    let token = guarded.token("files:read");
    let filter = json!({"notifications": {"resourceSubscriptions": ["file:///x"]}});
    let listen = with_token(Post::modern("subscriptions/listen", filter), &token);
    let response = listen.begin(&guarded.service).await;
    assert_eq!(response.status(), 200);
    let (text, elapsed) = read(response.into_body()).await;
    assert!(text.contains("file:///x"), "{text}");
    let last = messages(&text).pop().unwrap();
    assert_eq!(last["id"], 1, "SRV-SUB-07: {text}");
    let result = &last["result"];
    assert_eq!(result["resultType"], "complete", "SRV-SUB-07: {text}");
    let subscription = &result["_meta"]["io.modelcontextprotocol/subscriptionId"];
    assert_eq!(*subscription, 1, "SRV-SUB-07: {text}");
    expect_end(elapsed, LIFETIME + LEEWAY, "AUTH-R-51 AUTH-X-30");
}

#[tokio::test(start_paused = true)]
async fn a_running_call_is_finished() {
    let guarded = Guarded::new();
    let token = guarded.token("");
    let call = tool("wait").change(|body| body["params"]["_meta"]["progressToken"] = 1.into());
    let response = with_token(call, &token).begin(&guarded.service).await;
    let (text, elapsed) = read(response.into_body()).await;
    assert!(text.contains("waited"), "AUTH-R-51: {text}");
    assert!(elapsed >= (LIFETIME + LEEWAY) * 2, "AUTH-R-51: {elapsed:?}");
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_http_sse_has_only_running_calls_after_the_token() {
    let guarded = Guarded::new();
    let token = guarded.token("files:read");
    let get = Post::raw("").method("GET").at("/sse");
    let get = with_token(get.with("accept", "text/event-stream"), &token);
    let mut body = get.begin(&guarded.service).await.into_body();
    let preamble = next(&mut body).await.unwrap();
    let preamble = std::str::from_utf8(&preamble).unwrap().trim_end();
    let (_, endpoint) = preamble.split_once("data: ").unwrap();
    let send = async |message: Value| {
        let post = Post::raw(message.to_string()).at(endpoint);
        let response = guarded.send(post, &token).await;
        response.expect_accepted("SRV-SSE-03");
    };
    send(initialize()).await;
    send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    let (uri, wait) = (json!({"uri": "file:///x"}), json!({"name": "files.wait"}));
    send(json!({"jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": uri})).await;
    send(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": wait})).await;
    tokio::time::sleep(LIFETIME + LEEWAY).await;
    guarded.service.server().resource_updated("file:///x");
    let (text, elapsed) = read(body).await;
    assert!(
        !text.contains("resources/updated"),
        "AUTH-R-51 AUTH-X-30: {text}"
    );
    assert!(text.contains("waited"), "AUTH-R-51: {text}");
    assert!(
        elapsed < LIFETIME + LEEWAY + Duration::from_secs(1),
        "AUTH-R-51: {elapsed:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn scopes_that_were_taken_away_are_missing_next_time() {
    let guarded = Guarded::new();
    let session = Session::start(&guarded, &guarded.token("files:write")).await;
    let params = json!({"name": "files.write"});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let response = guarded.send_with(session.post(&call), "files:write").await;
    assert_eq!(response.status, 200);
    let response = guarded.send_with(session.post(&call), "files:read").await;
    expect_forbidden(&response, "files:write", "AUTH-X-30");
    guarded.clock.advance(LIFETIME + LEEWAY);
    let late = treenail::auth::VerifiedToken::new(
        super::ISSUER,
        "alice",
        [super::RESOURCE],
        guarded.clock.now() - LEEWAY,
    );
    let late = guarded.answer(Ok(late));
    assert_eq!(
        guarded.send(session.post(&call), &late).await.status,
        401,
        "AUTH-R-11"
    );
}

#[tokio::test(start_paused = true)]
async fn a_function_can_close_its_stream() {
    let guarded = Guarded::of(crate::fixture::builder(), |resource| resource);
    let token = guarded.token("");
    let send = async |post| guarded.send(post, &token).await;
    let session = super::session::Session::start(Revision::V2025_11_25, send).await;
    let params = json!({"name": "nap", "arguments": {"tell": false}});
    let response = send(session.request("tools/call", &params)).await;
    assert!(
        !response.body.contains("rested"),
        "SRV-LHTTP-04: {response:?}"
    );
    let id = response
        .body
        .lines()
        .find_map(|line| line.strip_prefix("id: "));
    let get = session.listen().with("last-event-id", id.unwrap());
    let rest = send(get).await;
    assert!(rest.body.contains("rested"), "SRV-LHTTP-10: {rest:?}");
}

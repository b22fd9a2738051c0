//! Requests without a valid token.

use std::sync::atomic::Ordering;

use serde_json::json;
use treenail::schema::Revision;

use super::{Guarded, METADATA, expect_challenge, tool, with_token};
use crate::client::{Chunks, Post};

fn get(path: &str) -> Post {
    Post::raw("")
        .method("GET")
        .at(path)
        .without("content-type")
        .with("accept", "text/event-stream")
}

fn message(method: &str) -> Post {
    Post::raw(json!({"jsonrpc": "2.0", "id": 1, "method": method}).to_string())
}

fn initialize() -> Post {
    let params = json!({
        "protocolVersion": Revision::LATEST_LEGACY.as_str(),
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    Post::raw(
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string(),
    )
}

#[tokio::test]
async fn every_request_needs_a_token() {
    let guarded = Guarded::new();
    let token = guarded.token("files:read");
    let response = guarded.send(initialize(), &token).await;
    assert_eq!(response.status, 200);
    let session = response.header("mcp-session-id").unwrap().to_owned();
    let cases = [
        initialize(),
        message("ping"),
        message("ping").with("mcp-session-id", &session),
        Post::raw(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string())
            .with("mcp-session-id", &session),
        Post::raw(json!({"jsonrpc": "2.0", "id": 1, "result": {}}).to_string())
            .with("mcp-session-id", &session),
        get("/mcp").with("mcp-session-id", &session),
        get("/mcp")
            .method("DELETE")
            .with("mcp-session-id", &session),
        get("/sse"),
        message("ping").at(format!("/messages?sessionId={session}")),
        Post::modern("server/discover", json!({})),
        Post::modern("tools/list", json!({})),
        tool("about"),
        Post::modern("subscriptions/listen", json!({"notifications": {}})),
        Post::raw("").method("PUT"),
        Post::raw("").method("OPTIONS"),
        message("ping").at("/mcp?access_token=token-0"),
        message("ping").with("cookie", "access_token=token-0"),
        message("ping").with("authorization", "Basic YWxpY2U6c2VjcmV0"),
        Post::raw(format!("access_token={token}"))
            .with("content-type", "application/x-www-form-urlencoded"),
    ];
    let challenge = format!("Bearer resource_metadata=\"{METADATA}\", scope=\"files:read\"");
    for post in cases {
        let case = format!(
            "AUTH-R-08 AUTH-R-10 AUTH-R-13 AUTH-X-26: {} {} {}",
            post.method, post.path, post.body
        );
        let response = post.send(&guarded.service).await;
        expect_challenge(&response, 401, &challenge, &case);
        let body =
            json!({"error": "unauthorized", "error_description": "an access token is required"});
        assert_eq!(response.json(), body, "AUTH-R-21");
    }
    let response = guarded.send(
        get("/mcp")
            .method("DELETE")
            .with("mcp-session-id", &session),
        &token,
    );
    assert_eq!(response.await.status, 204, "the session is unchanged");
}

#[tokio::test]
async fn the_challenge_hints_at_the_scopes_of_the_operation() {
    let guarded = Guarded::new();
    let cases = [
        (tool("write"), "files:read files:write"),
        (tool("audit"), "files:audit files:read"),
        (tool("about"), "files:read"),
        (tool("unknown"), "files:read"),
        (
            Post::modern("prompts/get", json!({"name": "files.review"})),
            "files:read files:write",
        ),
        (
            Post::modern("resources/read", json!({"uri": "file:///x"})),
            "files:read",
        ),
        (
            tool("write").with("mcp-method", "prompts/get"),
            "files:read",
        ),
        (tool("write").with("mcp-name", b"\xff"), "files:read"),
    ];
    for (post, scopes) in cases {
        let case = format!("AUTH-R-12: {}", post.body);
        let response = post.send(&guarded.service).await;
        let challenge = format!("Bearer resource_metadata=\"{METADATA}\", scope=\"{scopes}\"");
        expect_challenge(&response, 401, &challenge, &case);
    }
}

#[tokio::test]
async fn checks_have_an_order() {
    let guarded = Guarded::new();
    let (body, taken) = Chunks::endless(vec![b' '; 64 * 1024]);
    let response = tool("about")
        .send_with(&guarded.service, body.of_length(100 << 20))
        .await;
    assert_eq!(response.status, 401, "AUTH-R-09 AUTH-X-27");
    assert_eq!(
        taken.load(Ordering::Relaxed),
        0,
        "AUTH-R-09: no byte of the body is read"
    );
    let invalid = || Post::raw("{");
    let no_scope = guarded.token("");
    let cases = [
        (invalid().with("origin", "https://evil.example"), 403),
        (invalid().with("host", "evil.example"), 403),
        (invalid(), 401),
        (with_token(invalid(), "unknown"), 401),
        (with_token(invalid(), &no_scope), 400),
        (
            with_token(tool("read"), &no_scope).with("content-type", "text/plain"),
            415,
        ),
        (with_token(tool("read"), &no_scope), 403),
    ];
    for (post, status) in cases {
        let case = format!("AUTH-R-09: {:?} {}", post.headers, post.body);
        let response = post.send(&guarded.service).await;
        assert_eq!(response.status, status, "{case}");
    }
}

#[tokio::test]
async fn pages_of_allowed_origins_can_read_challenges() {
    let mut guarded = Guarded::new();
    guarded.service = guarded.service.allow_cors_origin("https://app.example.com");
    let origin = |post: Post| post.with("origin", "https://app.example.com");
    for post in [
        origin(tool("about")),
        with_token(origin(tool("read")), &guarded.token("")),
    ] {
        let response = post.send(&guarded.service).await;
        assert!(response.header("www-authenticate").is_some());
        let exposed = response.header("access-control-expose-headers").unwrap();
        for name in ["www-authenticate", "dpop-nonce"] {
            assert!(exposed.contains(name), "AUTH-R-22: {exposed}");
        }
    }
    let preflight = origin(Post::raw("").method("OPTIONS"))
        .with("access-control-request-method", "POST")
        .with("access-control-request-headers", "authorization, dpop");
    let response = preflight.send(&guarded.service).await;
    assert_eq!(response.status, 204, "a preflight request carries no token");
    let allowed = response.header("access-control-allow-headers");
    assert_eq!(allowed, Some("authorization, dpop"));
}

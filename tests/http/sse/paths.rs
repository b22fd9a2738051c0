//! Paths and access checks of HTTP+SSE.

use http::uri::PathAndQuery;
use serde_json::json;
use treenail::Limits;
use treenail::context::Principal;
use treenail::http::{SsePaths, http_service};
use treenail::schema::Revision;

use super::{Client, get, service, service_within};
use crate::client::Post;
use crate::fixture::builder;

fn ping() -> Post {
    Post::raw(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)
}

#[tokio::test]
async fn the_announced_path_contains_an_unguessable_session_id() {
    let service = service();
    let client = Client::open(&service).await;
    let (path, id) = client.endpoint.split_once("?sessionId=").unwrap();
    assert_eq!(path, "/messages", "SRV-SSE-02");
    assert!(id.len() >= 22, "SRV-LHTTP-23: {id}");
    let other = Client::open(&service).await;
    assert_ne!(other.endpoint, client.endpoint, "SRV-LHTTP-23");
}

#[tokio::test]
async fn http_sse_is_off_by_default() {
    let service = http_service(builder().build().unwrap());
    // The requests are then handled by the endpoint, and lack its required headers.
    assert_eq!(get().send(&service).await.status, 400);
    let post = ping().at("/messages?sessionId=x");
    assert_eq!(post.send(&service).await.status, 400);
}

#[tokio::test]
async fn the_paths_can_be_chosen() {
    let paths = SsePaths::default()
        .stream(PathAndQuery::from_static("/events"))
        .messages(PathAndQuery::from_static("/inbox"))
        .announced(PathAndQuery::from_static("/api/inbox"));
    let service = http_service(builder().build().unwrap()).legacy_sse(paths);
    let response = get().at("/events").begin(&service).await;
    let (name, endpoint) = super::Stream::new(response).event().await.unwrap();
    assert_eq!(name, "endpoint", "SRV-SSE-02");
    assert!(endpoint.starts_with("/api/inbox?sessionId="), "{endpoint}");
    let unknown = ping().at("/inbox?sessionId=guessed").send(&service).await;
    assert_eq!(unknown.status, 404);
}

#[tokio::test]
async fn the_announced_path_can_have_a_query() {
    let at = PathAndQuery::from_static;
    let paths = [
        (at("/inbox?tenant=7"), None),
        (at("/inbox"), Some(at("/inbox?tenant=7"))),
    ];
    for (messages, announced) in paths {
        let paths = SsePaths::default().stream(at("/events"));
        let paths = paths.messages(messages).announced(announced);
        let service = http_service(builder().build().unwrap()).legacy_sse(paths);
        let response = get().at("/events").begin(&service).await;
        let mut stream = super::Stream::new(response);
        let (_, endpoint) = stream.event().await.unwrap();
        assert!(
            endpoint.starts_with("/inbox?tenant=7&sessionId="),
            "SRV-SSE-02: {endpoint}"
        );
        let response = ping().at(endpoint).send(&service).await;
        response.expect_accepted("SRV-SSE-03");
    }
}

#[tokio::test]
async fn each_path_has_one_method() {
    let service = service();
    for method in ["POST", "PUT", "DELETE", "HEAD"] {
        let response = get().method(method).send(&service).await;
        assert_eq!(
            (response.status.as_u16(), response.header("allow")),
            (405, Some("GET")),
            "SRV-SSE-01, CLI-ERA-11: {method}"
        );
    }
    for method in ["GET", "PUT", "DELETE"] {
        let response = ping().at("/messages").method(method).send(&service).await;
        assert_eq!(
            (response.status.as_u16(), response.header("allow")),
            (405, Some("POST")),
            "SRV-SSE-01: {method}"
        );
    }
}

#[tokio::test]
async fn other_origins_and_hosts_are_rejected() {
    let service = service();
    let client = Client::open(&service).await;
    for (name, value) in [("origin", "https://evil.example"), ("host", "evil.example")] {
        let response = get().with(name, value).send(&service).await;
        assert_eq!(response.status, 403, "SRV-SSE-04: {name}");
        let post = ping().at(&client.endpoint).with(name, value);
        assert_eq!(post.send(&service).await.status, 403, "SRV-SSE-04: {name}");
    }
}

#[tokio::test]
async fn invalid_posts_are_rejected() {
    let limits = Limits::default().message_bytes(1_000);
    let service = service_within(limits);
    let client = Client::start(&service, Revision::V2024_11_05).await;
    let here = |post: Post| post.at(&client.endpoint);
    let cases = [
        (400, "no session", ping().at("/messages")),
        (400, "another query", ping().at("/messages?session=x")),
        (404, "a guess", ping().at("/messages?sessionId=guessed")),
        (400, "not JSON", here(Post::raw("{"))),
        (400, "not a message", here(Post::raw("[]"))),
        (
            415,
            "not declared as JSON",
            here(ping().with("content-type", "text/plain")),
        ),
        (413, "too long", here(Post::raw(" ".repeat(1_001)))),
        (
            400,
            "no such revision",
            here(ping().with("mcp-protocol-version", "1999-01-01")),
        ),
        (
            400,
            "the modern era",
            here(Post::tool("add", json!({"a": 2, "b": 3}))),
        ),
    ];
    for (status, description, post) in cases {
        let response = post.send(&service).await;
        assert_eq!(response.status, status, "{description}: {response:?}");
    }
    client.ping().await.expect_accepted("the session continues");
    let response = get()
        .with("accept", "application/json")
        .send(&service)
        .await;
    assert_eq!(response.status, 406);
}

#[tokio::test]
async fn modern_probes_get_an_error_on_the_stream() {
    let service = service();
    let mut client = Client::open(&service).await;
    // Before and after the handshake.
    for _ in 0..2 {
        for method in ["server/discover", "subscriptions/listen"] {
            let post = Post::modern(method, json!({})).at(&client.endpoint);
            post.send(&service).await.expect_accepted("SRV-SSE-03");
            let response = client.stream().message().await;
            assert_eq!(
                (&response["id"], &response["error"]["code"]),
                (&json!(1), &json!(-32601))
            );
        }
        client = Client::start(&service, Revision::V2024_11_05).await;
    }
    let nowhere = Post::modern("server/discover", json!({})).at("/messages?sessionId=guessed");
    assert_eq!(nowhere.send(&service).await.status, 404);
}

#[tokio::test]
async fn a_trailing_slash_is_ignored() {
    let service = service();
    let stream = get().at("/sse/").begin(&service).await;
    assert_eq!(stream.status(), 200);
    let client = Client::open(&service).await;
    let endpoint = client.endpoint.replace("/messages?", "/messages/?");
    let response = ping().at(endpoint).send(&service).await;
    response.expect_accepted("SRV-SSE-03");
}

#[tokio::test]
async fn sessions_cannot_be_used_with_the_other_transport() {
    let service = service();
    let client = Client::start(&service, Revision::V2025_11_25).await;
    let (_, id) = client.endpoint.split_once('=').unwrap();
    let response = ping().with("mcp-session-id", id).send(&service).await;
    assert_eq!(response.status, 404);
    let streamable = crate::legacy::Client::start(&service, Revision::V2025_11_25).await;
    let post = ping().at(format!("/messages?sessionId={}", streamable.session));
    assert_eq!(post.send(&service).await.status, 404);
}

#[tokio::test]
async fn a_session_belongs_to_its_principal() {
    let service = service();
    let client = Client::open(&service).await;
    let response = ping()
        .at(&client.endpoint)
        .send_as(&service, Principal::new("ada"))
        .await;
    assert_eq!(response.status, 404, "SRV-LHTTP-22");
    client.ping().await.expect_accepted("SRV-LHTTP-22");
}

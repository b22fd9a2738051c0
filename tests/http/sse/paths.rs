//! Where it is found, and who may ask.

use http::uri::PathAndQuery;
use serde_json::json;
use treenail::schema::Revision;
use treenail::{Limits, Principal, SsePaths, http_service};

use super::{Client, get, service, service_within};
use crate::client::Post;
use crate::fixture::builder;

fn ping() -> Post {
    Post::raw(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)
}

#[tokio::test]
async fn the_endpoint_is_a_path_of_its_own_that_nobody_can_guess() {
    let service = service();
    let client = Client::open(&service).await;
    let (path, id) = client.endpoint.split_once("?sessionId=").unwrap();
    assert_eq!(path, "/messages", "SRV-SSE-02");
    assert!(id.len() >= 22, "SRV-LHTTP-23: {id}");
    let other = Client::open(&service).await;
    assert_ne!(other.endpoint, client.endpoint, "SRV-LHTTP-23");
}

#[tokio::test]
async fn it_is_off_unless_it_is_asked_for() {
    let service = http_service(builder().build().unwrap());
    // These are requests to the endpoint then, and lack what that asks for.
    assert_eq!(get().send(&service).await.status, 400);
    let post = ping().at("/messages?sessionId=x");
    assert_eq!(post.send(&service).await.status, 400);
}

#[tokio::test]
async fn the_paths_can_be_chosen() {
    let paths = SsePaths {
        stream: PathAndQuery::from_static("/events"),
        messages: PathAndQuery::from_static("/inbox"),
        announced: Some(PathAndQuery::from_static("/api/inbox")),
    };
    let service = http_service(builder().build().unwrap()).legacy_sse(paths);
    let response = get().at("/events").begin(&service).await;
    let (name, endpoint) = super::Stream::new(response).event().await.unwrap();
    assert_eq!(name, "endpoint", "SRV-SSE-02");
    assert!(endpoint.starts_with("/api/inbox?sessionId="), "{endpoint}");
    let unknown = ping().at("/inbox?sessionId=guessed").send(&service).await;
    assert_eq!(unknown.status, 404);
}

#[tokio::test]
async fn each_path_has_one_method() {
    let service = service();
    for method in ["POST", "PUT", "DELETE", "HEAD"] {
        let answer = get().method(method).send(&service).await;
        assert_eq!(
            (answer.status.as_u16(), answer.header("allow")),
            (405, Some("GET")),
            "SRV-SSE-01, CLI-ERA-11: {method}"
        );
    }
    for method in ["GET", "PUT", "DELETE"] {
        let answer = ping().at("/messages").method(method).send(&service).await;
        assert_eq!(
            (answer.status.as_u16(), answer.header("allow")),
            (405, Some("POST")),
            "SRV-SSE-01: {method}"
        );
    }
}

#[tokio::test]
async fn other_origins_and_hosts_are_refused() {
    let service = service();
    let client = Client::open(&service).await;
    for (name, value) in [("origin", "https://evil.example"), ("host", "evil.example")] {
        let answer = get().with(name, value).send(&service).await;
        assert_eq!(answer.status, 403, "SRV-SSE-04: {name}");
        let post = ping().at(&client.endpoint).with(name, value);
        assert_eq!(post.send(&service).await.status, 403, "SRV-SSE-04: {name}");
    }
}

#[tokio::test]
async fn what_is_no_message_of_the_session_is_refused() {
    let limits = Limits::default().message_bytes(1_000);
    let service = service_within(limits);
    let client = Client::begin(&service, Revision::V2024_11_05).await;
    let here = |post: Post| post.at(&client.endpoint);
    let cases = [
        (400, "no session", ping().at("/messages")),
        (400, "another query", ping().at("/messages?session=x")),
        (404, "a guess", ping().at("/messages?sessionId=guessed")),
        (400, "not JSON", here(Post::raw("{"))),
        (400, "not a message", here(Post::raw("[]"))),
        (
            415,
            "not said to be JSON",
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
    for (status, why, post) in cases {
        let answer = post.send(&service).await;
        assert_eq!(answer.status, status, "{why}: {answer:?}");
    }
    client.ping().await.is_accepted("the session goes on");
    let answer = get()
        .with("accept", "application/json")
        .send(&service)
        .await;
    assert_eq!(answer.status, 406);
}

#[tokio::test]
async fn a_client_that_asks_for_the_modern_era_is_answered_on_the_stream() {
    let service = service();
    let mut client = Client::open(&service).await;
    // Before the handshake, and after it.
    for _ in 0..2 {
        for method in ["server/discover", "subscriptions/listen"] {
            let post = Post::modern(method, json!({})).at(&client.endpoint);
            post.send(&service).await.is_accepted("SRV-SSE-03");
            let answer = client.stream().message().await;
            assert_eq!(
                (&answer["id"], &answer["error"]["code"]),
                (&json!(1), &json!(-32601))
            );
        }
        client = Client::begin(&service, Revision::V2024_11_05).await;
    }
    let nowhere = Post::modern("server/discover", json!({})).at("/messages?sessionId=guessed");
    assert_eq!(nowhere.send(&service).await.status, 404);
}

#[tokio::test]
async fn a_slash_at_the_end_makes_no_difference() {
    let service = service();
    let stream = get().at("/sse/").begin(&service).await;
    assert_eq!(stream.status(), 200);
    let client = Client::open(&service).await;
    let endpoint = client.endpoint.replace("/messages?", "/messages/?");
    let answer = ping().at(endpoint).send(&service).await;
    answer.is_accepted("SRV-SSE-03");
}

#[tokio::test]
async fn sessions_of_the_two_transports_are_not_each_others() {
    let service = service();
    let client = Client::begin(&service, Revision::V2025_11_25).await;
    let (_, id) = client.endpoint.split_once('=').unwrap();
    let answer = ping().with("mcp-session-id", id).send(&service).await;
    assert_eq!(answer.status, 404);
    let streamable = crate::legacy::Client::begin(&service, Revision::V2025_11_25).await;
    let post = ping().at(format!("/messages?sessionId={}", streamable.session));
    assert_eq!(post.send(&service).await.status, 404);
}

#[tokio::test]
async fn a_session_belongs_to_who_opened_it() {
    let service = service();
    let client = Client::open(&service).await;
    let answer = ping()
        .at(&client.endpoint)
        .send_as(&service, Principal::new("ada"))
        .await;
    assert_eq!(answer.status, 404, "SRV-LHTTP-22");
    client.ping().await.is_accepted("SRV-LHTTP-22");
}

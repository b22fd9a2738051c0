//! Bodies: the outcomes of requests that are no valid message, in the order of annex C.

use serde_json::json;
use treenail::prelude::*;

use super::add;
use super::fixture::service;
use crate::client::{MODERN, Post};

#[tokio::test]
async fn the_response_to_a_call_is_json() {
    let response = add().send(&service()).await;
    assert_eq!(response.status, 200, "SRV-HTTP-01: {response:?}");
    assert_eq!(
        response.json()["result"]["structuredContent"],
        5,
        "SRV-HTTP-08"
    );
    assert_eq!(response.header("cache-control"), Some("no-store"));
    let more = add()
        .with("mcp-session-id", "abc")
        .with("last-event-id", "7");
    let response = more.send(&service()).await;
    assert_eq!(
        response.status, 200,
        "SRV-ERA-11, ALL-HTTP-01: {response:?}"
    );
    assert_eq!(response.header("mcp-session-id"), None, "SRV-ERA-11");
}

#[tokio::test]
async fn bodies_that_are_not_json_are_rejected() {
    let service = service();
    let cases = [
        (add().with("content-type", "text/plain"), 415),
        (add().without("content-type"), 415),
        (add().with("accept", "application/json"), 406),
        (add().with("accept", "text/html"), 406),
        (add().method("PUT"), 405),
        (add().method("PATCH"), 405),
        (add().method("OPTIONS"), 405),
        (add().method("GET"), 405),
        (add().method("DELETE"), 405),
    ];
    for (post, status) in cases {
        let response = post.send(&service).await;
        assert_eq!(response.status, status, "{response:?}");
        let allowed = (status == 405).then_some("GET, POST, DELETE");
        assert_eq!(response.header("allow"), allowed, "RFC 9110, 15.5.6");
    }
    let fine = [
        add().with("content-type", "Application/JSON; charset=utf-8"),
        add().with("accept", "*/*"),
        add()
            .with("accept", "text/event-stream;q=0.5")
            .and("accept", "application/*"),
        add().without("accept"),
    ];
    for post in fine {
        assert_eq!(post.send(&service).await.status, 200);
    }
}

#[tokio::test]
async fn malformed_messages_are_rejected() {
    let service = service();
    let post = |body: &str| {
        let mut post = add();
        post.body = body.to_owned();
        post
    };
    let cases = [
        ("{", -32700),
        ("", -32700),
        ("\u{feff}{}", -32700),
        ("3", -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"tools/list"}"#, -32600),
        (
            r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]"#,
            -32600,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, -32600),
    ];
    for (body, code) in cases {
        post(body)
            .expect_rejected(&service, 400, code, "AMB-13")
            .await;
    }
    let bomb = "[".repeat(1_000_000);
    post(&bomb)
        .expect_rejected(&service, 400, -32600, "a bomb")
        .await;
    let bomb = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{}"#,
        r#"{"a":"#.repeat(100_000)
    );
    post(&bomb)
        .expect_rejected(&service, 400, -32600, "a bomb")
        .await;
}

#[tokio::test]
async fn unknown_methods_are_not_found() {
    let service = service();
    let unknown = Post::modern("tools/fetch", json!({}));
    unknown
        .expect_rejected(&service, 404, -32601, "SRV-HTTP-20")
        .await;
    let handshake = Post::modern("initialize", json!({"protocolVersion": MODERN}));
    handshake
        .expect_rejected(&service, 404, -32601, "AMB-16")
        .await;
    let gone = Post::modern("logging/setLevel", json!({"level": "info"}));
    gone.expect_rejected(&service, 404, -32601, "SRV-HTTP-20")
        .await;
    let bare = treenail::http::http_service(treenail::server!().build().unwrap());
    let none = Post::modern("prompts/list", json!({}));
    none.expect_rejected(&bare, 404, -32601, "SRV-ERR-01").await;
}

#[tokio::test]
async fn notifications_are_accepted() {
    let service = service();
    let notification = |method: &str| {
        Post::raw(json!({"jsonrpc": "2.0", "method": method}).to_string())
            .with("mcp-protocol-version", MODERN)
    };
    let response = notification("notifications/x").send(&service).await;
    assert_eq!(
        (response.status.as_u16(), &*response.body),
        (202, ""),
        "SRV-HTTP-06, AMB-07"
    );
    let wrong = notification("notifications/x").with("mcp-method", "notifications/y");
    wrong
        .expect_rejected(&service, 400, -32020, "SRV-HTTP-07")
        .await;
}

#[tokio::test]
async fn a_server_that_cannot_listen_names_the_address() {
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap();
    let error = treenail::server!().serve_http(address).await.unwrap_err();
    assert!(matches!(error, treenail::Error::Io(_)));
    let debug = format!("{error:?}");
    let expected = format!("cannot listen at {address}: ");
    assert!(debug.starts_with(&expected), "{debug}");
    assert_eq!(debug.lines().count(), 1, "{debug}");
    let error = treenail::server!().serve_http("8080").await.unwrap_err();
    let debug = format!("{error:?}");
    assert!(
        debug.contains("it is written as 127.0.0.1:8080: "),
        "{debug}"
    );
}

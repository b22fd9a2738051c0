//! Malicious requests to the service in memory, which must be rejected before they cost anything.

use std::time::Duration;

use serde_json::json;
use treenail::Limits;
use treenail::limits::HttpLimits;

use crate::client::{Chunks, Post};
use crate::fixture::{service, service_within};

fn add() -> Post {
    Post::tool("add", json!({"a": 2, "b": 3}))
}

#[tokio::test]
async fn other_origins_and_hosts_are_rejected() {
    let open = service()
        .allow_host("mcp.example.com")
        .allow_origin("https://app.example.com")
        .allow_origin("HTTPS://Other.example:443/");
    let cases = [
        (
            add().with("origin", "http://evil.example"),
            403,
            "SRV-HTTP-03",
        ),
        (
            add().with("origin", "http://localhost.evil.example"),
            403,
            "SRV-HTTP-03",
        ),
        (add().with("origin", "null"), 403, "SRV-HTTP-03"),
        (
            add()
                .with("origin", "http://localhost")
                .and("origin", "http://evil.example"),
            403,
            "SRV-HTTP-03",
        ),
        (add().with("host", "evil.example"), 403, "SRV-HTTP-02"),
        (
            add().with("host", "localhost.evil.example:80"),
            403,
            "SRV-HTTP-02",
        ),
        (
            add().with("host", "localhost").and("host", "evil.example"),
            400,
            "SRV-HTTP-02",
        ),
        (add().with("host", "\u{e9}"), 403, "SRV-HTTP-02"),
        (add().without("host"), 400, "SRV-HTTP-02"),
        (
            add().method("GET").with("origin", "http://evil.example"),
            403,
            "SRV-HTTP-02",
        ),
    ];
    for (post, status, description) in cases {
        let response = post.send(&open).await;
        assert_eq!(response.status, status, "{description}: {response:?}");
        assert!(
            !response.body.contains("evil"),
            "the input is not repeated: {response:?}"
        );
        assert_eq!(response.json().get("id"), None, "SRV-HTTP-03");
    }
    let fine = [
        add().with("origin", "http://localhost:5173"),
        add().with("origin", "https://app.example.com"),
        add().with("origin", "https://other.example"),
        add().with("origin", "https://other.example:443"),
        add().with("host", "127.0.0.1:8080"),
        add().with("host", "[::1]:8080"),
        add().with("host", "mcp.example.com"),
    ];
    for post in fine {
        assert_eq!(post.send(&open).await.status, 200);
    }
    let any = service().allow_any_host().allow_any_origin();
    let post = add()
        .with("host", "a.example")
        .with("origin", "https://b.example");
    assert_eq!(post.send(&any).await.status, 200);
}

#[tokio::test]
async fn an_overlong_body_is_not_buffered() {
    let limits = Limits::default().message_bytes(10_000);
    let service = service_within(limits);
    let (chunks, taken) = Chunks::endless(vec![b' '; 1_000]);
    let response = add().send_with(&service, chunks).await;
    assert_eq!(response.status, 413, "CLI-HTTP-09: {response:?}");
    let error = response.json()["error"].take();
    assert_eq!(
        (&error["code"], &error["message"]),
        (
            &json!(-32600),
            &json!("the message is longer than 10000 bytes")
        )
    );
    assert_eq!(taken.load(std::sync::atomic::Ordering::Relaxed), 11);
    // A body with an overlong declared length is not read at all.
    let (chunks, taken) = Chunks::endless(vec![b' '; 1_000]);
    let response = add().send_with(&service, chunks.of_length(1 << 30)).await;
    assert_eq!(response.status, 413);
    assert_eq!(taken.load(std::sync::atomic::Ordering::Relaxed), 0);
}

#[tokio::test(start_paused = true)]
async fn a_slow_body_times_out() {
    let limits = Limits::default().http(HttpLimits::default().read_timeout(Duration::from_secs(5)));
    let response = add()
        .send_with(&service_within(limits), Chunks::silent())
        .await;
    assert_eq!(response.status, 408);
}

#[tokio::test]
async fn long_headers_are_rejected() {
    let response = add().with("x", vec![b'x'; 1 << 20]).send(&service()).await;
    assert_eq!(response.status, 431, "SRV-HDR-14");
    let many = (0..6_000).fold(add(), |post, index| {
        post.and("x", format!("padding-{index}"))
    });
    assert_eq!(many.send(&service()).await.status, 431, "SRV-HDR-14");
    let long = add().with("mcp-name", vec![b'x'; 60_000]);
    long.expect_rejected(&service(), 400, -32020, "SRV-HDR-02")
        .await;
}

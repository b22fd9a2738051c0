//! Options of the builder of a client for connections over HTTP, and errors that name a cure.

use std::time::Duration;

use serde_json::json;
use treenail::McpClient;
use treenail::client::{ClientError, HttpClientBuilderExt as _};
use treenail::prelude::*;

use super::listener::{TestSession, modern};
use super::malformed::LIMITS;
use super::scripted_server::{Response, ScriptedServer};

#[tokio::test]
async fn a_token_and_headers_are_sent_with_every_request() {
    let mut server = ScriptedServer::new(|received| {
        let result = json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}}, "tools": []});
        Response::result(received, &result)
    })
    .await;
    let builder = McpClient::builder().url(&*server.url);
    let builder = builder.bearer_token("s3cret").header("X-Tenant", "north");
    assert!(!format!("{builder:?}").contains("s3cret"));
    let client = builder.build().await.unwrap();
    client.tools().await.unwrap();
    for method in ["server/discover", "tools/list"] {
        let received = server.next_request_with(method).await;
        assert_eq!(received.header("authorization"), Some("Bearer s3cret"));
        assert_eq!(received.header("x-tenant"), Some("north"));
    }
    let own = Server::builder("own", "1").build().unwrap();
    for builder in [
        McpClient::builder().server(&own).bearer_token("s3cret"),
        McpClient::builder().url(&*server.url).header("Accept", "x"),
        McpClient::builder().url(&*server.url).header("a\nb", "x"),
    ] {
        let error = builder.build().await.unwrap_err();
        assert!(matches!(error, ClientError::Invalid(_)), "{error:?}");
        assert!(!error.to_string().contains("s3cret"), "{error}");
    }
}

#[tokio::test]
async fn a_url_without_a_path_is_explained() {
    for status in [404, 405] {
        let server = ScriptedServer::new(move |_| Response::complete(status, "", "")).await;
        let hint = "; the endpoint of the server may have another path, such as `/mcp`";
        let root = server.url.rsplit_once('/').unwrap().0;
        for (url, is_hinted) in [(root, true), (&*server.url, false)] {
            let error = McpClient::builder().url(url).build().await.unwrap_err();
            let error = error.to_string();
            assert_eq!(
                error.matches(hint).count(),
                usize::from(is_hinted),
                "{error}"
            );
        }
    }
}

#[tokio::test]
async fn the_delay_that_a_busy_server_asks_for_is_known() {
    const DAY: u64 = 24 * 60 * 60;

    let long_ago = "Sun, 06 Nov 1994 08:49:37 GMT";
    for (header, seconds) in [
        ("retry-after: 7", Some(7)),
        ("retry-after: 99999999", Some(DAY)),
        (&*format!("Retry-After: {long_ago}"), Some(0)),
        ("Retry-After: Fri, 31 Dec 9999 23:59:59 GMT", Some(DAY)),
        ("retry-after: soon", None),
        ("retry-after: -1", None),
        ("x: y", None),
    ] {
        for status in [429, 503] {
            let head = format!("content-type: text/plain\r\n{header}");
            let server = ScriptedServer::new(move |_| Response::complete(status, &head, "busy"));
            let client = TestSession::with_limits(&server.await.url, LIMITS());
            let error = client.send(modern(1, "tools/list", json!({}))).await;
            let delay = error.unwrap_err().retry_after();
            assert_eq!(delay, seconds.map(Duration::from_secs), "{status} {header}");
        }
    }
}

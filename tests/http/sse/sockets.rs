//! The listener with HTTP+SSE.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use treenail::http::ServeHttp as _;
use treenail::http::SsePaths;

use super::get;
use crate::client::Post;
use crate::fixture::{Desk, builder, builder_of};
use crate::sockets::{Running, ask, text};

/// Reads until a text has arrived.
async fn read_until(socket: &mut TcpStream, end: &str) -> String {
    let mut read = String::new();
    while !read.contains(end) {
        let mut bytes = [0; 1024];
        let length = socket.read(&mut bytes).await.unwrap();
        assert!(length > 0, "the stream has ended: {read}");
        read += std::str::from_utf8(&bytes[..length]).unwrap();
    }
    read
}

#[tokio::test]
async fn http_sse_is_off_by_default_at_a_listener() {
    let server = builder().build().unwrap();
    let http = server.bind_http("127.0.0.1:0").await.unwrap();
    let running = Running::start_http(http, server);
    for path in ["/sse", "/messages"] {
        let response = ask(&running, &get(), path).await;
        assert!(response.starts_with("HTTP/1.1 404 "), "{response}");
    }
    running.finish().await;
}

#[tokio::test]
async fn a_disconnected_client_ends_its_session() {
    let desk = Desk::default();
    let server = builder_of(&desk).build().unwrap();
    let http = server.bind_http("127.0.0.1:0").await.unwrap();
    let running = Running::start_http(http.legacy_sse(SsePaths::default()), server);
    let mut stream = running.connect().await;
    let open = text(&get(), "/sse");
    stream.write_all(open.as_bytes()).await.unwrap();
    let head = read_until(&mut stream, "\n\n").await;
    let (_, endpoint) = head.split_once("event: endpoint\ndata: ").unwrap();
    let endpoint = endpoint.split_whitespace().next().unwrap();
    let post = |message: serde_json::Value| Post::raw(message.to_string());
    let params = json!({
        "protocolVersion": "2024-11-05",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    let begin = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let response = ask(&running, &post(begin), endpoint).await;
    assert!(
        response.starts_with("HTTP/1.1 202 "),
        "SRV-SSE-03: {response}"
    );
    read_until(&mut stream, r#""protocolVersion":"2024-11-05""#).await;
    let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let response = ask(&running, &post(done), endpoint).await;
    assert!(
        response.starts_with("HTTP/1.1 202 "),
        "SRV-SSE-03: {response}"
    );
    let params = json!({"name": "wait", "arguments": {}});
    let wait = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let response = ask(&running, &post(wait.clone()), endpoint).await;
    assert!(
        response.starts_with("HTTP/1.1 202 "),
        "SRV-SSE-03: {response}"
    );
    desk.begun.notified().await;
    drop(stream);
    desk.ended.notified().await;
    let response = ask(&running, &post(wait), endpoint).await;
    assert!(response.starts_with("HTTP/1.1 404 "), "{response}");
    // `/mcp` is served too.
    let add = Post::tool("add", json!({"a": 2, "b": 3}));
    assert!(ask(&running, &add, "/mcp").await.contains("200 OK"));
    running.finish().await;
}

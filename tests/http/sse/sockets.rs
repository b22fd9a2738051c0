//! A listener that serves old clients too.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use treenail::SsePaths;

use super::get;
use crate::client::Post;
use crate::fixture::{Desk, builder, builder_of};
use crate::sockets::{Running, ask, text};

/// Reads until a text has come.
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
async fn a_listener_serves_it_only_if_it_is_asked_to() {
    let server = builder().build().unwrap();
    let http = server.bind_http("127.0.0.1:0").await.unwrap();
    let running = Running::start_http(http, server);
    for path in ["/sse", "/messages"] {
        let answer = ask(&running, &get(), path).await;
        assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
    }
    running.finish().await;
}

#[tokio::test]
async fn a_client_that_goes_away_ends_its_session() {
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
    let answer = ask(&running, &post(begin), endpoint).await;
    assert!(answer.starts_with("HTTP/1.1 202 "), "SRV-SSE-03: {answer}");
    read_until(&mut stream, r#""protocolVersion":"2024-11-05""#).await;
    let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let answer = ask(&running, &post(done), endpoint).await;
    assert!(answer.starts_with("HTTP/1.1 202 "), "SRV-SSE-03: {answer}");
    let params = json!({"name": "wait", "arguments": {}});
    let wait = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let answer = ask(&running, &post(wait.clone()), endpoint).await;
    assert!(answer.starts_with("HTTP/1.1 202 "), "SRV-SSE-03: {answer}");
    desk.begun.notified().await;
    drop(stream);
    desk.ended.notified().await;
    let answer = ask(&running, &post(wait), endpoint).await;
    assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
    // `/mcp` is served beside it.
    let add = Post::tool("add", json!({"a": 2, "b": 3}));
    assert!(ask(&running, &add, "/mcp").await.contains("200 OK"));
    running.finish().await;
}

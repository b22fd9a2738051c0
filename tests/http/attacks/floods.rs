//! More connections than the limit.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::process::Attacked;
use super::wire::{Good, rest};
use crate::client::Post;
use crate::sockets::text;

#[tokio::test]
async fn connections_beyond_the_limit_are_served_later() {
    const CONNECTIONS: usize = 16;
    let limits = json!({"http.connections": CONNECTIONS, "http.read_timeout": 1_000});
    let attacked = Attacked::start(&limits);
    // A client with a connection is served all the time.
    let post = Post::tool("add", json!({"a": 2, "b": 3}));
    let request = text(&post, "/mcp").replace("connection: close\r\n", "");
    let mut inside = TcpStream::connect(attacked.address).await.unwrap();
    let mut response = [0; 4_096];
    inside.write_all(request.as_bytes()).await.unwrap();
    assert!(inside.read(&mut response).await.unwrap() > 0);
    let memory = attacked.memory();
    let mut flood = Vec::new();
    for _ in 0..4 * CONNECTIONS {
        flood.push(TcpStream::connect(attacked.address).await.unwrap());
    }
    for _ in 0..100 {
        inside.write_all(request.as_bytes()).await.unwrap();
        let length = inside.read(&mut response).await.unwrap();
        assert!(response[..length].starts_with(b"HTTP/1.1 200 "));
    }
    drop(inside);
    // A later client is served once the silent connections have been dropped.
    let good = Good::start(attacked.address);
    good.is_served().await;
    for silent in &mut flood {
        rest(silent).await;
    }
    good.finish().await;
    memory.check(CONNECTIONS * (64 << 10), "the permitted connections");
}

//! More connections than there may be.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::process::Attacked;
use super::wire::{Good, rest};
use crate::client::Post;
use crate::sockets::text;

#[tokio::test]
async fn connections_beyond_the_bound_are_served_in_their_turn() {
    const PLACES: usize = 16;
    let limits = json!({"http.connections": PLACES, "http.read_timeout": 1_000});
    let attacked = Attacked::start(&limits);
    // One who has a connection is served all the time.
    let post = Post::tool("add", json!({"a": 2, "b": 3}));
    let request = text(&post, "/mcp").replace("connection: close\r\n", "");
    let mut inside = TcpStream::connect(attacked.address).await.unwrap();
    let mut answer = [0; 4_096];
    inside.write_all(request.as_bytes()).await.unwrap();
    assert!(inside.read(&mut answer).await.unwrap() > 0);
    let memory = attacked.memory();
    let mut flood = Vec::new();
    for _ in 0..4 * PLACES {
        flood.push(TcpStream::connect(attacked.address).await.unwrap());
    }
    for _ in 0..100 {
        inside.write_all(request.as_bytes()).await.unwrap();
        let length = inside.read(&mut answer).await.unwrap();
        assert!(answer[..length].starts_with(b"HTTP/1.1 200 "));
    }
    drop(inside);
    // One who comes after all of them is served when those that say nothing have been dropped.
    let good = Good::start(attacked.address);
    good.is_served().await;
    for silent in &mut flood {
        rest(silent).await;
    }
    good.finish().await;
    memory.check(PLACES * (64 << 10), "the connections that may be");
}

//! Endless and stalled request bodies.

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::process::Attacked;
use super::wire::{Good, exchange, rest, statuses};
use crate::client::Post;
use crate::sockets::text;

const GIBIBYTE: usize = 1 << 30;
const MESSAGE: usize = 4 << 20;

fn add() -> Post {
    Post::tool("add", json!({"a": 2, "b": 3}))
}

/// Returns the head of a request with another body length, or with a chunked body.
fn head(path: &str, framing: &str) -> String {
    let whole = text(&add(), path).replace("connection: close\r\n", "");
    let (head, _) = whole.split_once("content-length").unwrap();
    format!("{head}{framing}\r\n\r\n")
}

/// Sends pieces after a head until the server stops reading. Returns the bytes sent and the response.
async fn pour(attacked: &Attacked, head: &str, piece: &[u8]) -> (usize, String) {
    let mut socket = TcpStream::connect(attacked.address).await.unwrap();
    socket.write_all(head.as_bytes()).await.unwrap();
    let mut sent = 0;
    while sent < GIBIBYTE && socket.write_all(piece).await.is_ok() {
        sent += piece.len();
    }
    (sent, rest(&mut socket).await)
}

#[tokio::test]
async fn a_body_of_a_gibibyte_is_not_buffered() {
    let attacked = Attacked::start(&json!({}));
    let good = Good::start(attacked.address);
    good.is_served().await;
    let memory = attacked.memory();
    let known = head("/mcp", &format!("content-length: {GIBIBYTE}"));
    let chunked = head("/mcp", "transfer-encoding: chunked");
    let elsewhere = head("/elsewhere", &format!("content-length: {GIBIBYTE}"));
    let piece = vec![b' '; 1 << 20];
    let mut chunk = b"100000\r\n".to_vec();
    chunk.extend_from_slice(&piece);
    chunk.extend_from_slice(b"\r\n");
    let cases = [
        (known, &piece, 413),
        (chunked, &chunk, 413),
        (elsewhere, &piece, 404),
    ];
    for (head, piece, status) in &cases {
        let (sent, response) = pour(&attacked, head, piece).await;
        // Socket buffers of the kernel do not count.
        assert!(sent < 64 << 20, "{sent} bytes were read of {head}");
        assert_eq!(statuses(&response), [*status], "CLI-HTTP-09: {head}");
    }
    // A client that sends `Expect: 100-continue` gets the rejection before it sends the body.
    let polite = head("/mcp", "content-length: 1073741824\r\nexpect: 100-continue");
    assert_eq!(statuses(&exchange(attacked.address, polite).await), [413]);
    good.finish().await;
    memory.check(4 * MESSAGE, "one growing message buffer");
}

#[tokio::test]
async fn stalled_bodies_take_only_the_memory_of_the_received_bytes() {
    const MANY: usize = 16;
    let attacked = Attacked::start(&json!({"http.read_timeout": 2_000}));
    let good = Good::start(attacked.address);
    good.is_served().await;
    let memory = attacked.memory();
    let mut stalled = Vec::new();
    for _ in 0..MANY {
        let mut socket = TcpStream::connect(attacked.address).await.unwrap();
        let head = head("/mcp", &format!("content-length: {MESSAGE}"));
        socket.write_all(head.as_bytes()).await.unwrap();
        // Two thirds of the body.
        let _ = socket.write_all(&vec![b' '; MESSAGE / 3 * 2]).await;
        stalled.push(socket);
    }
    good.is_served().await;
    for socket in &mut stalled {
        assert_eq!(statuses(&rest(socket).await), [408]);
    }
    good.finish().await;
    memory.check(MANY * MESSAGE, "one message buffer per connection");
}

//! Stalled readers.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::process::Attacked;
use super::sessions::Session;
use super::wire::{Good, until};
use crate::client::Post;
use crate::sockets::text;

const READERS: usize = 8;
/// Bytes of one message of `babble`.
const BABBLE_BYTES: usize = 10_300;

/// Sends a request, reads the start of the response, and then nothing.
async fn stall(attacked: &Attacked, post: &Post) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    // The kernel would buffer megabytes otherwise.
    socket.set_recv_buffer_size(16 << 10).unwrap();
    let mut socket = socket.connect(attacked.address).await.unwrap();
    let request = text(post, "/mcp");
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut head = [0; 15];
    socket.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 200 OK");
    socket
}

fn babble() -> Post {
    Post::tool("babble", json!({}))
        .change(|body| body["params"]["_meta"]["progressToken"] = 1.into())
}

#[tokio::test]
async fn stalled_readers_are_dropped_with_their_calls() {
    let attacked = Attacked::start(&json!({"http.write_timeout": 1_000}));
    let good = Good::start(attacked.address);
    good.is_served().await;
    let memory = attacked.memory();
    let babble = babble();
    let mut stalled = Vec::new();
    for _ in 0..READERS {
        stalled.push(stall(&attacked, &babble).await);
    }
    good.is_served().await;
    until(attacked.address, "running", 0).await;
    drop(stalled);
    good.finish().await;
    // `Limits::queued_messages` and the write buffer.
    memory.check(
        READERS * (64 * BABBLE_BYTES + (128 << 10)),
        "queued messages per reader",
    );
}

#[tokio::test]
async fn sessions_store_bounded_events_for_stalled_readers() {
    let attacked = Attacked::start(&json!({"http.write_timeout": 1_000}));
    let good = Good::start(attacked.address);
    good.is_served().await;
    let memory = attacked.memory();
    let mut stalled = Vec::new();
    for id in 0..READERS {
        let session = Session::start(attacked.address).await;
        stalled.push(stall(&attacked, &session.get()).await);
        stalled.push(stall(&attacked, &session.tool(id, "babble")).await);
    }
    good.is_served().await;
    // Without readers, the calls continue to their end, for clients that reconnect (SRV-LHTTP-10).
    until(attacked.address, "running", 0).await;
    drop(stalled);
    good.finish().await;
    let max_bytes = READERS * ((1 << 20) + 64 * BABBLE_BYTES + (256 << 10));
    memory.check(
        max_bytes,
        "`http.session_bytes` and queued messages per session",
    );
}

#[tokio::test]
async fn idle_streams_cost_little() {
    const STREAMS: usize = 150;
    let attacked = Attacked::start(&json!({}));
    let good = Good::start(attacked.address);
    good.is_served().await;
    let memory = attacked.memory();
    let filter = json!({"notifications": {"resourceSubscriptions": ["notes://7"]}});
    let listen = Post::modern("subscriptions/listen", filter);
    let mut streams = Vec::new();
    for _ in 0..STREAMS {
        streams.push(stall(&attacked, &listen).await);
    }
    for _ in 0..STREAMS {
        let session = Session::start(attacked.address).await;
        streams.push(stall(&attacked, &session.get()).await);
    }
    good.finish().await;
    memory.check(2 * STREAMS * (64 << 10), "the buffers of each stream");
}

//! Readers that do not read.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::process::Attacked;
use super::sessions::Session;
use super::wire::{Good, until};
use crate::client::Post;
use crate::sockets::text;

const MANY: usize = 8;
/// What `babble` tells at once.
const TOLD: usize = 10_300;

/// Sends a request, reads what comes first, and then nothing.
async fn stall(attacked: &Attacked, post: &Post) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    // The kernel would take megabytes for it.
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
async fn readers_that_stall_are_dropped_and_their_calls_with_them() {
    let attacked = Attacked::start(&json!({"http.write_timeout": 1_000}));
    let good = Good::start(attacked.address);
    good.is_served().await;
    let memory = attacked.memory();
    let babble = babble();
    let mut stalled = Vec::new();
    for _ in 0..MANY {
        stalled.push(stall(&attacked, &babble).await);
    }
    good.is_served().await;
    until(attacked.address, "running", 0).await;
    drop(stalled);
    good.finish().await;
    // `Limits::queued_messages`, and what is being written.
    memory.check(MANY * (64 * TOLD + (128 << 10)), "what is queued for each");
}

#[tokio::test]
async fn sessions_keep_no_more_for_readers_that_stall() {
    let attacked = Attacked::start(&json!({"http.write_timeout": 1_000}));
    let good = Good::start(attacked.address);
    good.is_served().await;
    let memory = attacked.memory();
    let mut stalled = Vec::new();
    for id in 0..MANY {
        let session = Session::begin(attacked.address).await;
        stalled.push(stall(&attacked, &session.get()).await);
        stalled.push(stall(&attacked, &session.tool(id, "babble")).await);
    }
    good.is_served().await;
    // When nobody reads any more, the calls go on to their end, for clients that come back (SRV-LHTTP-10).
    until(attacked.address, "running", 0).await;
    drop(stalled);
    good.finish().await;
    let most = MANY * ((1 << 20) + 64 * TOLD + (256 << 10));
    memory.check(most, "`http.session_bytes` and what is queued for each");
}

#[tokio::test]
async fn streams_on_which_nothing_comes_cost_little() {
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
        let session = Session::begin(attacked.address).await;
        streams.push(stall(&attacked, &session.get()).await);
    }
    good.finish().await;
    memory.check(2 * STREAMS * (64 << 10), "the buffers of each");
}

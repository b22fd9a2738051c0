//! Clients over sockets that disconnect while their request is pending.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::yield_now;
use treenail::Limits;
use treenail::http::http_service;
use treenail::schema::Revision;

use crate::client::Post;
use crate::fixture::{Desk, builder, builder_of};
use crate::legacy::Client;
use crate::sockets::{Running, text};

/// Bytes after a request: none, an empty line, and the start of a pipelined request.
const AFTER: [&str; 3] = ["", "\r\n", "POST /mcp HTTP/1.1\r\nhost: "];

fn progressing(tool: &str) -> Post {
    Post::tool(tool, json!({})).change(|body| body["params"]["_meta"]["progressToken"] = 1.into())
}

fn keep_alive(post: &Post) -> String {
    text(post, "/mcp").replace("connection: close", "connection: keep-alive")
}

#[tokio::test]
async fn a_disconnected_client_cancels_its_call() {
    let desk = Desk::default();
    let running = Running::start(builder_of(&desk).build().unwrap()).await;
    for (tool, after) in ["wait", "flood"]
        .into_iter()
        .flat_map(|tool| AFTER.map(|after| (tool, after)))
    {
        for request in [
            text(&progressing(tool), "/mcp"),
            keep_alive(&progressing(tool)),
        ] {
            let mut socket = running.connect().await;
            let request = request + after;
            socket.write_all(request.as_bytes()).await.unwrap();
            desk.begun.notified().await;
            drop(socket);
            desk.ended.notified().await; // SRV-HTTP-17, SRV-HTTP-18, SRV-HTTP-19, SRV-CANC-02
        }
    }
    running.finish().await;
}

#[tokio::test]
async fn bytes_that_arrive_during_a_call_do_not_hide_a_disconnect() {
    let desk = Desk::default();
    let running = Running::start(builder_of(&desk).build().unwrap()).await;
    // More than hyper has room for.
    for after in ["\r\n".to_owned(), "\r\n".repeat(6 << 10)] {
        let mut socket = running.connect().await;
        let request = keep_alive(&Post::tool("wait", json!({})));
        socket.write_all(request.as_bytes()).await.unwrap();
        desk.begun.notified().await;
        socket.write_all(after.as_bytes()).await.unwrap();
        drop(socket);
        desk.ended.notified().await;
    }
    running.finish().await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_sends_much_during_its_call_is_disconnected() {
    let desk = Desk::default();
    let running = Running::start(builder_of(&desk).build().unwrap()).await;
    let mut socket = running.connect().await;
    let request = keep_alive(&Post::tool("wait", json!({}))) + &"\r\n".repeat(32 << 10);
    socket.write_all(request.as_bytes()).await.unwrap();
    desk.begun.notified().await;
    // The paused clock advances while all tasks wait.
    desk.ended.notified().await;
    running.finish().await;
}

#[tokio::test]
async fn pipelined_requests_are_served_in_order() {
    let running = Running::start(builder().build().unwrap()).await;
    let mut socket = running.connect().await;
    // The second request is longer than the bytes that are read ahead.
    let padding = "x".repeat(64 << 10);
    let requests: String = (1..=3)
        .map(|count| {
            let mut post =
                Post::tool("count", json!({"to": count})).change(|body| body["id"] = count.into());
            if count == 2 {
                post = post
                    .change(|body| body["params"]["_meta"]["padding"] = padding.as_str().into());
            }
            let request = text(&post, "/mcp");
            let is_last = count == 3;
            if is_last {
                request
            } else {
                request.replace("connection: close", "connection: keep-alive")
            }
        })
        .collect();
    socket.write_all(requests.as_bytes()).await.unwrap();
    let mut responses = String::new();
    socket.read_to_string(&mut responses).await.unwrap();
    let ids: Vec<_> = responses
        .match_indices(r#""id":"#)
        .map(|(at, key)| &responses[at + key.len()..][..1])
        .collect();
    assert_eq!(ids, ["1", "2", "3"], "{responses}");
    running.finish().await;
}

#[tokio::test]
async fn a_disconnected_client_of_a_session_abandons_its_call() {
    let desk = Desk::default();
    let limits = Limits::default().server_calls_in_flight(1);
    let server = builder_of(&desk).limits(limits).build().unwrap();
    let service = http_service(server.clone());
    let http = service.clone().bind("127.0.0.1:0").await.unwrap();
    let running = Running::start_http(http, server);
    for after in AFTER {
        let client = Client::start(&service, Revision::LATEST_LEGACY).await;
        let request = text(&client.tool(1, "wait", &json!({})), "/mcp") + after;
        let mut socket = running.connect().await;
        socket.write_all(request.as_bytes()).await.unwrap();
        desk.begun.notified().await;
        let call = || Post::tool("count", json!({"to": 1})).send(&service);
        assert_eq!(call().await.status, 503);
        drop(socket);
        while call().await.status != 200 {
            yield_now().await;
        }
        desk.ended.notified().await;
    }
    running.finish().await;
}

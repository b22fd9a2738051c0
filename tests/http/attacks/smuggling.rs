//! Request smuggling, and bytes that are not requests.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::process::Attacked;
use super::wire::{Good, call, exchange, rest, statuses};
use crate::client::Post;
use crate::sockets::text;

/// Returns a request that leaves the connection open.
fn open(post: &Post) -> String {
    text(post, "/mcp").replace("connection: close\r\n", "")
}

/// Returns a request with this framing and body.
fn framed(framing: &str, body: &str) -> String {
    let whole = open(&add());
    let (head, _) = whole.split_once("content-length").unwrap();
    format!("{head}{framing}\r\n\r\n{body}")
}

fn add() -> Post {
    Post::tool("add", json!({"a": 2, "b": 3}))
}

/// Returns a body in one chunk.
fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n0\r\n\r\n", text.len())
}

#[tokio::test]
async fn a_smuggled_request_is_not_served() {
    let attacked = Attacked::start(&json!({}));
    let good = Good::start(attacked.address);
    let hidden = open(&Post::tool("hit", json!({})));
    let whole = add().body;
    let (length, chunked) = (whole.len(), chunk(&whole));
    let both = format!("content-length: {length}\r\ntransfer-encoding: chunked");
    let turned = format!("transfer-encoding: chunked\r\ncontent-length: {length}");
    let longer = length + hidden.len();
    let cases = [
        // If both a length and chunks are declared, the chunks count, and the connection ends after them.
        (both.clone(), chunked.clone(), 200),
        (turned, chunked.clone(), 200),
        (both, "0\r\n\r\n".to_owned(), 400),
        (
            "transfer-encoding: chunked".to_owned(),
            chunked.clone(),
            200,
        ),
        (
            "transfer-encoding: Chunked".to_owned(),
            chunked.clone(),
            200,
        ),
        ("transfer-encoding: identity".to_owned(), String::new(), 400),
        (
            "transfer-encoding: chunked, identity".to_owned(),
            chunked.clone(),
            400,
        ),
        (
            "transfer-encoding: xchunked".to_owned(),
            chunked.clone(),
            400,
        ),
        (
            "transfer-encoding: chunked\r\ntransfer-encoding: identity".to_owned(),
            chunked.clone(),
            400,
        ),
        (
            "transfer-encoding : chunked".to_owned(),
            chunked.clone(),
            400,
        ),
        (
            "x: y\r\n transfer-encoding: chunked".to_owned(),
            chunked.clone(),
            400,
        ),
        (
            "transfer-encoding: chunked".to_owned(),
            format!("ffffffffffffffff1\r\n{whole}"),
            400,
        ),
        (
            "transfer-encoding: chunked".to_owned(),
            format!("-1\r\n{whole}"),
            400,
        ),
        (
            "transfer-encoding: chunked".to_owned(),
            format!("0x10\r\n{whole}"),
            400,
        ),
        (
            format!("content-length: {length}\r\ncontent-length: {longer}"),
            whole.clone(),
            400,
        ),
        (
            format!("content-length: {length}, {longer}"),
            whole.clone(),
            400,
        ),
        (format!("content-length: +{length}"), whole.clone(), 400),
        (format!("content-length: -{length}"), whole.clone(), 400),
        (
            "content-length: 99999999999999999999999".to_owned(),
            whole.clone(),
            400,
        ),
        (format!("content-length: {length}\0"), whole.clone(), 400),
        (format!("content-length : {length}"), whole.clone(), 400),
    ];
    for (framing, body, status) in cases {
        let request = framed(&framing, &body) + &hidden;
        let response = exchange(attacked.address, request).await;
        assert_eq!(statuses(&response), [status], "{framing}: {response}");
        let hits = call(attacked.address, "hits", json!({})).await;
        assert_eq!(hits, 0, "the smuggled request is not served: {framing}");
    }
    // The same at a path that is not served, with a body that hyper reads although the service does not.
    let unserved = framed("transfer-encoding: chunked", "0\r\n\r\n");
    let unserved = unserved.replacen("/mcp", "/other", 1) + &hidden;
    let response = exchange(attacked.address, unserved).await;
    assert_eq!(statuses(&response), [404], "{response}");
    good.finish().await;
}

#[tokio::test]
async fn invalid_requests_are_rejected() {
    let attacked = Attacked::start(&json!({}));
    let good = Good::start(attacked.address);
    let cases: [&[u8]; 10] = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"POST /mcp HTTP/3.0\r\nhost: localhost\r\n\r\n",
        b"POST /mcp\r\nhost: localhost\r\n\r\n",
        b"POST /m\0cp HTTP/1.1\r\nhost: localhost\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nhost: local\0host\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\n: x\r\n\r\n",
        b"P\xc3\xb6ST /mcp HTTP/1.1\r\nhost: localhost\r\n\r\n",
        b"POST  /mcp HTTP/1.1\r\nhost: localhost\r\n\r\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\r\n\r\n",
    ];
    for bytes in cases {
        let response = exchange(attacked.address, bytes).await;
        let text = String::from_utf8_lossy(bytes);
        let refused = matches!(statuses(&response)[..], [] | [400 | 505]);
        assert!(refused, "{text:?}: {response}");
    }
    good.finish().await;
}

#[tokio::test]
async fn pipelined_requests_are_served_in_order() {
    const MANY: usize = 2_000;
    let attacked = Attacked::start(&json!({}));
    let good = Good::start(attacked.address);
    good.is_served().await;
    let memory = attacked.memory();
    let mut flood = open(&add()).repeat(MANY - 1);
    flood.push_str(&text(&add(), "/mcp"));
    let (mut reader, mut writer) = TcpStream::connect(attacked.address)
        .await
        .unwrap()
        .into_split();
    let sending =
        tokio::spawn(async move { writer.write_all(flood.as_bytes()).await.map(|()| writer) });
    let mut response = String::new();
    reader.read_to_string(&mut response).await.unwrap();
    drop(sending.await.unwrap());
    assert_eq!(statuses(&response), [200; MANY]);
    good.finish().await;
    memory.check(256 << 10, "the read buffer of one connection");
}

#[tokio::test]
async fn a_client_that_reads_no_responses_is_dropped() {
    const MANY: usize = 4;
    let attacked = Attacked::start(&json!({"http.write_timeout": 1_000}));
    let good = Good::start(attacked.address);
    good.is_served().await;
    let memory = attacked.memory();
    let flood = open(&Post::modern("tools/list", json!({}))).repeat(1_000);
    let mut floods = Vec::new();
    for _ in 0..MANY {
        let flood = flood.clone();
        let address = attacked.address;
        floods.push(tokio::spawn(async move {
            let mut socket = TcpStream::connect(address).await.unwrap();
            // Until the server closes the connection.
            while socket.write_all(flood.as_bytes()).await.is_ok() {}
            rest(&mut socket).await
        }));
    }
    good.is_served().await;
    for flood in floods {
        flood.await.unwrap();
    }
    good.finish().await;
    memory.check(MANY * (256 << 10), "the buffers of each connection");
}

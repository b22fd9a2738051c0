//! Responses to requests whose bodies are not read.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use treenail::http::{ServeHttp as _, SsePaths};

use crate::client::Post;
use crate::fixture::builder;
use crate::sockets::{Running, text};

const BODY: &str = "{}";

/// Rejected requests without their bodies, with the statuses of the responses.
const REJECTED: [(&str, u16); 7] = [
    (
        "POST /other HTTP/1.1\r\ncontent-type: application/json",
        404,
    ),
    ("POST /mcp HTTP/1.1\r\ncontent-type: text/plain", 415),
    ("POST /mcp HTTP/1.1\r\norigin: http://evil.example", 403),
    ("PUT /mcp HTTP/1.1\r\ncontent-type: application/json", 405),
    (
        "PUT /messages HTTP/1.1\r\ncontent-type: application/json",
        405,
    ),
    ("POST /messages HTTP/1.1\r\ncontent-type: text/plain", 415),
    ("DELETE /mcp HTTP/1.1\r\nmcp-session-id: none", 404),
];

async fn start() -> Running {
    let server = builder().build().unwrap();
    let http = server.bind_http("127.0.0.1:0").await.unwrap();
    Running::start_http(http.legacy_sse(SsePaths::default()), server)
}

/// Sends the head of a request, which announces the body.
async fn send_head(running: &Running, head: &str) -> TcpStream {
    let mut socket = running.connect().await;
    let length = BODY.len();
    let head = format!("{head}\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n");
    socket.write_all(head.as_bytes()).await.unwrap();
    socket
}

async fn rest(mut socket: TcpStream) -> String {
    let mut received = String::new();
    socket.read_to_string(&mut received).await.unwrap();
    received
}

fn add() -> String {
    text(&Post::tool("add", json!({"a": 2, "b": 3})), "/mcp")
}

/// Asserts that a response has the status, and announces the end of its connection.
fn assert_closes(response: &str, status: u16) {
    let status = format!("HTTP/1.1 {status} ");
    assert!(response.starts_with(&status), "{response}");
    assert!(response.contains("\r\nconnection: close\r\n"), "{response}");
}

#[tokio::test]
async fn a_connection_stays_open_if_the_body_follows_its_head() {
    let running = start().await;
    for (head, status) in REJECTED {
        let mut socket = send_head(&running, head).await;
        // The server has read the head before it answers another connection that was opened later.
        let mut other = running.connect().await;
        other.write_all(add().as_bytes()).await.unwrap();
        assert!(rest(other).await.starts_with("HTTP/1.1 200 "));

        let next = format!("{BODY}{}", add());
        socket.write_all(next.as_bytes()).await.unwrap();
        let received = rest(socket).await;
        let first = format!("HTTP/1.1 {status} ");
        assert!(received.starts_with(&first), "{head}: {received}");
        assert!(received.contains("HTTP/1.1 200 OK"), "{head}: {received}");
    }
    running.finish().await;
}

#[tokio::test(start_paused = true)]
async fn a_response_announces_the_end_of_the_connection_if_the_body_does_not_arrive() {
    let running = start().await;
    for (head, status) in REJECTED {
        let received = rest(send_head(&running, head).await).await;
        assert_closes(&received, status);
    }
    running.finish().await;
}

#[tokio::test]
async fn a_client_that_expects_a_permission_gets_the_final_response() {
    let running = start().await;
    for (head, status) in REJECTED {
        let head = format!("{head}\r\nexpect: 100-continue");
        let received = rest(send_head(&running, &head).await).await;
        assert_closes(&received, status);
    }
    running.finish().await;
}

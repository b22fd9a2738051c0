//! The listener, with clients over sockets.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use treenail::http::ServeHttp as _;
use treenail::http::{HttpServer, SsePaths};
use treenail::limits::{EventLimits, HttpLimits};
use treenail::{Limits, Server};

use crate::client::{Post, messages};
use crate::fixture::{Desk, builder, builder_of};

pub(crate) struct Running {
    server: Server,
    address: SocketAddr,
    serving: JoinHandle<treenail::Result<()>>,
}

impl Running {
    pub(crate) async fn start(server: Server) -> Self {
        Self::start_http(server.bind_http("127.0.0.1:0").await.unwrap(), server)
    }

    pub(crate) fn start_http(http: HttpServer, server: Server) -> Self {
        Self {
            server,
            address: http.local_addr(),
            serving: tokio::spawn(http.serve()),
        }
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    pub(crate) async fn finish(self) {
        self.server.close();
        self.serving.await.unwrap().unwrap();
    }
}

/// Returns the text of a request with `Connection: close`.
pub(crate) fn text(post: &Post, path: &str) -> String {
    let mut text = format!("{} {path} HTTP/1.1\r\nconnection: close\r\n", post.method);
    for (name, value) in &post.headers {
        let value = String::from_utf8_lossy(value);
        write!(text, "{name}: {value}\r\n").unwrap();
    }
    text + &format!("content-length: {}\r\n\r\n{}", post.body.len(), post.body)
}

pub(crate) async fn ask(running: &Running, post: &Post, path: &str) -> String {
    ask_at(running.address, post, path).await
}

/// Sends a request, and returns the complete response.
pub(crate) async fn ask_at(address: SocketAddr, post: &Post, path: &str) -> String {
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(text(post, path).as_bytes()).await.unwrap();
    let mut response = String::new();
    socket.read_to_string(&mut response).await.unwrap();
    response
}

fn add() -> Post {
    Post::tool("add", json!({"a": 2, "b": 3}))
}

#[tokio::test]
async fn the_path_of_the_endpoint_can_be_chosen() {
    for path in ["/api", "api", "api/"] {
        let server = builder().build().unwrap();
        let http = server.bind_http("127.0.0.1:0").await.unwrap().path(path);
        let running = Running::start_http(http, server);
        let response = ask(&running, &add(), "/api").await;
        assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{response}");
        let response = ask(&running, &add(), "/mcp").await;
        assert!(response.starts_with("HTTP/1.1 404 "), "{response}");
        running.finish().await;
    }
}

#[tokio::test]
async fn the_endpoint_is_at_one_path() {
    let running = Running::start(builder().build().unwrap()).await;
    let response = ask(&running, &add(), "/mcp").await;
    assert!(
        response.starts_with("HTTP/1.1 200 OK\r\n"),
        "SRV-HTTP-01: {response}"
    );
    assert!(response.contains(r#""structuredContent":5"#), "{response}");
    let response = ask(&running, &add(), "/mcp/").await;
    assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{response}");
    for path in ["/", "/mcp//", "//mcp", "/mcp/x", "/mcpx"] {
        let response = ask(&running, &add(), path).await;
        assert!(response.starts_with("HTTP/1.1 404 "), "{path}: {response}");
    }
    let long = add().with("x", "x".repeat(1 << 20));
    let mut socket = running.connect().await;
    // The request is rejected before all of it has been sent.
    let _ = socket.write_all(text(&long, "/mcp").as_bytes()).await;
    let mut head = [0; 12];
    if socket.read_exact(&mut head).await.is_ok() {
        assert_eq!(&head, b"HTTP/1.1 431", "SRV-HDR-14");
    }
    let stream = Post::tool("count", json!({"to": 2}))
        .change(|body| body["params"]["_meta"]["progressToken"] = 1.into());
    assert_eq!(
        messages(&ask(&running, &stream, "/mcp").await).len(),
        3,
        "SRV-HTTP-08"
    );
    running.finish().await;
}

#[tokio::test(start_paused = true)]
async fn a_stalled_reader_is_dropped() {
    let desk = Desk::default();
    let running = Running::start(builder_of(&desk).build().unwrap()).await;
    let post = Post::tool("flood", json!({}))
        .change(|body| body["params"]["_meta"]["progressToken"] = 1.into());
    let mut socket = running.connect().await;
    socket
        .write_all(text(&post, "/mcp").as_bytes())
        .await
        .unwrap();
    desk.begun.notified().await;
    // The client does not read. Others are served meanwhile, and finally the call is ended.
    assert!(ask(&running, &add(), "/mcp").await.contains("200 OK"));
    desk.ended.notified().await;
    running.finish().await;
}

#[tokio::test(start_paused = true)]
async fn a_slow_sender_is_dropped() {
    let running = Running::start(builder().build().unwrap()).await;
    let mut socket = running.connect().await;
    socket
        .write_all(b"POST /mcp HTTP/1.1\r\nhost: local")
        .await
        .unwrap();
    let mut response = Vec::new();
    // The paused clock advances while all tasks wait.
    let _ = socket.read_to_end(&mut response).await;
    assert!(!response.starts_with(b"HTTP/1.1 200"));
    let whole = text(&add(), "/mcp");
    let mut socket = running.connect().await;
    socket
        .write_all(&whole.as_bytes()[..whole.len() - 5])
        .await
        .unwrap();
    let mut response = String::new();
    socket.read_to_string(&mut response).await.unwrap();
    assert!(response.starts_with("HTTP/1.1 408 "), "{response}");
    running.finish().await;
}

#[tokio::test]
async fn the_maximum_duration_does_not_overflow() {
    let limits = Limits::default()
        .call_timeout(Some(Duration::MAX))
        .elicitation_timeout(Duration::MAX)
        .events(
            EventLimits::default()
                .max_backoff(Duration::MAX)
                .flush_timeout(Duration::MAX),
        )
        .shutdown_timeout(Duration::MAX)
        .http(
            HttpLimits::default()
                .read_timeout(Duration::MAX)
                .write_timeout(Duration::MAX)
                .session_idle_timeout(Duration::MAX)
                .stream_max_age(Some(Duration::MAX)),
        );
    let running = Running::start(builder().limits(limits).build().unwrap()).await;
    let response = ask(&running, &add(), "/mcp").await;
    assert!(response.contains("200 OK"), "{response}");
    let initialize = Post::raw(
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#,
    );
    let response = ask(&running, &initialize, "/mcp").await;
    assert!(response.contains("mcp-session-id: "), "{response}");
    running.finish().await;
}

#[tokio::test]
async fn clients_beyond_the_connection_limit_wait() {
    let limits = Limits::default().http(HttpLimits::default().connections(1));
    let running = Running::start(builder().limits(limits).build().unwrap()).await;
    let mut first = running.connect().await;
    let keep = text(&add(), "/mcp").replace("connection: close", "connection: keep-alive");
    first.write_all(keep.as_bytes()).await.unwrap();
    assert!(first.read(&mut [0; 1024]).await.unwrap() > 0);
    let post = add();
    let mut second = Box::pin(ask(&running, &post, "/mcp"));
    // Meanwhile a request on the first connection completes.
    tokio::select! {
        response = &mut second => panic!("too many are served: {response}"),
        () = async {
            first.write_all(keep.as_bytes()).await.unwrap();
            assert!(first.read(&mut [0; 1024]).await.unwrap() > 0);
        } => {}
    }
    drop(first);
    assert!(second.await.contains("200 OK"));
    running.finish().await;
}

#[tokio::test(start_paused = true)]
async fn listening_streams_do_not_take_all_connections() {
    const CONNECTIONS: usize = 8;
    let limits = Limits::default().http(HttpLimits::default().connections(CONNECTIONS));
    let server = builder().limits(limits).build().unwrap();
    let http = server.bind_http("127.0.0.1:0").await.unwrap();
    let running = Running::start_http(http.legacy_sse(SsePaths::default()), server);
    let filter = json!({"notifications": {"resourceSubscriptions": ["notes://7"]}});
    let listen = text(&Post::modern("subscriptions/listen", filter), "/mcp");
    let sse = Post::raw("")
        .method("GET")
        .with("accept", "text/event-stream");
    let sse = text(&sse, "/sse");
    let (mut open, mut refused) = (Vec::new(), 0);
    for request in [&listen, &sse].into_iter().cycle().take(2 * CONNECTIONS) {
        let mut socket = running.connect().await;
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut head = [0; 12];
        // If all connections were taken, this one would not be accepted, and the paused clock would advance.
        let read = timeout(Duration::from_secs(10), socket.read_exact(&mut head)).await;
        assert!(read.is_ok(), "with {} streams open", open.len());
        match &head {
            b"HTTP/1.1 200" => open.push(socket),
            b"HTTP/1.1 503" => refused += 1,
            other => panic!("{}", String::from_utf8_lossy(other)),
        }
    }
    assert_eq!((open.len(), refused), (6, 2 * CONNECTIONS - 6));
    assert!(ask(&running, &add(), "/mcp").await.contains("200 OK"));
    running.finish().await;
}

#[tokio::test]
async fn a_closing_server_does_not_wait_for_the_rest_of_a_head() {
    let never = Duration::MAX;
    let limits = Limits::default()
        .shutdown_timeout(never)
        .http(HttpLimits::default().read_timeout(never));
    let running = Running::start(builder().limits(limits).build().unwrap()).await;
    let mut sockets = Vec::new();
    for start in ["", "\r\n", "POST /mcp HTTP/1.1\r\nhost: localhost\r\n"] {
        let mut socket = running.connect().await;
        socket.write_all(start.as_bytes()).await.unwrap();
        sockets.push(socket);
    }
    // Connections are accepted in their order.
    assert!(ask(&running, &add(), "/mcp").await.contains("200 OK"));
    running.finish().await;
}

#[tokio::test(start_paused = true)]
async fn a_closing_server_finishes_requests_in_flight() {
    let desk = Desk::default();
    let limits = Limits::default().shutdown_timeout(Duration::from_secs(60));
    let running = Running::start(builder_of(&desk).limits(limits).build().unwrap()).await;
    let filter = json!({"notifications": {"resourceSubscriptions": ["notes://7"]}});
    let listen = Post::modern("subscriptions/listen", filter);
    let mut listener = running.connect().await;
    listener
        .write_all(text(&listen, "/mcp").as_bytes())
        .await
        .unwrap();
    assert!(listener.read(&mut [0; 64]).await.unwrap() > 0);
    let mut waiting = running.connect().await;
    let wait = Post::tool("wait", json!({}));
    waiting
        .write_all(text(&wait, "/mcp").as_bytes())
        .await
        .unwrap();
    desk.begun.notified().await;
    running.finish().await;
    let mut response = String::new();
    listener.read_to_string(&mut response).await.unwrap();
    assert!(
        response.contains(r#""resultType":"complete""#),
        "SRV-SUB-07: {response}"
    );
    desk.ended.notified().await;
}

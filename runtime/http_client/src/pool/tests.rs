//! Repeated requests, reuse of connections, and the texts of errors.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::io;
use std::pin::Pin;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex, sink};
use tokio::net::TcpListener;
use tokio::time::sleep;

use super::*;
use crate::dial::{Dial, DialFuture, Dialer};
use crate::http2_frames::{accept, go_away, next_request, reset, response};

type Serving = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// Serves each connection by a function, which gets the number of the connection.
struct Server<F> {
    opened: AtomicU32,
    serve: F,
}

impl<F> fmt::Debug for Server<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Server")
    }
}

impl<F: Fn(DuplexStream, u32) -> Serving> Server<F> {
    fn new(serve: F) -> Arc<Self> {
        let opened = AtomicU32::new(0);
        Arc::new(Self { opened, serve })
    }

    fn opened(&self) -> u32 {
        self.opened.load(Ordering::Relaxed)
    }
}

impl<F: Fn(DuplexStream, u32) -> Serving + Send + Sync + 'static> Dial for Server<F> {
    fn dial(&self) -> DialFuture {
        let number = self.opened.fetch_add(1, Ordering::Relaxed);
        let (ours, theirs) = duplex(1 << 16);
        tokio::spawn((self.serve)(theirs, number));
        Box::pin(async { Ok(Box::new(ours) as _) })
    }
}

type NewPool = fn(Arc<dyn Dial>) -> Pool;

fn http2_pool(server: Arc<dyn Dial>) -> Pool {
    let mut builder = client_builder(&HttpClientLimits::default());
    builder.http2_only(true);
    let connections = Connections::new(builder, Dialer(server), HTTP2_IDLE_TIMEOUT);
    Pool {
        client: Client::Hyper(HyperClient::Dialed(connections)),
        via: None,
        proxy_authorization: None,
    }
}

/// The same connections in a client of the user.
fn own_http2_pool(server: Arc<dyn Dial>) -> Pool {
    let limits = HttpClientLimits::default();
    let mut builder = client_builder(&limits);
    let client = builder.http2_only(true).build(Dialer(server));
    Pool::with_client(&limits, Arc::new(client))
}

/// Sends a request without a body.
async fn send(pool: &Pool, url: &str) -> Result<(), HttpError> {
    let request = Request::post(url).body(Bytes::new()).unwrap();
    pool.send(request).await.map(drop)
}

const INTERNAL_ERROR: u32 = 2;
const REFUSED_STREAM: u32 = 7;
const CANCEL: u32 = 8;

/// Answers requests over HTTP/2, the second one with `end`.
async fn serve_http2(mut stream: DuplexStream, end: Option<Vec<u8>>) -> io::Result<()> {
    accept(&mut stream).await?;
    loop {
        let frame = match (&end, next_request(&mut stream).await?) {
            (Some(end), 3) => end.clone(),
            (_, id) => response(id),
        };
        stream.write_all(&frame).await?;
    }
}

#[tokio::test]
async fn a_request_that_the_server_has_not_processed_is_sent_again() {
    for (end, expected) in [
        (go_away(1, 0), "answered"),
        (reset(3, REFUSED_STREAM), "answered"),
        (go_away(1, INTERNAL_ERROR), "closed"),
        (reset(3, CANCEL), "closed"),
    ] {
        for (new_pool, is_own) in [(http2_pool as NewPool, false), (own_http2_pool, true)] {
            let frame = end.clone();
            let server = Server::new(move |stream, number| -> Serving {
                // Only the second request of the first connection has another end.
                let end = (number == 0).then(|| frame.clone());
                Box::pin(serve_http2(stream, end))
            });
            let pool = new_pool(Arc::clone(&server) as _);
            send(&pool, "http://x.example/").await.unwrap();
            let outcome = match send(&pool, "http://x.example/").await {
                Ok(()) => "answered",
                Err(HttpError::Closed(_)) => "closed",
                Err(error) => panic!("{end:?}: {error}"),
            };
            assert_eq!(outcome, expected, "{end:?}");
            let opened = if expected == "answered" { 2 } else { 1 };
            // The client of a user chooses its connections.
            assert!(is_own || server.opened() == opened, "{end:?}");
        }
    }
}

#[tokio::test]
async fn a_request_that_is_never_processed_is_sent_twice() {
    let server = Server::new(|mut stream, _| -> Serving {
        Box::pin(async move {
            accept(&mut stream).await?;
            let id = next_request(&mut stream).await?;
            stream.write_all(&reset(id, REFUSED_STREAM)).await?;
            tokio::io::copy(&mut stream, &mut sink()).await.map(drop)
        })
    });
    let pool = http2_pool(Arc::clone(&server) as _);
    let error = send(&pool, "http://x.example/").await.unwrap_err();
    assert!(matches!(error, HttpError::Unreachable(_)), "{error}");
    assert_eq!(server.opened(), 2);
}

#[tokio::test]
async fn a_client_of_the_user_without_a_connection_has_sent_nothing() {
    let url = format!("http://{}/", listen(None).await);
    let client = hyper_util::client::legacy::Client::builder(TokioExecutor::new());
    let pool = Pool::with_client(&HttpClientLimits::default(), Arc::new(client.build_http()));
    let error = send(&pool, &url).await.unwrap_err();
    assert!(matches!(error, HttpError::Unreachable(_)), "{error}");
    let text = error.to_string();
    assert!(text.contains("tcp connect error"), "{text}");
}

/// Answers requests over HTTP/1.1 that have no body.
async fn serve_http1(mut stream: DuplexStream, head: &'static str) -> io::Result<()> {
    loop {
        read_head(&mut stream).await?;
        let response = format!("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n{head}\r\n");
        stream.write_all(response.as_bytes()).await?;
    }
}

async fn read_head(stream: &mut (impl AsyncReadExt + Unpin)) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_is_not_used_shortly_before_the_server_closes_it() {
    for (head, pause_ms, is_reused) in [
        ("", 3_900, true),
        ("", 4_100, false),
        ("keep-alive: timeout=2\r\n", 900, true),
        ("keep-alive: timeout=2\r\n", 1_100, false),
        ("keep-alive: timeout=1\r\n", 1, false),
        ("keep-alive: max=100, Timeout = 30\r\n", 28_900, true),
        ("keep-alive: max=100, Timeout = 30\r\n", 29_100, false),
        ("keep-alive: timeout=100000\r\n", 89_900, true),
        ("keep-alive: timeout=100000\r\n", 90_100, false),
    ] {
        let server = Server::new(move |stream, _| Box::pin(serve_http1(stream, head)) as Serving);
        let pool = Pool::dialed(&HttpClientLimits::default(), Arc::clone(&server) as _);
        // The first response determines the timeout.
        send(&pool, "http://x.example/").await.unwrap();
        send(&pool, "http://x.example/").await.unwrap();
        let opened = server.opened();
        sleep(Duration::from_millis(pause_ms)).await;
        send(&pool, "http://x.example/").await.unwrap();
        let was_reused = server.opened() == opened;
        assert_eq!(was_reused, is_reused, "{head:?}, {pause_ms} ms");
    }
}

/// Address of a server that answers the first request on its only connection; without a response, of none.
async fn listen(response: Option<String>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    if let Some(response) = response {
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await?;
            read_head(&mut stream).await?;
            stream.write_all(response.as_bytes()).await?;
            tokio::io::copy(&mut stream, &mut sink()).await
        });
    }
    address
}

#[tokio::test]
async fn failures_of_a_proxy_name_the_proxy() {
    type NewRoute = fn(Uri, Option<HeaderValue>) -> Route;
    let response = |status| Some(format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n"));
    let (tunnel, forward): (NewRoute, NewRoute) = (Route::Tunnel, Route::Forward);
    for (route, response, expected) in [
        (tunnel, None, "the proxy failed"),
        (forward, None, "the proxy failed: tcp connect error"),
        (
            tunnel,
            response("403 Forbidden"),
            "the proxy failed: it refused a tunnel with the HTTP status 403 Forbidden",
        ),
        (
            forward,
            response("407 Denied"),
            "credentials (HTTP status 407)",
        ),
    ] {
        let address = listen(response).await;
        let proxy = format!("http://me:secret@{address}").parse().unwrap();
        let url = "http://mcp.example/";
        let limits = HttpClientLimits::default();
        let pool = Pool::along(
            route(proxy, None),
            &Uri::from_static(url),
            &limits,
            (None, None),
        )
        .unwrap();
        let error = send(&pool, url).await.unwrap_err();
        assert!(matches!(error, HttpError::Unreachable(_)), "{error}");
        let path = format!("the server at mcp.example (through the proxy at {address} ");
        let text = error.to_string();
        assert!(text.contains(&path) && text.contains(expected), "{text}");
        assert!(!text.contains("secret"), "{text}");
    }
}

#[tokio::test]
async fn too_many_or_too_large_headers_are_a_violation() {
    for headers in [
        "a: b\r\n".repeat(101),
        format!("a: {}\r\n", "b".repeat(256 << 10)),
    ] {
        let response = format!("HTTP/1.1 200 OK\r\n{headers}content-length: 0\r\n\r\n");
        let url = format!("http://{}/", listen(Some(response)).await);
        let pool = Pool::new(&url.parse().unwrap(), &HttpClientLimits::default()).unwrap();
        let error = send(&pool, &url).await.unwrap_err();
        assert!(matches!(error, HttpError::Protocol(_)), "{error}");
        assert!(!error.to_string().contains("https"), "{error}");
    }
}

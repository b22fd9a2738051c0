//! Server for a container or systemd: Streamable HTTP in axum, with health, readiness and metrics beside it, and a graceful
//! shutdown on SIGTERM. `service 0.0.0.0:8080` serves; the variable `ALLOWED_HOST` names the public host.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use std::{env, io};

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};
use tower::ServiceBuilder;
use treenail::http::http_service;
use treenail::layer::{Request, Response, only};
use treenail::prelude::*;

/// Time in which the load balancer reads that the service is not ready, and sends no more requests.
const DRAIN_TIME: Duration = Duration::from_secs(5);

/// Time of calls in flight to finish.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(30);

/// Count the words of a text.
#[mcp_tool(read_only)]
async fn count_words(text: String) -> usize {
    text.split_whitespace().count()
}

/// Counters of tool calls, in the text format of Prometheus.
#[derive(Debug, Default)]
struct Metrics {
    started: AtomicU64,
    failed: AtomicU64,
    succeeded: AtomicU64,
}

impl Metrics {
    fn render(&self) -> String {
        let mut text = "# TYPE mcp_tool_calls_total counter\n".to_owned();
        for (outcome, count) in [
            ("started", &self.started),
            ("failed", &self.failed),
            ("succeeded", &self.succeeded),
        ] {
            let count = count.load(Ordering::Relaxed);
            let _infallible = writeln!(
                text,
                "mcp_tool_calls_total{{outcome=\"{outcome}\"}} {count}"
            );
        }
        text
    }
}

fn server(metrics: &Arc<Metrics>) -> treenail::Result<Server> {
    let (started, finished) = (metrics.clone(), metrics.clone());
    let count = ServiceBuilder::new()
        .map_request(move |request: Request| {
            started.started.fetch_add(1, Ordering::Relaxed);
            request
        })
        .map_response(move |response: Response| {
            let counter = if response.is_error() {
                &finished.failed
            } else {
                &finished.succeeded
            };
            counter.fetch_add(1, Ordering::Relaxed);
            response
        });
    Server::builder("words", env!("CARGO_PKG_VERSION"))
        .tools(tools![count_words])
        .layer(only(Request::is_tool_call, count))
        .build()
}

fn application(server: Server, metrics: Arc<Metrics>, host: Option<&str>) -> Router {
    let service = http_service(server.clone());
    let service = match host {
        Some(host) => service.allow_host(host),
        None => service,
    };
    Router::new()
        .route("/healthz", get(|| async { "ok" }))
        .route("/readyz", get(ready).with_state(server))
        .route("/metrics", get(async move || metrics.render()))
        .nest_service("/mcp", service)
}

/// Responds with 503 as soon as the shutdown has started, so that the load balancer sends no further requests.
async fn ready(State(server): State<Server>) -> StatusCode {
    if server.is_closed() {
        StatusCode::SERVICE_UNAVAILABLE
    } else {
        StatusCode::OK
    }
}

/// Waits for SIGTERM, which containers and systemd send, or for Ctrl-C.
async fn shutdown_signal() -> io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};

        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            _ = terminate.recv() => Ok(()),
            interrupt = tokio::signal::ctrl_c() => interrupt,
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}

/// Serves until `signal` is complete or has failed, is not ready until `drained` is complete, and waits for the calls in flight.
async fn serve(
    listener: TcpListener,
    application: Router,
    server: Server,
    signal: impl Future<Output = io::Result<()>>,
    drained: impl Future<Output = ()>,
) -> io::Result<()> {
    let (stop, stopped) = oneshot::channel::<()>();
    let serving =
        axum::serve(listener, application).with_graceful_shutdown(async { drop(stopped.await) });
    let mut serving = tokio::spawn(serving.into_future());
    let signal = tokio::select! {
        ended = &mut serving => return ended?,
        signal = signal => signal,
    };
    server.close(); // ends subscriptions
    drained.await;
    drop(stop); // no more connections
    if let Ok(ended) = timeout(SHUTDOWN_TIMEOUT, serving).await {
        ended??;
    } // otherwise the remaining calls are dropped
    signal
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> treenail::Result<()> {
    let metrics = Arc::new(Metrics::default());
    let server = server(&metrics)?;
    let host = env::var("ALLOWED_HOST").ok();
    let application = application(server.clone(), metrics, host.as_deref());
    let address = env::args()
        .nth(1)
        .unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let listener = TcpListener::bind(address).await?;
    let (signal, drained) = (shutdown_signal(), async { sleep(DRAIN_TIME).await });
    Ok(serve(listener, application, server, signal, drained).await?)
}

#[cfg(test)]
#[tokio::test]
async fn readiness_ends_with_the_server_and_calls_are_counted()
-> Result<(), Box<dyn std::error::Error>> {
    use axum::body::{Body, to_bytes};
    use axum::http::{self, Request};
    use serde_json::json;
    use tower::ServiceExt as _;

    let metrics = Arc::new(Metrics::default());
    let server = server(&metrics)?;
    let application = application(server.clone(), metrics, Some("mcp.example.com"));
    let status = async |path: &str| {
        let request = Request::get(path).body(Body::empty())?;
        Ok::<_, http::Error>(application.clone().oneshot(request).await)
    };

    let client = McpClient::builder().server(&server).build().await?;
    client
        .call_tool("count_words", json!({"text": "to be or not"}))
        .await?;
    client.call_tool("count_words", json!({})).await?;
    let text = to_bytes(status("/metrics").await??.into_body(), 4096).await?;
    let text = String::from_utf8_lossy(&text);
    assert!(text.contains("{outcome=\"succeeded\"} 1"), "{text}");

    assert_eq!(status("/readyz").await??.status(), StatusCode::OK);
    server.close();
    assert_eq!(
        status("/readyz").await??.status(),
        StatusCode::SERVICE_UNAVAILABLE
    );
    assert_eq!(status("/healthz").await??.status(), StatusCode::OK);
    Ok(())
}

#[cfg(test)]
#[tokio::test]
async fn service_is_not_ready_before_it_refuses_connections_after_a_signal_or_its_failure()
-> Result<(), Box<dyn std::error::Error>> {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpStream;

    for is_received in [true, false] {
        let metrics = Arc::new(Metrics::default());
        let server = server(&metrics)?;
        let application = application(server.clone(), metrics, None);
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let signal = async move {
            let error = || io::Error::other("no signal can be received");
            is_received.then_some(()).ok_or_else(error)
        };
        let (address, mut response) = (listener.local_addr()?, String::new());
        let drained = async {
            let mut connection = TcpStream::connect(address).await.unwrap();
            let request = b"GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
            connection.write_all(request).await.unwrap();
            connection.read_to_string(&mut response).await.unwrap();
        };
        let ended = serve(listener, application, server.clone(), signal, drained).await;
        assert_eq!((ended.is_ok(), server.is_closed()), (is_received, true));
        assert!(response.starts_with("HTTP/1.1 503 "), "{response}");
    }
    Ok(())
}

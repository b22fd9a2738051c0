//! MCP server over HTTP, with health checks beside it and a graceful shutdown.
//!
//! The first argument is the address, `127.0.0.1:8080` by default. `ALLOWED_HOST` is the public name of the server.

mod tools;

use std::time::Duration;
use std::{env, io};

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::time::timeout;
use treenail::http::http_service;
use treenail::prelude::*;

use crate::tools::{add, divide};

/// Time of calls in flight to finish.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(30);

/// Returns the server with its tools.
fn server() -> treenail::Result<Server> {
    treenail::server!().tools(tools![add, divide]).build()
}

/// Returns all routes. Requests for other hosts than `allowed_host` and this computer are refused.
fn application(server: &Server, allowed_host: Option<&str>) -> Router {
    let mut service = http_service(server.clone());
    if let Some(host) = allowed_host {
        service = service.allow_host(host);
    }
    Router::new()
        .route("/healthz", get(async || "ok"))
        .route("/readyz", get(ready).with_state(server.clone()))
        .nest_service("/mcp", service)
}

/// Responds with 503 as soon as the shutdown has started, so that no further requests arrive.
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

/// Serves until `signal` is complete or has failed, and waits for the calls in flight.
async fn serve(
    listener: TcpListener,
    application: Router,
    server: Server,
    signal: impl Future<Output = io::Result<()>>,
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
    drop(stop);
    if let Ok(ended) = timeout(SHUTDOWN_TIMEOUT, serving).await {
        ended??;
    } // otherwise the remaining calls are dropped
    signal
}

#[tokio::main]
async fn main() -> treenail::Result<()> {
    let server = server()?;
    let application = application(&server, env::var("ALLOWED_HOST").ok().as_deref());
    let address = env::args().nth(1);
    let listener = TcpListener::bind(address.as_deref().unwrap_or("127.0.0.1:8080")).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    serve(listener, application, server, shutdown_signal()).await?;
    Ok(())
}

#[cfg(test)]
mod tests;

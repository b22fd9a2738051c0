//! MCP server over HTTP, with health checks beside it and a graceful shutdown.
//!
//! The first argument is the address, `127.0.0.1:8080` by default. `ALLOWED_HOST` is the public name of the server.

mod tools;

use std::{env, io};

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use tokio::net::TcpListener;
use treenail::http::http_service;
use treenail::prelude::*;

use crate::tools::{add, divide};

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

#[tokio::main]
async fn main() -> treenail::Result<()> {
    let server = server()?;
    let application = application(&server, env::var("ALLOWED_HOST").ok().as_deref());
    let address = env::args().nth(1);
    let listener = TcpListener::bind(address.as_deref().unwrap_or("127.0.0.1:8080")).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, application)
        .with_graceful_shutdown(async move {
            if shutdown_signal().await.is_ok() {
                server.close(); // ends subscriptions, and lets the calls in flight finish
            }
        })
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests;

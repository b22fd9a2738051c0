//! A server with one tool in a router of axum, as the guide of Treenail serves it. With the address of a service, the tool asks it
//! first. It has no sessions if the last argument is `--no-sessions`.

use std::{env, io};

use axum::Router;
use tokio::net::TcpListener;
use treenail::http::http_service;
use treenail::prelude::*;

/// Adds two integers.
#[mcp_tool]
async fn add(a: i64, b: i64) -> io::Result<i64> {
    bench_io::fetch().await?;
    Ok(a + b)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = treenail::server!().tools(tools![add]).build()?;
    let mut service = http_service(server);
    if env::args().last().as_deref() == Some("--no-sessions") {
        service = service.without_sessions();
    }
    let router = Router::new().route_service("/mcp", service);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, router).await?;
    Ok(())
}

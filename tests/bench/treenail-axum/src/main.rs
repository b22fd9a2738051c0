//! A server with one tool in a router of axum, as the guide of Treenail serves it. With the address of a service, the tool asks it
//! first.

use std::io;

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
    let router = Router::new().route_service("/mcp", http_service(server));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, router).await?;
    Ok(())
}

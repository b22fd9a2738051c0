//! Calls over HTTP, on a free port of this computer.

use std::future;

use axum::extract::State;
use axum::http::StatusCode;
use tokio::net::TcpListener;
use treenail::prelude::*;

use crate::{application, ready, serve, server};

#[tokio::test]
async fn tools_are_served_over_http() -> treenail::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    let application = application(&server()?, None);
    tokio::spawn(async { axum::serve(listener, application).await });

    let client = McpClient::builder().url(url).build().await?;
    let arguments = json!({"a": 1, "b": 2});
    let sum: i64 = client.call_tool_as("add", arguments).await?;
    assert_eq!(sum, 3);
    client.close().await?;
    Ok(())
}

#[tokio::test]
async fn model_reads_why_a_division_fails() -> treenail::Result<()> {
    let client = McpClient::builder().server(&server()?).build().await?;
    let arguments = json!({"dividend": 1, "divisor": 0});
    let error = client.call_tool_as::<i64>("divide", arguments).await;
    let message = error.unwrap_err().to_string();
    assert!(message.contains("1 cannot be divided by 0"), "{message}");
    Ok(())
}

#[tokio::test]
async fn readiness_ends_with_the_server() -> treenail::Result<()> {
    let server = server()?;
    assert_eq!(ready(State(server.clone())).await, StatusCode::OK);
    server.close();
    assert_eq!(ready(State(server)).await, StatusCode::SERVICE_UNAVAILABLE);
    Ok(())
}

#[tokio::test]
async fn signal_ends_the_server() -> treenail::Result<()> {
    let server = server()?;
    let application = application(&server, None);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    serve(listener, application, server.clone(), future::ready(Ok(()))).await?;
    assert!(server.is_closed());
    Ok(())
}

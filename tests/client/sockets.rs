//! Servers over sockets of TCP and Unix, without HTTP.

use std::sync::Arc;

use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite, split};
use tokio::net::{TcpListener, TcpStream};
use treenail::client::LineSession;
use treenail::prelude::*;
use treenail::schema::Revision;

use crate::fixture::server;

/// Calls a tool over a connection, in a revision.
async fn call(stream: impl AsyncRead + AsyncWrite + Send + 'static, revision: Revision) {
    let (reader, writer) = split(stream);
    let client = McpClient::builder()
        .session(Arc::new(LineSession::new(reader, writer)))
        .protocol_version(revision)
        .build()
        .await
        .unwrap();
    let sum: i64 = client
        .call_tool_as("add", json!({"a": 2, "b": 3}))
        .await
        .unwrap();
    assert_eq!(sum, 5, "{revision}");
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_server_serves_peers_over_tcp() {
    let (server, _) = server();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    for revision in Revision::ALL {
        let (connected, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
        let (server, (stream, _)) = (server.clone(), accepted.unwrap());
        let serving = tokio::spawn(async move {
            let (reader, writer) = stream.into_split();
            server.serve(reader, writer).await
        });
        call(connected.unwrap(), revision).await;
        serving.await.unwrap().unwrap();
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_server_serves_peers_over_unix_sockets() {
    let (server, _) = server();
    for revision in Revision::ALL {
        let (here, there) = tokio::net::UnixStream::pair().unwrap();
        let server = server.clone();
        let serving = tokio::spawn(async move {
            let (reader, writer) = there.into_split();
            server.serve(reader, writer).await
        });
        call(here, revision).await;
        serving.await.unwrap().unwrap();
    }
}

//! Streamable HTTP over Unix sockets.

use std::path::Path;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use serde_json::json;
use tokio::net::UnixListener;
use treenail::client::HttpSession;
use treenail::http::http_service;
use treenail::prelude::*;
use treenail::schema::Revision;

/// Returns the host and the target of the request.
#[mcp_tool]
fn address(cx: &Context) -> String {
    let parts = cx.extension::<http::request::Parts>().unwrap();
    let host = parts.headers.get("host").unwrap().to_str().unwrap();
    format!("{host} {}", parts.uri)
}

fn serve(path: &Path) {
    let server = Server::builder("desk", "1").tools(tools![address]).build();
    let service = http_service(server.unwrap());
    let listener = UnixListener::bind(path).unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = TowerToHyperService::new(service.clone());
            tokio::spawn(async move {
                let builder = auto::Builder::new(TokioExecutor::new());
                // The client may have left.
                let _ = builder
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    });
}

#[tokio::test]
async fn the_url_is_sent_over_a_unix_socket() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mcp.sock");
    serve(&path);
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let http = HttpSession::builder("http://localhost:81/mcp").unix_socket(&path);
        let client = McpClient::builder().http(http).protocol_version(revision);
        let client = client.build().await.unwrap();
        let address: String = client.call_tool_as("address", json!({})).await.unwrap();
        assert_eq!(address, "localhost:81 /mcp", "{revision}");
        client.close().await.unwrap();
    }
}

#[tokio::test]
async fn an_error_names_the_unix_socket() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mcp.sock");
    let http = HttpSession::builder("http://localhost/mcp").unix_socket(&path);
    let error = McpClient::builder().http(http).build().await.unwrap_err();
    let expected = format!(
        "the server cannot be reached: no connection to the server at localhost (through the Unix socket `{}`): ",
        path.display()
    );
    assert!(error.to_string().starts_with(&expected), "{error}");
    assert!(error.to_string().contains("No such file"), "{error}");
}

//! The least that answers a POST with axum, as its documentation serves it: the body read to its end, and the same bytes for all.

use std::io;

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::post;
use tokio::net::TcpListener;

/// As long as an answer to a call of `add`.
const ANSWER: &[u8] = br#"{"jsonrpc":"2.0","id":1000,"result":{"structuredContent":3000,"content":[{"type":"text","text":"3000"}],"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"hyper-http","version":"0.0.0"}}}}"#;

#[tokio::main]
async fn main() -> io::Result<()> {
    let router = Router::new().route("/mcp", post(answer));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, router).await
}

async fn answer(_body: Bytes) -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], ANSWER)
}

//! The least that answers a POST with hyper: one task a connection, the body read to its end, and the same bytes for all.
//!
//! With `--unread` it does not even read the body.

use std::convert::Infallible;
use std::env;
use std::io;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

/// As long as an answer to a call of `add`.
const ANSWER: &[u8] = br#"{"jsonrpc":"2.0","id":1000,"result":{"structuredContent":3000,"content":[{"type":"text","text":"3000"}],"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"hyper-http","version":"0.0.0"}}}}"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let read = env::args().nth(1).as_deref() != Some("--unread");
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        let connection = http1::Builder::new().serve_connection(
            TokioIo::new(socket),
            service_fn(move |request| answer(request, read)),
        );
        tokio::spawn(connection);
    }
}

async fn answer(
    request: Request<Incoming>,
    read: bool,
) -> Result<Response<Full<Bytes>>, Infallible> {
    if read {
        let _ = request.into_body().collect().await;
    }
    let mut response = Response::new(Full::new(Bytes::from_static(ANSWER)));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    Ok(response)
}

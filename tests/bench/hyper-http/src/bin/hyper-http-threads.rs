//! `hyper-http` on the threads of `#[tokio::main]`.

use std::convert::Infallible;
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

#[tokio::main]
async fn main() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        let connection =
            http1::Builder::new().serve_connection(TokioIo::new(socket), service_fn(answer));
        tokio::spawn(connection);
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let _ = request.into_body().collect().await;
    let mut response = Response::new(Full::new(Bytes::from_static(ANSWER)));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    Ok(response)
}

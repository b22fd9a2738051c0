//! A service that answers `GET` of Redis and of HTTP on one port, at once and with the same value.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use bench_io::VALUE_BYTES;

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let value = format!("{:0>width$}END.", "", width = VALUE_BYTES - 4);
    let redis = format!("${VALUE_BYTES}\r\n{value}\r\n");
    let http = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: {VALUE_BYTES}\r\n\r\n{value}"
    );
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(serve(stream, redis.clone(), http.clone()));
    }
}

/// Answers each request; clients send the next one after the answer, in one write.
async fn serve(mut stream: TcpStream, redis: String, http: String) -> io::Result<()> {
    let mut request = [0; 1024];
    loop {
        let answer = match stream.read(&mut request).await? {
            0 => return Ok(()),
            _ if request.starts_with(b"*") => &redis,
            _ => &http,
        };
        stream.write_all(answer.as_bytes()).await?;
    }
}

//! Tunnel through a proxy.

use http::{HeaderValue, StatusCode, Uri};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::error::BoxError;

/// Maximum size of the head of the response of a proxy in bytes.
const MAX_HEAD_BYTES: usize = 8 << 10;

/// Asks the proxy at the other end of `stream` for a connection to a server with `https` (RFC 9110, section 9.3.6).
pub(crate) async fn open_tunnel(
    mut stream: TcpStream,
    to: &Uri,
    authorization: Option<&HeaderValue>,
) -> Result<TcpStream, BoxError> {
    let (host, port) = (to.host().unwrap_or_default(), to.port_u16().unwrap_or(443));
    let mut request = format!("CONNECT {host}:{port} HTTP/1.1\r\nhost: {host}:{port}\r\n");
    if let Some(authorization) = authorization {
        request.push_str("proxy-authorization: ");
        request.push_str(authorization.to_str()?);
        request.push_str("\r\n");
    }
    request.push_str("\r\n");
    stream.write_all(request.as_bytes()).await?;
    // Read byte by byte, because the bytes after the head are those of the server.
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() == MAX_HEAD_BYTES {
            return Err("the head of its response is too large".into());
        }
        head.push(stream.read_u8().await?);
    }
    match status(&head) {
        Some(status) if status.is_success() => Ok(stream),
        Some(status) => Err(format!("it refused a tunnel with the HTTP status {status}").into()),
        None => Err("its response is not HTTP".into()),
    }
}

/// Returns the status in the head of a response.
fn status(head: &[u8]) -> Option<StatusCode> {
    let version_and_status = head.strip_prefix(b"HTTP/1.")?;
    StatusCode::from_bytes(version_and_status.get(2..5)?).ok()
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    /// Opens a tunnel through a proxy with this response. Returns the request, and the bytes from the tunnel.
    async fn open(response: &'static [u8]) -> (String, Result<Vec<u8>, String>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap());
        let proxy = async {
            let (mut proxy, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                request.push(proxy.read_u8().await.unwrap());
            }
            // The client may have left.
            let _ = proxy.write_all(response).await;
            String::from_utf8(request).unwrap()
        };
        let to = Uri::from_static("https://mcp.example/a");
        let authorization = HeaderValue::from_static("Basic eDp5");
        let client = async {
            let tunnel = open_tunnel(stream.await.unwrap(), &to, Some(&authorization)).await;
            let mut received = Vec::new();
            let mut tunnel = tunnel.map_err(|error| error.to_string())?;
            tunnel.read_to_end(&mut received).await.unwrap();
            Ok(received)
        };
        tokio::join!(proxy, client)
    }

    #[tokio::test]
    async fn a_tunnel_starts_after_the_head_of_a_success() {
        let (request, received) = open(b"HTTP/1.1 200 Established\r\nvia: x\r\n\r\nhello").await;
        assert_eq!(
            request,
            "CONNECT mcp.example:443 HTTP/1.1\r\nhost: mcp.example:443\r\nproxy-authorization: Basic eDp5\r\n\r\n"
        );
        assert_eq!(received.unwrap(), b"hello");
    }

    #[tokio::test]
    async fn a_refused_tunnel_shows_the_status() {
        const LARGE: &[u8] = &[b'x'; MAX_HEAD_BYTES];
        for (response, expected) in [
            (
                &b"HTTP/1.1 403 No\r\n\r\n"[..],
                "it refused a tunnel with the HTTP status 403 Forbidden",
            ),
            (
                b"HTTP/1.0 407 No\r\n\r\n",
                "it refused a tunnel with the HTTP status 407 Proxy Authentication Required",
            ),
            (b"SSH-2.0-x\r\n\r\n", "its response is not HTTP"),
            (LARGE, "the head of its response is too large"),
        ] {
            assert_eq!(open(response).await.1.unwrap_err(), expected);
        }
    }
}

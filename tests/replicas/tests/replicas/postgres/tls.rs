//! Connections with a TLS connector. PostgreSQL has no TLS on its sockets, so a relay answers the request for it.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf, copy_bidirectional};
use tokio::net::{TcpListener, UnixStream};
use tokio_postgres::Socket;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use treenail::tasks::TaskStore;

use super::postgres_server::PostgresServer;

/// Connector that counts handshakes, and encrypts nothing.
#[derive(Clone, Default)]
struct Plain(Arc<AtomicU64>);

struct PlainStream(Socket);

impl MakeTlsConnect<Socket> for Plain {
    type Stream = PlainStream;
    type TlsConnect = Self;
    type Error = Infallible;

    fn make_tls_connect(&mut self, domain: &str) -> Result<Self, Infallible> {
        assert_eq!(domain, "localhost");
        Ok(self.clone())
    }
}

impl TlsConnect<Socket> for Plain {
    type Stream = PlainStream;
    type Error = Infallible;
    type Future = Ready<Result<PlainStream, Infallible>>;

    fn connect(self, stream: Socket) -> Self::Future {
        self.0.fetch_add(1, Ordering::Relaxed);
        ready(Ok(PlainStream(stream)))
    }
}

impl TlsStream for PlainStream {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for PlainStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for PlainStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buffer)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

/// Accepts connections, answers their request for TLS, and relays the rest to a server.
async fn relay(
    listener: TcpListener,
    server: Arc<PostgresServer>,
    has_tls: bool,
) -> io::Result<()> {
    loop {
        let (mut client, _) = listener.accept().await?;
        let mut request = [0; 8];
        client.read_exact(&mut request).await?;
        assert_eq!(request, [0, 0, 0, 8, 4, 210, 22, 47]);
        client.write_all(if has_tls { b"S" } else { b"N" }).await?;
        let mut server = UnixStream::connect(server.socket()).await?;
        tokio::spawn(async move { copy_bidirectional(&mut client, &mut server).await });
    }
}

/// Opens a store over a relay, and returns the number of handshakes.
async fn handshakes(mode: &str, has_tls: bool) -> Result<u64, String> {
    let server = PostgresServer::shared();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(relay(listener, server, has_tls));
    let (builder, _) = PostgresServer::builder();
    let connector = Plain::default();
    let url =
        format!("postgres://admin@localhost:{port}/postgres?hostaddr=127.0.0.1&sslmode={mode}");
    let store = builder.tls(connector.clone()).build(url).unwrap();
    let due = store.due(1).await.map_err(|error| error.to_string())?;
    assert_eq!(due, []);
    Ok(connector.0.load(Ordering::Relaxed))
}

#[tokio::test]
#[ignore = "needs postgres"]
async fn connections_use_the_tls_connector() {
    assert_eq!(handshakes("require", true).await, Ok(1));
    assert_eq!(handshakes("prefer", true).await, Ok(1));
    assert_eq!(handshakes("prefer", false).await, Ok(0));
    let refused = handshakes("require", false).await.unwrap_err();
    assert!(
        refused.contains("the TLS handshake with PostgreSQL failed"),
        "{refused}"
    );
}

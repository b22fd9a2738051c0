//! Serving of a peer over a pair of byte streams, until its input ends or the server closes.

use std::future::{Future as _, poll_fn};
use std::io::ErrorKind;
use std::pin::pin;

use tokio::io::{AsyncRead, AsyncWrite};

use super::LineDriver;
use crate::error::Result;
use crate::server::{Connection, Server};

impl Server {
    /// Serves one peer over a pair of byte streams, one message per line, until its input ends or the server
    /// [closes](Server::close).
    ///
    /// It then finishes the calls in flight, within [`Limits::shutdown_timeout`](crate::Limits::shutdown_timeout), and writes
    /// their responses. It must run on a tokio runtime with time enabled.
    ///
    /// With an [event bus](crate::ServerBuilder::event_bus), await [`Server::flush_events`] before the process ends.
    ///
    /// For a socket, each accepted connection is one peer. The loop bounds their number:
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::time::Duration;
    ///
    /// use tokio::net::TcpListener;
    /// use tokio::sync::Semaphore;
    /// use treenail::Server;
    ///
    /// async fn serve_tcp(server: &Server, listener: TcpListener) {
    ///     let permits = Arc::new(Semaphore::new(100));
    ///     let accept = async || (permits.clone().acquire_owned().await, listener.accept().await);
    ///     loop {
    ///         let (permit, accepted) = tokio::select! {
    ///             accepted = accept() => accepted,
    ///             () = server.closed() => return,
    ///         };
    ///         let Ok((stream, _)) = accepted else {
    ///             // For example, the process has too many open files.
    ///             tokio::time::sleep(Duration::from_secs(1)).await;
    ///             continue;
    ///         };
    ///         let server = server.clone();
    ///         tokio::spawn(async move {
    ///             let _permit = permit;
    ///             let (reader, writer) = stream.into_split();
    ///             if let Err(error) = server.serve(reader, writer).await {
    ///                 eprintln!("a connection has failed: {error}");
    ///             }
    ///         });
    ///     }
    /// }
    /// ```
    ///
    /// A Unix socket needs `UnixListener` in place of `TcpListener`. Its peers are those that the permissions of its path admit. A TCP
    /// socket admits every process that reaches its address: authenticate its peers, and serve them with [`Connection::serve`].
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::Error::Io) if reading or writing fails. A disconnected peer is not an error.
    ///
    /// # Cancellation
    ///
    /// Dropping the future stops the calls in flight.
    pub async fn serve<R, W>(&self, reader: R, writer: W) -> Result<()>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        self.connect().serve(reader, writer).await
    }
}

impl Connection {
    /// Serves the peer of this connection over a pair of byte streams, like [`Server::serve`].
    ///
    /// Use it for a peer that is authenticated before its first message:
    ///
    /// ```
    /// use tokio::io::{AsyncRead, AsyncWrite};
    /// use treenail::Server;
    /// use treenail::context::Principal;
    ///
    /// async fn accept<S: AsyncRead + AsyncWrite>(server: &Server, user: String, stream: S) -> treenail::Result<()> {
    ///     let mut connection = server.connect();
    ///     connection.extensions_mut().insert(Principal::new(user));
    ///     let (reader, writer) = tokio::io::split(stream);
    ///     connection.serve(reader, writer).await
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::Error::Io) if reading or writing fails. A disconnected peer is not an error.
    ///
    /// # Cancellation
    ///
    /// Dropping the future stops the calls in flight.
    pub async fn serve<R, W>(self, reader: R, writer: W) -> Result<()>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let server = self.server().clone();
        let mut closed = pin!(server.closed());
        let mut driver = LineDriver::new(self, reader, writer);
        let ended = poll_fn(|context| {
            loop {
                let polled = driver.poll(context);
                let is_open = polled.is_pending() && !driver.input.ended;
                if !(is_open && closed.as_mut().poll(context).is_ready()) {
                    return polled;
                }
            }
        });
        let ended = ended.await;
        match ended {
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::BrokenPipe | ErrorKind::ConnectionReset
                ) =>
            {
                tracing::debug!(%error, "the peer has disconnected");
                Ok(())
            }
            other => Ok(other?),
        }
    }
}

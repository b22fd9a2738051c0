//! Session over a pair of byte streams, with one message per line.
//!
//! Requests append their lines to a shared buffer and wait. The driver task writes that buffer, many lines at once, reads
//! the lines of the server, and completes the request that an answer belongs to.

mod driver;
mod id_hasher;
mod inner;
mod message;
mod output;
mod pending;

use std::fmt;
use std::future::{Future, pending, ready};
use std::pin::Pin;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite, duplex};

use self::driver::Driver;
use self::inner::Inner;
use crate::client::stray::StrayLines;
use crate::client::{
    ClientLimits, IncomingHandler, Session, SessionFuture, SessionNotification, SessionRequest,
    TransportKind,
};
use crate::server::Connection;

/// Size of the in-memory buffer of each direction, in bytes.
pub const IN_MEMORY_BUFFER_BYTES: usize = 64 * 1024;

/// A [`Session`] over any pair of byte streams, such as the halves of a socket. Each message is one line, as on the
/// standard streams of a process.
///
/// ```no_run
/// use std::sync::Arc;
/// use treenail::client::{LineSession, McpClientSession};
///
/// # async fn connect() -> Result<(), Box<dyn std::error::Error>> {
/// let stream = tokio::net::TcpStream::connect("127.0.0.1:4000").await?;
/// let (reader, writer) = tokio::io::split(stream);
/// let session = Arc::new(LineSession::new(reader, writer));
/// let session = McpClientSession::builder().session(session).build().await?;
/// # Ok(())
/// # }
/// ```
///
/// Dropping the session closes the input of the server. The driver task continues to read for at most
/// [`ClientLimits::shutdown_timeout`].
pub struct LineSession {
    inner: Arc<Inner>,
    transport: TransportKind,
}

/// Kind of the streams of a session, and source of the reason for which it closed.
pub struct CloseReason {
    /// Kind of the streams.
    pub transport: TransportKind,
    /// Ready when the server has exited. Its streams may still be open: another process may have inherited them.
    pub exited: Pin<Box<dyn Future<Output = ()> + Send>>,
    /// Called when the session starts to close. From then on, the server has the shutdown timeout to exit.
    pub stop: Box<dyn Fn() + Send + Sync>,
    /// Polled when the streams have ended; returns the reason. Stops the server, if it has not exited.
    pub reason: Pin<Box<dyn Future<Output = String> + Send>>,
}

impl fmt::Debug for CloseReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CloseReason")
            .finish_non_exhaustive()
    }
}

impl CloseReason {
    /// For a session without a child process, which closes when its streams end.
    pub fn of_streams() -> Self {
        Self {
            transport: TransportKind::Stream,
            exited: Box::pin(pending()),
            stop: Box::new(|| {}),
            reason: Box::pin(ready("the server has closed it".to_owned())),
        }
    }
}

impl LineSession {
    /// Creates a session over a pair of streams, with the default limits.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime, on which it spawns its driver task.
    pub fn new<R, W>(reader: R, writer: W) -> Self
    where
        R: AsyncRead + Send + 'static,
        W: AsyncWrite + Send + 'static,
    {
        Self::with_limits(reader, writer, &ClientLimits::default())
    }

    /// As [`LineSession::new`], with custom limits.
    ///
    /// # Panics
    ///
    /// As [`LineSession::new`].
    pub fn with_limits<R, W>(reader: R, writer: W, limits: &ClientLimits) -> Self
    where
        R: AsyncRead + Send + 'static,
        W: AsyncWrite + Send + 'static,
    {
        let stray = StrayLines::default();
        let close_reason = CloseReason::of_streams();
        Self::with_close_reason(reader, writer, limits, (close_reason, stray))
    }

    /// Creates a session with a server in the same process, which serves the connection in a separate task.
    ///
    /// # Panics
    ///
    /// As [`LineSession::new`].
    pub fn in_memory(connection: Connection, limits: &ClientLimits) -> Self {
        let (ours, theirs) = duplex(IN_MEMORY_BUFFER_BYTES);
        tokio::spawn(async move {
            let (reader, writer) = tokio::io::split(theirs);
            if let Err(error) = connection.serve(reader, writer).await {
                tracing::debug!(%error, "an in-memory server stopped");
            }
        });
        let (reader, writer) = tokio::io::split(ours);
        Self::with_limits(reader, writer, limits)
    }

    pub(in crate::client) fn with_close_reason<R, W>(
        reader: R,
        writer: W,
        limits: &ClientLimits,
        (close_reason, stray): (CloseReason, StrayLines),
    ) -> Self
    where
        R: AsyncRead + Send + 'static,
        W: AsyncWrite + Send + 'static,
    {
        let inner = Arc::new(Inner::new(limits.clone(), stray));
        let transport = close_reason.transport;
        let (reader, writer) = (Box::pin(reader), Box::pin(writer));
        let driver = Driver::new(Arc::clone(&inner), reader, writer, close_reason);
        tokio::spawn(driver);
        Self { inner, transport }
    }
}

impl Session for LineSession {
    fn listen(&self, incoming: Arc<dyn IncomingHandler>) {
        self.inner.set_handler(incoming);
    }

    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String> {
        Box::pin(async move {
            let _permit = if request.counts_as_in_flight() {
                Some(self.inner.acquire_permit().await?)
            } else {
                None
            };
            self.inner.wait_for_output_space().await;
            self.inner.send_request(&request)?.await
        })
    }

    fn notify(&self, notification: SessionNotification) -> SessionFuture<'_, ()> {
        Box::pin(async move {
            self.inner.wait_for_output_space().await;
            self.inner.send_notification(&notification)
        })
    }

    fn transport(&self) -> TransportKind {
        self.transport
    }

    fn stray_line(&self) -> Option<String> {
        self.inner.stray.first().map(str::to_owned)
    }

    fn close(&self) -> SessionFuture<'_, ()> {
        Box::pin(async move {
            self.inner.start_closing();
            self.inner.wait_until_closed().await;
            Ok(())
        })
    }
}

impl Drop for LineSession {
    fn drop(&mut self) {
        self.inner.start_closing();
    }
}

impl fmt::Debug for LineSession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("LineSession")
            .finish_non_exhaustive()
    }
}

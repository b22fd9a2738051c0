//! A session over a pair of byte streams, one message a line.
//!
//! Requests write their lines into one buffer and wait; one task writes that buffer, many lines at once, reads what the
//! server sends, and wakes the request that an answer belongs to.

mod driver;
mod message;
mod shared;

use std::fmt;
use std::future::{Future, pending, ready};
use std::pin::Pin;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite, duplex};

use self::driver::Driver;
use self::shared::{Shared, Waiting};
use crate::client::stray::StrayLines;
use crate::client::{
    ClientLimits, IncomingHandler, Session, SessionFuture, SessionNotification, SessionRequest,
    TransportKind,
};
use crate::server::Connection;

/// The bytes that are under way in memory, each way.
pub const IN_MEMORY: usize = 64 * 1024;

/// A [`Session`] over any pair of byte streams, such as the halves of a socket: one message a line, as over the standard
/// streams of a process.
///
/// ```no_run
/// use std::sync::Arc;
/// use treenail_runtime::client::{LineSession, McpClientSession};
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
/// One that is dropped lets the server know by ending its input, and reads on for at most
/// [`ClientLimits::shutdown_timeout`].
pub struct LineSession {
    shared: Arc<Shared>,
}

/// How a session ends.
pub struct Ending {
    /// Ready when the server has ended, although its streams may be open still: somebody else may have them.
    pub exited: Pin<Box<dyn Future<Output = ()> + Send>>,
    /// Polled when the streams have ended; it tells why they did.
    pub reason: Pin<Box<dyn Future<Output = String> + Send>>,
}

impl fmt::Debug for Ending {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Ending").finish_non_exhaustive()
    }
}

impl Ending {
    /// When it is the streams alone that end.
    pub fn of_streams() -> Self {
        Self {
            exited: Box::pin(pending()),
            reason: Box::pin(ready("the server has closed it".to_owned())),
        }
    }
}

impl LineSession {
    /// A session over a pair of streams, with the default limits.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime, where it has a task of its own.
    pub fn new<R, W>(reader: R, writer: W) -> Self
    where
        R: AsyncRead + Send + 'static,
        W: AsyncWrite + Send + 'static,
    {
        Self::with_limits(reader, writer, &ClientLimits::default())
    }

    /// As [`LineSession::new`], with other limits.
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
        Self::with_ending(reader, writer, limits, (Ending::of_streams(), stray))
    }

    /// A session with a server in the same process, which serves the connection in a task of its own.
    ///
    /// # Panics
    ///
    /// As [`LineSession::new`].
    pub fn in_memory(connection: Connection, limits: &ClientLimits) -> Self {
        let (ours, theirs) = duplex(IN_MEMORY);
        tokio::spawn(async move {
            let (reader, writer) = tokio::io::split(theirs);
            if let Err(error) = connection.serve(reader, writer).await {
                tracing::debug!(%error, "a server in memory has stopped");
            }
        });
        let (reader, writer) = tokio::io::split(ours);
        Self::with_limits(reader, writer, limits)
    }

    pub(in crate::client) fn with_ending<R, W>(
        reader: R,
        writer: W,
        limits: &ClientLimits,
        (ending, stray): (Ending, StrayLines),
    ) -> Self
    where
        R: AsyncRead + Send + 'static,
        W: AsyncWrite + Send + 'static,
    {
        let shared = Arc::new(Shared::new(limits.clone(), stray));
        let (reader, writer) = (Box::pin(reader), Box::pin(writer));
        tokio::spawn(Driver::new(Arc::clone(&shared), reader, writer, ending));
        Self { shared }
    }
}

impl Session for LineSession {
    fn listen(&self, incoming: Arc<dyn IncomingHandler>) {
        self.shared.listen(incoming);
    }

    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String> {
        Box::pin(async move {
            let _permit = self.shared.permit().await?;
            self.shared.room().await;
            let answer = self.shared.send_request(&request)?;
            let mut waiting = Waiting::new(&self.shared, &request);
            let answer = answer.await;
            waiting.end();
            answer.unwrap_or_else(|_| Err(self.shared.reason()))
        })
    }

    fn notify(&self, notification: SessionNotification) -> SessionFuture<'_, ()> {
        Box::pin(async move {
            self.shared.room().await;
            self.shared.send_notification(&notification)
        })
    }

    fn transport(&self) -> TransportKind {
        TransportKind::Stream
    }

    fn stray_line(&self) -> Option<String> {
        self.shared.stray.first().map(str::to_owned)
    }

    fn close(&self) -> SessionFuture<'_, ()> {
        Box::pin(async move {
            self.shared.begin_closing();
            self.shared.ended().await;
            Ok(())
        })
    }
}

impl Drop for LineSession {
    fn drop(&mut self) {
        self.shared.begin_closing();
    }
}

impl fmt::Debug for LineSession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("LineSession")
            .finish_non_exhaustive()
    }
}

//! Client session over `jsoncall`.

use std::fmt;
use std::sync::Arc;

use ::jsoncall::Session as Inner;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite, duplex, split};
use treenail_runtime::Server;
use treenail_runtime::client::{
    ClientError, ClientLimits, IncomingHandler, ServerCommand, Session, SessionFuture,
    SessionNotification, SessionRequest, TransportKind,
};
use treenail_runtime::internal::{self, CloseReason, IN_MEMORY_BUFFER_BYTES, StrayLines};

use crate::backlog::Backlog;
use crate::calls::Calls;
use crate::convert::{from_jsoncall, raw};
use crate::driver::Driver;
use crate::guard::{Guard, PIPE, start_session};
use crate::incoming::FromServer;

/// A [`Session`] over a session of `jsoncall`. A guard filters input that `jsoncall` does not tolerate, so it is as
/// robust as [`LineSession`](treenail_runtime::client::LineSession), with more overhead.
///
/// ```no_run
/// use std::sync::Arc;
/// use treenail::client::{McpClient, ServerCommand};
/// use treenail::jsoncall::JsoncallSession;
///
/// # async fn connect() -> Result<(), Box<dyn std::error::Error>> {
/// let session = JsoncallSession::command(&ServerCommand::new("some-server"), &Default::default())?;
/// let client = McpClient::builder().session(Arc::new(session)).build().await?;
/// # Ok(())
/// # }
/// ```
///
/// Dropping it closes the input of the server; output is read for at most [`ClientLimits::shutdown_timeout`].
pub struct JsoncallSession {
    inner: Arc<Inner>,
    calls: Arc<Calls>,
    backlog: Arc<Backlog>,
    transport: TransportKind,
}

impl JsoncallSession {
    /// Creates a session over a pair of streams, one message per line, with the default limits.
    ///
    /// # Panics
    ///
    /// If called outside a tokio runtime, which runs its tasks.
    pub fn new<R, W>(reader: R, writer: W) -> Self
    where
        R: AsyncRead + Send + 'static,
        W: AsyncWrite + Send + 'static,
    {
        Self::with_limits(reader, writer, &ClientLimits::default())
    }

    /// As [`JsoncallSession::new`], with the given limits.
    ///
    /// # Panics
    ///
    /// As [`JsoncallSession::new`].
    pub fn with_limits<R, W>(reader: R, writer: W, limits: &ClientLimits) -> Self
    where
        R: AsyncRead + Send + 'static,
        W: AsyncWrite + Send + 'static,
    {
        let stray = StrayLines::default();
        Self::with_ending(reader, writer, limits, (CloseReason::of_streams(), stray))
    }

    /// Starts a server as a child process and creates a session with it. The process is stopped as [`ServerCommand`]
    /// describes.
    ///
    /// # Errors
    ///
    /// [`ClientError::Unreachable`] if the program cannot be started.
    ///
    /// # Panics
    ///
    /// As [`JsoncallSession::new`].
    pub fn command(command: &ServerCommand, limits: &ClientLimits) -> Result<Self, ClientError> {
        let (stdout, stdin, ending) = internal::start(command, limits)?;
        let ending = (ending, internal::stray_lines(command));
        Ok(Self::with_ending(stdout, stdin, limits, ending))
    }

    /// Creates a session with a server in the same process, which runs in its own task.
    ///
    /// # Panics
    ///
    /// As [`JsoncallSession::new`].
    pub fn in_memory(server: &Server, limits: &ClientLimits) -> Self {
        let (ours, theirs) = duplex(IN_MEMORY_BUFFER_BYTES);
        let server = server.clone();
        tokio::spawn(async move {
            let (reader, writer) = split(theirs);
            if let Err(error) = server.serve(reader, writer).await {
                tracing::debug!(%error, "an in-memory server has failed");
            }
        });
        let (reader, writer) = split(ours);
        Self::with_limits(reader, writer, limits)
    }

    fn with_ending<R, W>(
        reader: R,
        writer: W,
        limits: &ClientLimits,
        (ending, stray): (CloseReason, StrayLines),
    ) -> Self
    where
        R: AsyncRead + Send + 'static,
        W: AsyncWrite + Send + 'static,
    {
        let calls = Arc::new(Calls::new(limits, stray));
        let backlog = Arc::new(Backlog::of_client(limits));
        let guard = Guard::new(
            Arc::clone(&calls),
            Arc::clone(&backlog),
            internal::parsing_limits(limits),
        );
        let (ours, theirs) = duplex(PIPE);
        let handler = FromServer {
            calls: Arc::clone(&calls),
            ids: Arc::clone(&guard.ids),
            backlog: Arc::clone(&backlog),
        };
        let inner = Arc::new(start_session(handler, theirs));
        let driver = Driver {
            guard,
            inner: Arc::clone(&inner),
            limits: limits.clone(),
        };
        let (reader, writer) = (Box::pin(reader), Box::pin(writer));
        let transport = ending.transport;
        tokio::spawn(driver.run(reader, writer, split(ours), ending));
        Self {
            inner,
            calls,
            backlog,
            transport,
        }
    }

    fn send_notification(&self, method: &str, params: &impl Serialize, bytes: usize) {
        self.backlog.push(bytes);
        if let Err(error) = self.inner.notification(method, Some(params)) {
            tracing::debug!(%error, "failed to send a notification");
        }
    }
}

impl Session for JsoncallSession {
    fn listen(&self, incoming: Arc<dyn IncomingHandler>) {
        if self.calls.incoming.set(incoming).is_err() {
            tracing::warn!("ignored a second listener of a session");
        }
    }

    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String> {
        Box::pin(async move {
            let _permit = if request.counts_as_in_flight() {
                Some(self.calls.permit().await?)
            } else {
                None
            };
            self.backlog.wait_for_room().await;
            self.calls.check_open()?;
            let bytes = request.params.len();
            let params = params_of(request.params)?;
            let method = format!("{}:{}", request.id, request.method);
            let mut call = PendingRequest {
                session: self,
                id: request.id,
                cancel_on_drop: request.cancellable,
            };
            self.calls.open(request.id);
            self.backlog.push(bytes);
            let response = self.inner.request(&method, Some(&params)).await;
            call.cancel_on_drop = false;
            let error_of_response = self.calls.remove(request.id);
            response
                .map(|result: Box<RawValue>| Box::<str>::from(result).into_string())
                .map_err(|error| match (error_of_response, error.error_object()) {
                    (Some(error_of_response), _) => error_of_response,
                    (None, Some(error)) => ClientError::Refused(from_jsoncall(error)),
                    (None, None) => self.calls.reason(),
                })
        })
    }

    fn notify(&self, notification: SessionNotification) -> SessionFuture<'_, ()> {
        Box::pin(async move {
            self.backlog.wait_for_room().await;
            self.calls.check_open()?;
            let bytes = notification.params.len();
            let params = params_of(notification.params)?;
            self.send_notification(&notification.method, &params, bytes);
            Ok(())
        })
    }

    fn transport(&self) -> TransportKind {
        self.transport
    }

    fn stray_line(&self) -> Option<String> {
        self.calls.stray.first().map(str::to_owned)
    }

    fn close(&self) -> SessionFuture<'_, ()> {
        Box::pin(async move {
            self.calls.closing.send_replace(true);
            self.calls.ended().await;
            Ok(())
        })
    }
}

impl Drop for JsoncallSession {
    fn drop(&mut self) {
        self.calls.closing.send_replace(true);
    }
}

impl fmt::Debug for JsoncallSession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("JsoncallSession")
            .finish_non_exhaustive()
    }
}

fn params_of(params: String) -> Result<Box<RawValue>, ClientError> {
    raw(params).ok_or_else(|| ClientError::invalid("the parameters are not valid JSON"))
}

/// A request in flight, which is cancelled when dropped.
struct PendingRequest<'a> {
    session: &'a JsoncallSession,
    id: i64,
    cancel_on_drop: bool,
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Cancelled {
            request_id: i64,
        }

        self.session.calls.remove(self.id);
        if self.cancel_on_drop && self.session.calls.check_open().is_ok() {
            let params = Cancelled {
                request_id: self.id,
            };
            self.session
                .send_notification("notifications/cancelled", &params, 0);
        }
    }
}

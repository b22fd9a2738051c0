//! Serves a server over `jsoncall`, behind the guard.

use std::io::{self, ErrorKind};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadHalf, WriteHalf, duplex, split};
use tokio::time::timeout;
use treenail_runtime::Result;
use treenail_runtime::RpcError;
use treenail_runtime::Server;
use treenail_runtime::internal::{id_at_ends, oversized};

use crate::backlog::Backlog;
use crate::bridge::Bridge;
use crate::convert::{push_error, push_notification, push_request, push_response, read_error};
use crate::guard::{Guard, PIPE, Rejected, Side, start_session};
use crate::handler::{END_OF_INPUT, JsoncallHandler};

/// Serves one peer over a pair of byte streams with `jsoncall`, one message per line, until its input ends or the
/// server [closes](Server::close). As [`Server::serve`], with more overhead and three differences: the messages of a batch are
/// answered individually, a second `initialize` is refused, and a cancelled request other than `initialize` has no response, even
/// if the server has made one.
///
/// ```
/// use tokio::io::{AsyncRead, AsyncWrite};
/// use treenail::{Server, jsoncall};
///
/// async fn accept<S: AsyncRead + AsyncWrite>(server: &Server, stream: S) -> treenail::Result<()> {
///     let (reader, writer) = tokio::io::split(stream);
///     jsoncall::serve(server, reader, writer).await
/// }
/// ```
///
/// # Errors
///
/// [`Error::Io`](treenail_runtime::Error::Io) if reading or writing fails. A disconnected peer is not an error.
///
/// # Cancellation
///
/// Dropping the future stops the calls in flight.
pub async fn serve<R, W>(server: &Server, reader: R, writer: W) -> Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let limits = server.limits();
    let backlog = Arc::new(Backlog::new(limits.queued_output_bytes));
    let bridge = Bridge::new(limits.backlog_bytes, Some(Arc::clone(&backlog)));
    let mut guard = Guard::new(ServerSide(limits.message_bytes), backlog, limits.clone());
    guard.unread_input = Some(Arc::clone(&bridge.unread_input));
    let handler = JsoncallHandler::over(server, bridge, Some(Arc::clone(&guard.ids)));
    let bridge = Arc::clone(&handler.bridge);

    let (ours, theirs) = duplex(PIPE);
    let (from_inner, mut to_inner) = split(ours);
    let inner = start_session(handler, theirs);
    let pipe = (from_inner, &mut to_inner);
    let ended = forward(server, &guard, &bridge, (reader, writer), pipe).await;
    inner.shutdown();
    match ended {
        Err(error) if is_gone(&error) => {
            tracing::debug!(%error, "the peer disconnected");
            Ok(())
        }
        other => Ok(other?),
    }
}

/// Forwards messages in both directions until the input ends or the server closes, and the calls have finished. Does not
/// wait for them after an error.
async fn forward<R, W>(
    server: &Server,
    guard: &Guard<ServerSide>,
    bridge: &Bridge,
    (reader, writer): (R, W),
    (from_inner, to_inner): (ReadHalf<DuplexStream>, &mut WriteHalf<DuplexStream>),
) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let call_timeout = server.limits().shutdown_timeout;
    let mut outward = pin!(guard.outward(from_inner, writer));
    let read = async {
        tokio::select! {
            // After an error, the calls are dropped.
            read = guard.inward(reader, to_inner) => read?,
            () = server.closed() => bridge.finish_unless_started(),
        }
        finish(bridge, &guard.backlog, call_timeout).await;
        guard.close();
        io::Result::Ok(())
    };
    let read = pin!(read);
    tokio::select! {
        biased;
        written = &mut outward => written,
        read = read => {
            read?;
            timeout(call_timeout, outward).await.unwrap_or(Ok(()))
        }
    }
}

/// Waits until all calls have finished and their responses are written, before `jsoncall` observes the end.
async fn finish(bridge: &Bridge, backlog: &Backlog, call_timeout: Duration) {
    let rest = async {
        bridge.finished().await;
        backlog.wait_until_empty().await;
    };
    // The calls may take the whole timeout, and writing their responses as long again.
    if timeout(2 * call_timeout, rest).await.is_err() {
        tracing::warn!(
            "shutdown timeout: calls or responses were dropped after the end of the input"
        );
        backlog.clear();
    }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::BrokenPipe | ErrorKind::ConnectionReset
    )
}

/// Ends the request whose response cannot be used.
fn reject_response(id: &str, error: &RpcError, inward: &mut Vec<u8>) {
    let Ok(number) = id.parse::<u64>() else {
        tracing::debug!("ignored a malformed response with an unknown id");
        return;
    };
    let error = RpcError::internal(format!("its response is not valid: {}", error.message));
    push_response(inward, number, Err(&error));
}

/// Guard behaviour of a server. Contains the maximum message size.
struct ServerSide(usize);

impl Side for ServerSide {
    fn on_response(
        &self,
        id: &str,
        response: std::result::Result<&str, &str>,
        inward: &mut Vec<u8>,
    ) {
        let Ok(number) = id.parse::<u64>() else {
            tracing::debug!("ignored a response with an unknown id");
            return;
        };
        let response = response.map_err(|error| {
            let unreadable = || RpcError::internal("the error has no code or no message");
            read_error(error).unwrap_or_else(unreadable)
        });
        push_response(inward, number, response.as_ref().copied());
    }

    fn on_rejected(&self, rejected: Rejected<'_>, inward: &mut Vec<u8>, outward: &mut Vec<u8>) {
        match rejected {
            Rejected::Invalid(invalid, _) => match (invalid.answered, invalid.id) {
                (Some(id), _) => reject_response(id, &invalid.error, inward),
                (None, Some(id)) => push_response(outward, id, Err(&invalid.error)),
                (None, None) if invalid.is_notification => {}
                (None, None) => push_error(outward, &invalid.error),
            },
            Rejected::TooLong { head, tail } => {
                let error = oversized(self.0);
                let ids = id_at_ends(head, tail);
                match (ids.answered, ids.id) {
                    (Some(id), _) => reject_response(id, &error, inward),
                    (None, Some(id)) => push_response(outward, id, Err(&error)),
                    (None, None) => push_error(outward, &error),
                }
            }
        }
    }

    fn write_request(&self, id: &str, method: &str, params: &str, outward: &mut Vec<u8>) {
        push_request(outward, id, method, params);
    }

    fn on_end(&self, inward: &mut Vec<u8>) {
        push_notification(inward, END_OF_INPUT, "{}");
    }
}

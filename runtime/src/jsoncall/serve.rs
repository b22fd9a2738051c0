//! A server over `jsoncall`, behind the guard.

use std::io::{self, ErrorKind};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use ::jsoncall::{Session, SessionOptions};
use tokio::io::{AsyncRead, AsyncWrite, BufReader, duplex, split};
use tokio::time::timeout;

use crate::error::Result;
use crate::jsoncall::backlog::Backlog;
use crate::jsoncall::bridge::Bridge;
use crate::jsoncall::convert::{
    push_answer, push_error, push_notification, push_request, read_error,
};
use crate::jsoncall::guard::{Guard, PIPE, Refused, Side};
use crate::jsoncall::handler::{END, JsoncallHandler};
use crate::server::Server;
use crate::wire::RpcError;

/// Serves one peer over a pair of byte streams with `jsoncall`, one message a line, until its input ends or the server
/// [closes](Server::close). It does what [`Server::serve`] does, at a higher price; the messages of a batch are answered
/// one by one.
///
/// ```
/// use tokio::io::{AsyncRead, AsyncWrite};
/// use treenail_runtime::{Server, jsoncall};
///
/// async fn accept<S: AsyncRead + AsyncWrite>(server: &Server, stream: S) -> treenail_runtime::Result<()> {
///     let (reader, writer) = tokio::io::split(stream);
///     jsoncall::serve(server, reader, writer).await
/// }
/// ```
///
/// # Errors
///
/// [`Error::Io`](crate::Error::Io) if reading or writing fails. A peer that has gone away is not an error.
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
    let bridge = Bridge::new(limits.held_bytes, Some(Arc::clone(&backlog)));
    let mut guard = Guard::new(
        ToServer(limits.message_bytes),
        Arc::clone(&backlog),
        limits.clone(),
    );
    guard.held = Some(Arc::clone(&bridge.held));
    let handler = JsoncallHandler::new(server, bridge, Some(Arc::clone(&guard.ids)));
    let bridge = Arc::clone(&handler.bridge);

    let (ours, theirs) = duplex(PIPE);
    let (from_inner, mut to_inner) = split(ours);
    let (their_reader, their_writer) = split(theirs);
    let options = SessionOptions {
        expose_internals: Some(false),
    };
    let inner = Session::new(
        handler,
        BufReader::new(their_reader),
        their_writer,
        &options,
    );

    let within = limits.finish_calls_within;
    let mut outward = pin!(guard.outward(from_inner, writer));
    let read = async {
        let read = tokio::select! {
            read = guard.inward(reader, &mut to_inner) => read,
            () = server.closed() => {
                bridge.finish_unless_started();
                Ok(())
            }
        };
        finish(&bridge, &backlog, within).await;
        guard.close();
        read
    };
    let read = pin!(read);
    let ended = tokio::select! {
        biased;
        written = &mut outward => written,
        read = read => {
            let written = timeout(within, outward).await;
            read.and(written.unwrap_or(Ok(())))
        }
    };
    inner.shutdown();
    match ended {
        Err(error) if is_gone(&error) => {
            tracing::debug!(%error, "the peer has gone away");
            Ok(())
        }
        other => Ok(other?),
    }
}

/// Waits until what has been begun is finished, and its answers are written: all that before `jsoncall` learns of the end.
async fn finish(bridge: &Bridge, backlog: &Backlog, within: Duration) {
    let rest = async {
        bridge.finished().await;
        backlog.empty().await;
    };
    // The calls have that time by themselves, and their answers as much again.
    if timeout(2 * within, rest).await.is_err() {
        tracing::warn!("calls and answers were given up after the end of the input");
        backlog.clear();
    }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::BrokenPipe | ErrorKind::ConnectionReset
    )
}

/// What the guard of a server does with what is not for its handler. It knows how long a message may be.
struct ToServer(usize);

impl Side for ToServer {
    fn answered(&self, id: &str, answer: std::result::Result<&str, &str>, inward: &mut Vec<u8>) {
        let Ok(number) = id.parse::<u64>() else {
            tracing::debug!("an answer to no request was dropped");
            return;
        };
        let answer = answer.map_err(|error| {
            let unreadable = || RpcError::internal("the error has no code or no message");
            read_error(error).unwrap_or_else(unreadable)
        });
        push_answer(inward, number, answer.as_ref().copied());
    }

    fn refused(&self, refused: Refused<'_>, _: &mut Vec<u8>, outward: &mut Vec<u8>) {
        match refused {
            Refused::Invalid(invalid, _) => match invalid.id {
                Some(id) => push_answer(outward, id, Err(&invalid.error)),
                None => push_error(outward, &invalid.error),
            },
            Refused::TooLong { .. } => {
                let limit = self.0;
                let error = RpcError::new(
                    treenail_schema::error_code::PARSE_ERROR,
                    format!("the message is longer than {limit} bytes"),
                );
                push_error(outward, &error);
            }
        }
    }

    fn requests(&self, id: &str, method: &str, params: &str, outward: &mut Vec<u8>) {
        push_request(outward, id, method, params);
    }

    fn ended(&self, inward: &mut Vec<u8>) {
        push_notification(inward, END, "{}");
    }
}

//! Handling of one body in a session.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use http::{Response, StatusCode};
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout_at};
use treenail_runtime::internal::{Body, Message, ParsedMessage};
use treenail_runtime::{Connection, Handled, RpcError, Server};

use crate::call_permits::{over_capacity, reclaim_call_permits};
use crate::legacy::attended::{Attended, AttendedCall};
use crate::legacy::filtered::{handle_filtered, handle_filtered_on};
use crate::legacy::reader::Reader;
use crate::legacy::replay::Replay;
use crate::legacy::session::{Session, SessionKind, StreamHandle};
use crate::legacy::store::Event;
use crate::legacy::{HttpResult, Legacy, no_session};
use crate::response::{
    HttpBody, RESPONSE_CAPACITY, Rejection, Reply, json_response, replay_stream,
};

/// Handles a body posted to a session.
pub(super) fn dispatch_body(
    session: Arc<Session>,
    legacy: Legacy<'_>,
    body: Body<'_>,
) -> Result<Reply, Rejection> {
    let Legacy {
        server,
        sessions,
        parts,
        ..
    } = legacy;
    match body {
        Body::One(Ok(Message::Request(id, envelope))) if server.begins_call(&envelope) => {
            let (mut branch, stream) = session.open_request_stream(parts);
            set_call_capacity(&mut branch, &session, server);
            reclaim_call_permits(&branch, sessions, 1);
            let mut out = Vec::with_capacity(RESPONSE_CAPACITY);
            let message = Body::One(Ok(Message::Request(id, envelope)));
            let handled = branch.handle_body(message, &mut out);
            respond(session, branch, stream, (handled, out), Some(id))
        }
        Body::One(message) if server.has_private_items() => {
            let id = request_id(&message);
            let mut out = Vec::new();
            let handled = handle_filtered(&session, parts, message, &mut out);
            if let Handled::Cancelled(id) = handled {
                session.cancel(&id);
            }
            Ok(immediate_response(session, out, id))
        }
        Body::One(message) => {
            let id = request_id(&message);
            let mut out = Vec::new();
            let handled = session
                .with_connection(|connection| connection.handle_body(Body::One(message), &mut out));
            if let Handled::Cancelled(id) = handled {
                session.cancel(&id);
            }
            Ok(immediate_response(session, out, id))
        }
        Body::Batch(messages) => {
            let (mut branch, stream) = session.open_request_stream(parts);
            set_call_capacity(&mut branch, &session, server);
            if server.has_private_items() {
                let checked = branch.check_batch_scopes(&messages);
                checked.map_err(|error| refuse(&session, stream.stream, error))?;
            }
            let mut out = Vec::new();
            let mut handled = handle_batch(&session, &mut branch, &messages, &mut out);
            if let Handled::Deferred(_) = handled {
                reclaim_call_permits(&branch, sessions, branch.wanted());
                handled = handle_batch(&session, &mut branch, &messages, &mut out);
            }
            for id in branch.take_cancelled() {
                session.cancel(&id);
            }
            respond(session, branch, stream, (handled, out), None)
        }
    }
}

/// Handles a batch. Its calls run without the lock of the session, because their first poll may take long.
fn handle_batch(
    session: &Session,
    branch: &mut Connection,
    messages: &[&str],
    out: &mut Vec<u8>,
) -> Handled {
    branch.batch(messages, out, |branch, message, out| {
        if branch.server().has_private_items() {
            return handle_filtered_on(session, branch, message, out);
        }
        session.with_connection(|connection| {
            if let Ok(Message::Notification(_)) = message {
                let handled = connection.on_message(message, out);
                // It may have finished the handshake.
                branch.renew_handshake(connection);
                return handled;
            }
            // Subscriptions belong to the session, not to the branch.
            connection.swap_subscriptions(branch);
            let handled = branch.on_message(message, out);
            connection.swap_subscriptions(branch);
            handled
        })
    })
}

/// Returns the id of a request.
pub(super) fn request_id<'a>(message: &ParsedMessage<'a>) -> Option<&'a str> {
    match message {
        Ok(Message::Request(id, _)) => Some(id),
        Err(invalid) => invalid.id,
        Ok(_) => None,
    }
}

/// Refuses a batch whose caller lacks scopes.
fn refuse(session: &Session, stream: u64, error: RpcError) -> Rejection {
    session.remove_stream(stream);
    tracing::info!(scopes = %error.message, "refused a batch");
    Rejection::with_error(StatusCode::FORBIDDEN, None, error)
}

/// Sets the number of calls that a session may start now.
fn set_call_capacity(branch: &mut Connection, session: &Session, server: &Server) {
    let in_flight = session.in_flight();
    let max_calls = server.limits().calls_in_flight.max(1);
    branch.set_call_capacity(max_calls.saturating_sub(in_flight));
    branch.set_busy(in_flight > 0);
}

/// Responds to a request that may have started calls.
fn respond(
    session: Arc<Session>,
    mut branch: Connection,
    handle: StreamHandle,
    (handled, out): (Handled, Vec<u8>),
    id: Option<&str>,
) -> Result<Reply, Rejection> {
    let stream = handle.stream;
    match handled {
        Handled::Pending(call) => {
            let call = session.attend_call(branch, call.with_buffer(out), stream);
            Ok(Reply::pending(attend(call, session, handle.reader)))
        }
        Handled::Deferred(_) => {
            session.remove_stream(stream);
            Err(over_capacity(id))
        }
        _ => {
            let Some(first) = branch.next_outgoing() else {
                session.remove_stream(stream);
                return Ok(immediate_response(session, out, id));
            };
            let others = std::iter::from_fn(|| branch.next_outgoing());
            let messages = std::iter::once(first).chain(others).collect();
            Ok(Reply::pending(send_output(session, handle, messages, out)))
        }
    }
}

/// Sends the output of a call that finished in its first poll, but has sent messages before its response.
async fn send_output(
    session: Arc<Session>,
    StreamHandle { stream, reader }: StreamHandle,
    messages: Vec<Vec<u8>>,
    response: Vec<u8>,
) -> HttpResult {
    for message in messages {
        session.send_unread(stream, message, false).await;
    }
    session.send_unread(stream, response, true).await;
    match (session.kind, reader) {
        (SessionKind::HttpSse, _) => Ok(accepted()),
        (SessionKind::Streamable(_), Some(mut reader)) => {
            let deadline = session.stream_deadline();
            let first = first_event(&mut reader, deadline).await;
            Ok(call_response(&session, reader, first, deadline))
        }
        (SessionKind::Streamable(_), None) => Err(no_session()),
    }
}

/// Polls a call until its response. If other messages are first, or if its stream is closed early, a task continues it.
async fn attend(
    mut call: AttendedCall,
    session: Arc<Session>,
    reader: Option<Reader>,
) -> HttpResult {
    let Some(mut reader) = reader else {
        // The response is sent on the shared stream.
        call.detach(None);
        return Ok(accepted());
    };
    let deadline = session.stream_deadline();
    let attended = poll_fn(|context| {
        if let Poll::Ready(Attended::Response(response)) = call.poll_response(context) {
            return Poll::Ready(Ok(response));
        }
        reader.poll_next(context).map(Err)
    });
    let attended = match deadline {
        None => Ok(attended.await),
        Some(deadline) => timeout_at(deadline, attended).await,
    };
    // Otherwise a task continues the call, unless it was stopped.
    drop(call);
    let first = match attended {
        Ok(Ok(response)) => {
            session.remove_stream(reader.after().stream);
            return Ok(json_response(StatusCode::OK, response));
        }
        Ok(Err(first)) => Ok(first),
        Err(elapsed) => Err(elapsed),
    };
    Ok(call_response(&session, reader, first, deadline))
}

/// Returns the response to a call: JSON if its first output is the result, otherwise an event stream.
fn call_response(
    session: &Session,
    reader: Reader,
    first: Result<Option<Event>, Elapsed>,
    deadline: Option<Instant>,
) -> Response<HttpBody> {
    match first {
        Ok(None) if !reader.is_detached() => accepted(),
        Ok(Some(event)) if event.last && event.id.number == 1 => {
            session.remove_stream(event.id.stream);
            json_response(StatusCode::OK, event.message)
        }
        // Without an event before the deadline, the client has to reconnect for the result.
        first => {
            let mut stream = Replay::new(reader, first.ok().flatten()).with_deadline(deadline);
            if session.supports_polling() {
                stream = stream.with_priming_event();
            }
            replay_stream(stream)
        }
    }
}

/// Waits for the first event until the deadline.
async fn first_event(
    reader: &mut Reader,
    deadline: Option<Instant>,
) -> Result<Option<Event>, Elapsed> {
    let first = poll_fn(|context| reader.poll_next(context));
    match deadline {
        None => Ok(first.await),
        Some(deadline) => timeout_at(deadline, first).await,
    }
}

pub(super) fn accepted() -> Response<HttpBody> {
    json_response(StatusCode::ACCEPTED, Bytes::new())
}

/// Returns the response to a message that was handled without a call: `out`, which may be empty.
fn immediate_response(session: Arc<Session>, out: Vec<u8>, id: Option<&str>) -> Reply {
    if session.kind == SessionKind::HttpSse && !out.is_empty() && is_valid_request(&out, id) {
        return Reply::pending(async move {
            session.send(session.shared_stream, out, false).await;
            Ok(accepted())
        });
    }
    plain_response(out, id).into()
}

/// Returns `out` as the HTTP response.
pub(super) fn plain_response(out: Vec<u8>, id: Option<&str>) -> Response<HttpBody> {
    if out.is_empty() {
        return accepted();
    }
    // Errors of requests have the status 200 too. In this era, 404 would mean that the session has ended.
    let status = if is_valid_request(&out, id) {
        StatusCode::OK
    } else {
        StatusCode::BAD_REQUEST
    };
    json_response(status, out)
}

/// Returns false if `out` is the error of a malformed message. Without an id, the output of a batch is an array.
fn is_valid_request(out: &[u8], id: Option<&str>) -> bool {
    id.is_some() || out.starts_with(b"[")
}

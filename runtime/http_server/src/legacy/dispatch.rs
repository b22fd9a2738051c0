//! Handling of one body in a session.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use http::{Response, StatusCode};
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout_at};
use treenail_runtime::internal::{Body, Message, ParsedMessage, deadline};
use treenail_runtime::{Connection, Handled, Server};

use crate::call_permits::{over_capacity, reclaim_call_permits};
use crate::legacy::attended::{Attended, AttendedCall};
use crate::legacy::batch::dispatch_batch;
use crate::legacy::calls::CallGuard;
use crate::legacy::filtered::handle_filtered;
use crate::legacy::reader::Reader;
use crate::legacy::replay::Replay;
use crate::legacy::session::{Session, SessionKind, StreamHandle};
use crate::legacy::shared_response::SharedResponse;
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
    let server = legacy.server;
    match body {
        Body::One(Ok(Message::Request(id, envelope))) if server.begins_call(&envelope) => {
            let (mut branch, stream) = session.open_request_stream(legacy.parts);
            let guard = begin_call(&session, server, &mut branch, Some(id), stream.stream)?;
            reclaim_call_permits(&branch, legacy.sessions, 1);
            let mut out = Vec::with_capacity(RESPONSE_CAPACITY);
            let message = Body::One(Ok(Message::Request(id, envelope)));
            let handled = branch.handle_body(message, &mut out);
            respond(session, branch, (stream, guard), (handled, out), Some(id))
        }
        Body::One(message) if server.has_private_items() => {
            let id = request_id(&message);
            let mut out = Vec::new();
            let handled = handle_filtered(&session, legacy.parts, message, &mut out);
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
        Body::Batch(messages) => dispatch_batch(session, legacy, &messages),
    }
}

/// Returns the id of a request.
pub(super) fn request_id<'a>(message: &ParsedMessage<'a>) -> Option<&'a str> {
    match message {
        Ok(Message::Request(id, _)) => Some(id),
        Err(invalid) => invalid.id,
        Ok(_) => None,
    }
}

/// Begins a call, and sets the number of calls that its connection may start now.
pub(super) fn begin_call(
    session: &Session,
    server: &Server,
    branch: &mut Connection,
    id: Option<&str>,
    stream: u64,
) -> Result<CallGuard, Rejection> {
    let Some((guard, in_flight)) = session.begin_call(id, stream) else {
        session.remove_stream(stream);
        return Err(no_session());
    };
    let max_calls = server.limits().calls_in_flight.max(1);
    branch.set_call_capacity(max_calls.saturating_sub(in_flight));
    branch.set_busy(in_flight > 0);
    Ok(guard)
}

/// Responds to a request that may have started calls.
pub(super) fn respond(
    session: Arc<Session>,
    mut branch: Connection,
    (handle, guard): (StreamHandle, CallGuard),
    (handled, out): (Handled, Vec<u8>),
    id: Option<&str>,
) -> Result<Reply, Rejection> {
    let stream = handle.stream;
    match handled {
        Handled::Pending(call) => {
            let call = session.attend_call(branch, call.with_buffer(out), guard, stream);
            Ok(Reply::pending(attend(call, session, handle.reader)))
        }
        Handled::Deferred(_) => {
            drop(guard);
            session.finish_stream(stream);
            Err(over_capacity(id))
        }
        _ if session.kind == SessionKind::HttpSse => {
            if !guard.is_running() {
                return Ok(accepted().into());
            }
            let messages = std::iter::from_fn(|| branch.next_outgoing()).collect();
            Ok(SharedResponse::of_call(session, guard).send(messages, out, id))
        }
        _ => {
            if !guard.finish() {
                return Ok(stopped_response(&session, handle.reader).into());
            }
            let Some(first) = branch.next_outgoing() else {
                session.remove_stream(stream);
                return Ok(plain_response(out, id).into());
            };
            let others = std::iter::from_fn(|| branch.next_outgoing());
            let messages = std::iter::once(first).chain(others).collect();
            Ok(Reply::pending(send_output(session, handle, messages, out)))
        }
    }
}

/// Returns the response to a call that was stopped in its first poll. Its output is dropped.
fn stopped_response(session: &Session, reader: Option<Reader>) -> Response<HttpBody> {
    let Some(reader) = reader else {
        return accepted();
    };
    call_response(session, reader, Ok(None), session.stream_deadline())
}

/// Sends the output of a call that finished in its first poll, but has sent messages before its response.
async fn send_output(
    session: Arc<Session>,
    StreamHandle { stream, reader }: StreamHandle,
    messages: Vec<Vec<u8>>,
    response: Vec<u8>,
) -> HttpResult {
    // The stream is not being read yet, so there is no back-pressure.
    for message in messages {
        session.events.push(stream, message, false);
    }
    session.events.push(stream, response, true);
    let mut reader = reader.ok_or_else(no_session)?;
    let deadline = session.stream_deadline();
    let first = first_event(&mut reader, deadline).await;
    Ok(call_response(&session, reader, first, deadline))
}

/// Polls a call until its response. If other messages are first, or if it is quiet until its stream has to be opened or closed, a
/// task continues it.
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
    let quiet = deadline::after(session.keep_alive);
    let stream_at = deadline.map_or(quiet, |deadline| deadline.min(quiet));
    let attended = timeout_at(stream_at, attended).await;
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
            let mut stream = Replay::new(reader, first.ok().flatten(), session.keep_alive)
                .with_deadline(deadline);
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
    match session.kind {
        SessionKind::HttpSse => SharedResponse::new(session).send(Vec::new(), out, id),
        SessionKind::Streamable(_) => plain_response(out, id).into(),
    }
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
pub(super) fn is_valid_request(out: &[u8], id: Option<&str>) -> bool {
    id.is_some() || out.starts_with(b"[")
}

//! The answer to one message of a session.

use std::future::poll_fn;
use std::sync::Arc;

use http::{Response, StatusCode};
use tokio::time::{Instant, timeout_at};

use crate::server::{Connection, Handled, Server, begins_call};
use crate::transport::http::introduce;
use crate::transport::http::legacy::reader::Reader;
use crate::transport::http::legacy::replay::Replay;
use crate::transport::http::legacy::session::{Begun, Kind, Session};
use crate::transport::http::legacy::store::Event;
use crate::transport::http::legacy::{Answer, Legacy, no_session};
use crate::transport::http::places::{find_places, no_place};
use crate::transport::http::reply::{HttpBody, json, replay};
use crate::wire::{Body, Message};

/// Answers what is posted to a session.
pub(super) async fn answer(session: &Arc<Session>, legacy: Legacy<'_>, body: Body<'_>) -> Answer {
    let Legacy {
        server,
        sessions,
        parts,
        ..
    } = legacy;
    match body {
        Body::One(Ok(Message::Request(id, envelope))) if begins_call(&envelope) => {
            let (mut branch, begun) = session.begin();
            introduce(&mut branch, parts);
            set_call_capacity(&mut branch, session, server);
            find_places(&branch, sessions, 1);
            let mut out = Vec::new();
            let message = Body::One(Ok(Message::Request(id, envelope)));
            let received = branch.handle_body(message, &mut out);
            finish(session, branch, begun, (received, out), Some(id)).await
        }
        Body::One(message) => {
            let id = match &message {
                Ok(Message::Request(id, _)) => Some(*id),
                Err(invalid) => invalid.id,
                Ok(_) => None,
            };
            let mut out = Vec::new();
            let received =
                session.with(|connection| connection.handle_body(Body::One(message), &mut out));
            if let Handled::Cancelled(id) = received {
                session.cancel(&id);
            }
            Ok(at_once(session, out, id).await)
        }
        Body::Batch(messages) => {
            let (mut branch, begun) = session.begin();
            introduce(&mut branch, parts);
            set_call_capacity(&mut branch, session, server);
            let mut out = Vec::new();
            let mut received = batch(session, &mut branch, &messages, &mut out);
            if let Handled::Deferred(_) = received {
                find_places(&branch, sessions, branch.wanted());
                received = batch(session, &mut branch, &messages, &mut out);
            }
            finish(session, branch, begun, (received, out), None).await
        }
    }
}

/// Takes a batch. Its calls run without the lock of the session, since they may take as long as they like.
fn batch(
    session: &Session,
    branch: &mut Connection,
    messages: &[&str],
    out: &mut Vec<u8>,
) -> Handled {
    branch.batch(messages, out, |branch, message, out| {
        session.with(|connection| {
            // What a batch subscribes to is the session's.
            connection.swap_subscriptions(branch);
            let received = branch.on_message(message, out);
            connection.swap_subscriptions(branch);
            received
        })
    })
}

/// Sets how many calls a session may begin now.
fn set_call_capacity(branch: &mut Connection, session: &Session, server: &Server) {
    let in_flight = session.in_flight();
    branch.set_call_capacity(server.limits().calls_in_flight.saturating_sub(in_flight));
    branch.set_busy(in_flight > 0);
}

/// Answers a request that may have begun a call.
async fn finish(
    session: &Arc<Session>,
    mut branch: Connection,
    begun: Begun,
    (received, out): (Handled, Vec<u8>),
    id: Option<&str>,
) -> Answer {
    let Begun { stream, reader } = begun;
    match received {
        Handled::Pending(call) => session.start(branch, call, stream),
        Handled::Deferred(_) => {
            session.forget(stream);
            return Err(no_place(id));
        }
        Handled::Complete | Handled::Cancelled(_) | Handled::Restarted => {
            let Some(first) = branch.next_outgoing() else {
                session.forget(stream);
                return Ok(at_once(session, out, id).await);
            };
            // What a call has sent before it was ready at once, and its answer.
            let others = std::iter::from_fn(|| branch.next_outgoing());
            for message in std::iter::once(first).chain(others) {
                session.note(stream, message, false).await;
            }
            session.note(stream, out, true).await;
        }
    }
    match (session.kind, reader) {
        (Kind::OneStream, _) => Ok(accepted()),
        (Kind::Streams(_), Some(reader)) => Ok(first_of(session, reader).await),
        (Kind::Streams(_), None) => Err(no_session()),
    }
}

/// What comes of a call: its answer as JSON, if that comes first; a stream otherwise.
async fn first_of(session: &Arc<Session>, mut reader: Reader) -> Response<HttpBody> {
    let until = session.open_until();
    let first = first_until(&mut reader, until).await;
    match first {
        Some(None) if !reader.is_sent_away() => accepted(),
        Some(Some(event)) if event.last && event.id.number == 1 => {
            session.forget(event.id.stream);
            json(StatusCode::OK, event.message.to_vec())
        }
        // If nothing has come yet, the client has to come back for it.
        first => {
            let mut stream = Replay::new(reader, first.flatten()).until(until);
            if session.polls() {
                stream = stream.primed();
            }
            replay(stream)
        }
    }
}

/// The first event, unless that takes too long.
async fn first_until(reader: &mut Reader, until: Option<Instant>) -> Option<Option<Event>> {
    let first = poll_fn(|context| reader.poll_next(context));
    match until {
        None => Some(first.await),
        Some(until) => timeout_at(until, first).await.ok(),
    }
}

pub(super) fn accepted() -> Response<HttpBody> {
    json(StatusCode::ACCEPTED, Vec::new())
}

/// What has been answered at once, if anything.
async fn at_once(session: &Session, out: Vec<u8>, id: Option<&str>) -> Response<HttpBody> {
    if session.kind == Kind::OneStream && !out.is_empty() && is_understood(&out, id) {
        session.tell(session.own_stream, out, false).await;
        return accepted();
    }
    plain(out, id)
}

/// The same as a response of its own.
pub(super) fn plain(out: Vec<u8>, id: Option<&str>) -> Response<HttpBody> {
    if out.is_empty() {
        return accepted();
    }
    // Errors are answers too: in this era the status 404 would say that the session has ended.
    let status = if is_understood(&out, id) {
        StatusCode::OK
    } else {
        StatusCode::BAD_REQUEST
    };
    json(status, out)
}

/// What has no id is a batch, which is an array, or the error of a message that could not be understood.
fn is_understood(out: &[u8], id: Option<&str>) -> bool {
    id.is_some() || out.starts_with(b"[")
}

//! Clients of the legacy era: sessions, which begin with `initialize`, for the revisions from 2025-03-26 on.
//!
//! A call runs on a branch of the session's connection, so that what it sends goes to the stream of its own request, and
//! goes on without its client, which may come back for the rest. What belongs to no request goes to the stream of a GET.

mod events;
mod replay;
mod session;
mod sessions;

use std::future::poll_fn;
use std::sync::Arc;

use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use treenail_schema::Revision;

use self::events::{EventId, Reader};
pub(super) use self::replay::Replay;
use self::session::Session;
pub(super) use self::sessions::Sessions;
use crate::ask::random_id;
use crate::extensions::Principal;
use crate::server::{Connection, Received, Server, begins_call};
use crate::transport::http::headers::{PROTOCOL_VERSION, single};
use crate::transport::http::introduce;
use crate::transport::http::reply::{HttpBody, Refusal, json, replay};
use crate::wire::{Body, Message, RpcError};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

type Answer = Result<Response<HttpBody>, Refusal>;

/// One request of HTTP for a session, or for a new one.
pub(super) struct Legacy<'a> {
    pub(super) server: &'a Server,
    pub(super) sessions: &'a Sessions,
    pub(super) parts: Parts,
}

impl Legacy<'_> {
    /// Answers what is posted.
    pub(super) async fn post(self, body: Body<'_>) -> Answer {
        check_version(&self.parts.headers)?;
        let begins = matches!(
            &body,
            Body::One(Ok(Message::Request(_, envelope))) if envelope.method == "initialize"
        );
        if begins && !self.parts.headers.contains_key(SESSION) {
            return self.begin(body);
        }
        let session = self.session()?;
        match body {
            Body::One(Ok(Message::Request(id, envelope))) if begins_call(&envelope) => {
                let id: Box<str> = id.into();
                let mut branch = session.with(|connection| connection.branch());
                introduce(&mut branch, self.parts);
                branch.set_room(room(&session, self.server));
                let mut out = Vec::new();
                let message = Body::One(Ok(Message::Request(&id, envelope)));
                let received = branch.receive_body(message, &mut out);
                finish(&session, branch, received, out, Some(&id)).await
            }
            Body::One(message) => {
                let id: Option<Box<str>> = match &message {
                    Ok(Message::Request(id, _)) => Some((*id).into()),
                    Err(invalid) => invalid.id.map(Into::into),
                    Ok(_) => None,
                };
                let mut out = Vec::new();
                let received = session
                    .with(|connection| connection.receive_body(Body::One(message), &mut out));
                if let Received::Cancelled(id) = received {
                    session.cancel(&id);
                }
                Ok(plain(out, id.as_deref()))
            }
            batch @ Body::Batch(_) => {
                let mut branch = session.with(|connection| connection.branch());
                introduce(&mut branch, self.parts);
                branch.set_room(room(&session, self.server));
                let mut out = Vec::new();
                // What a batch subscribes to is the session's.
                let received = session.with(|connection| {
                    connection.swap_subscriptions(&mut branch);
                    let received = branch.receive_body(batch, &mut out);
                    connection.swap_subscriptions(&mut branch);
                    received
                });
                finish(&session, branch, received, out, None).await
            }
        }
    }

    /// Begins a session.
    fn begin(self, body: Body<'_>) -> Answer {
        let Body::One(Ok(Message::Request(id, _))) = &body else {
            return Err(Refusal::bare(StatusCode::BAD_REQUEST));
        };
        let id: Box<str> = (*id).into();
        let mut connection = self.server.connect();
        let principal = self.parts.extensions.get::<Principal>().cloned();
        // Each call brings its headers with it. Those of this request would be kept as long as the session.
        if let Some(principal) = &principal {
            connection.extensions_mut().insert(principal.clone());
        }
        let mut out = Vec::new();
        connection.receive_body(body, &mut out);
        let Some(revision) = connection.legacy_revision() else {
            return Ok(plain(out, Some(&id)));
        };
        let session_id = random_id().map_err(|_| {
            Refusal::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "there are no random numbers",
            )
        })?;
        let session = Session::new(connection, revision, principal);
        if !self
            .sessions
            .add(&session_id, session, self.server.limits())
        {
            let why = "there are as many sessions at work as there may be";
            return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, why));
        }
        let mut response = plain(out, Some(&id));
        if let Ok(session_id) = HeaderValue::from_str(&session_id) {
            response.headers_mut().insert(SESSION, session_id);
        }
        Ok(response)
    }

    /// Streams what belongs to no request, or the rest of a stream that a client has lost.
    pub(super) fn get(self) -> Answer {
        check_version(&self.parts.headers)?;
        let session = self.session()?;
        let last = single(&self.parts.headers, &LAST_EVENT);
        let last = last.map_err(|error| Refusal::of(StatusCode::BAD_REQUEST, None, error))?;
        let after = match last {
            Some(last) => EventId::parse(last).ok_or_else(unknown_event)?,
            None if session.events.is_read(session.own_stream) => {
                let why = "the session has a stream already";
                return Err(Refusal::new(StatusCode::CONFLICT, why));
            }
            None => session.events.newest(session.own_stream),
        };
        let reader = session.events.read(after).ok_or_else(unknown_event)?;
        let mut stream = Replay::new(reader, None);
        if session.revision >= Revision::V2025_11_25 {
            stream = stream.primed();
        }
        if after.stream == session.own_stream {
            stream = stream.of_session(session, self.server);
        }
        Ok(replay(stream))
    }

    /// Ends a session.
    pub(super) fn delete(self) -> Answer {
        check_version(&self.parts.headers)?;
        self.session()?;
        let id = self.parts.headers.get(SESSION);
        if let Some(id) = id.and_then(|id| id.to_str().ok()) {
            self.sessions.remove(id);
        }
        Ok(json(StatusCode::NO_CONTENT, Vec::new()))
    }

    /// The session that the request names. One of somebody else is as good as none.
    fn session(&self) -> Result<Arc<Session>, Refusal> {
        let id = single(&self.parts.headers, &SESSION)
            .map_err(|error| Refusal::of(StatusCode::BAD_REQUEST, None, error))?;
        let id = id.ok_or_else(|| {
            let why = "neither `params._meta` nor `Mcp-Session-Id` says who is asking; begin with `initialize`";
            Refusal::new(StatusCode::BAD_REQUEST, why)
        })?;
        let principal = self.parts.extensions.get::<Principal>();
        self.sessions
            .get(id, principal, self.server.limits())
            .ok_or_else(|| Refusal::new(StatusCode::NOT_FOUND, "there is no such session"))
    }
}

/// Refuses headers that name a revision which has no sessions; who names none is older than that header.
fn check_version(headers: &HeaderMap) -> Result<(), Refusal> {
    let version = single(headers, &PROTOCOL_VERSION)
        .map_err(|error| Refusal::of(StatusCode::BAD_REQUEST, None, error))?;
    let known = |version: &str| version.parse().is_ok_and(|one: Revision| !one.is_modern());
    if version.is_none_or(known) {
        return Ok(());
    }
    let why = "`MCP-Protocol-Version` is not a revision that is served";
    Err(Refusal::new(StatusCode::BAD_REQUEST, why))
}

fn unknown_event() -> Refusal {
    let why = "there is no stream with the event of `Last-Event-ID`";
    Refusal::new(StatusCode::BAD_REQUEST, why)
}

/// How many calls a session may begin now.
fn room(session: &Session, server: &Server) -> usize {
    let most = server.limits().calls_in_flight;
    most.saturating_sub(session.in_flight())
}

/// Answers a request that may have begun a call.
async fn finish(
    session: &Arc<Session>,
    mut branch: Connection,
    received: Received,
    out: Vec<u8>,
    id: Option<&str>,
) -> Answer {
    match received {
        Received::Pending(call) => first_of(session, session.start(branch, call)).await,
        Received::Held(_) => {
            let error = RpcError::internal("as many calls are in flight as there may be");
            Err(Refusal::of(StatusCode::SERVICE_UNAVAILABLE, id, error))
        }
        Received::Done | Received::Cancelled(_) => match branch.next_outgoing() {
            Some(first) => first_of(session, session.tell(first, branch, out)).await,
            None => Ok(plain(out, id)),
        },
    }
}

/// What comes of a call: its answer as JSON, if that comes first; a stream otherwise.
async fn first_of(session: &Arc<Session>, reader: Option<Reader>) -> Answer {
    let gone = || Refusal::new(StatusCode::NOT_FOUND, "there is no such session");
    let mut reader = reader.ok_or_else(gone)?;
    let first = poll_fn(|context| reader.poll_next(context)).await;
    match first {
        None => Ok(json(StatusCode::ACCEPTED, Vec::new())),
        Some(event) if event.last && event.id.number == 1 => {
            session.events.forget(event.id.stream);
            Ok(json(StatusCode::OK, event.message.to_vec()))
        }
        Some(event) => {
            let mut stream = Replay::new(reader, Some(event));
            if session.revision >= Revision::V2025_11_25 {
                stream = stream.primed();
            }
            Ok(replay(stream))
        }
    }
}

/// What has been answered at once, if anything.
fn plain(out: Vec<u8>, id: Option<&str>) -> Response<HttpBody> {
    if out.is_empty() {
        return json(StatusCode::ACCEPTED, out);
    }
    // Errors are answers too: in this era the status 404 would say that the session has ended. What has no id is a batch,
    // which is an array, or the error of a message that could not be understood.
    let understood = id.is_some() || out.starts_with(b"[");
    let status = if understood {
        StatusCode::OK
    } else {
        StatusCode::BAD_REQUEST
    };
    json(status, out)
}

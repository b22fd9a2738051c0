//! Clients of the legacy era: sessions, which begin with `initialize`, for the revisions from 2025-03-26 on.
//!
//! A call runs on a branch of the session's connection, so that what it sends goes to the stream of its own request, and
//! goes on without its client, which may come back for the rest. What belongs to no request goes to the stream of a GET.
//!
//! A session of HTTP+SSE (`sse`) is the same with one stream for everything.

mod answer;
mod calls;
mod events;
mod reader;
mod replay;
mod session;
mod sessions;
mod sse;
mod store;

use std::sync::Arc;

use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use treenail_schema::Revision;

use self::answer::{answer, plain};
pub(super) use self::replay::Replay;
use self::session::{Kind, Session};
pub(super) use self::sessions::Sessions;
pub(super) use self::sse::Place;
pub use self::sse::SsePaths;
use self::store::EventId;
use crate::ask::random_id;
use crate::extensions::Principal;
use crate::server::{Connection, Server};
use crate::transport::http::headers::{PROTOCOL_VERSION, single};
use crate::transport::http::reply::{HttpBody, Refusal, json, replay};
use crate::transport::http::slots::StreamSlots;
use crate::wire::{Body, Message};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

type Answer = Result<Response<HttpBody>, Refusal>;

/// One request of HTTP for a session, or for a new one.
pub(super) struct Legacy<'a> {
    pub(super) server: &'a Server,
    pub(super) sessions: &'a Arc<Sessions>,
    pub(super) slots: &'a StreamSlots,
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
        answer(&session, self, body).await
    }

    /// Begins a session.
    fn begin(self, body: Body<'_>) -> Answer {
        let Body::One(Ok(Message::Request(id, _))) = &body else {
            return Err(Refusal::bare(StatusCode::BAD_REQUEST));
        };
        let id = *id;
        let (mut connection, principal) = self.connect();
        let mut out = Vec::new();
        connection.handle_body(body, &mut out);
        let Some(revision) = connection.legacy_revision() else {
            return Ok(plain(out, Some(id)));
        };
        let session_id = new_id()?;
        let session = Session::new(connection, Kind::Streams(revision), principal);
        self.sessions
            .add(&session_id, session, self.server.limits())?;
        let mut response = plain(out, Some(id));
        if let Ok(session_id) = HeaderValue::from_str(&session_id) {
            response.headers_mut().insert(SESSION, session_id);
        }
        Ok(response)
    }

    /// A connection for a session. Each call brings its headers with it; those of the first request would be kept as long as
    /// the session.
    fn connect(&self) -> (Connection, Option<Principal>) {
        let mut connection = self.server.connect().for_one_session();
        let principal = self.parts.extensions.get::<Principal>().cloned();
        if let Some(principal) = &principal {
            connection.extensions_mut().insert(principal.clone());
        }
        (connection, principal)
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
        let until = session.open_until();
        let mut stream = Replay::new(reader, None).until(until);
        if session.polls() {
            stream = stream.primed();
        }
        if after.stream == session.own_stream {
            stream = stream.of_session(session, self.server, self.slots.take()?);
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
        let session = self.find(id)?;
        if session.kind == Kind::OneStream {
            return Err(no_session());
        }
        Ok(session)
    }

    /// The session of this id.
    fn find(&self, id: &str) -> Result<Arc<Session>, Refusal> {
        let principal = self.parts.extensions.get::<Principal>();
        self.sessions
            .get(id, principal, self.server.limits())
            .ok_or_else(no_session)
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

fn no_session() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "there is no such session")
}

/// The id of a new session.
fn new_id() -> Result<String, Refusal> {
    let why = crate::ask::NO_RANDOM_BYTES;
    random_id().map_err(|_| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, why))
}

//! Legacy era: sessions started by `initialize`, for revisions 2025-03-26 and later.
//!
//! A call runs on a branch of the session's connection, so that its messages are sent on the stream of its own request. It
//! continues without its client, which can reconnect for the rest. Messages unrelated to a request are sent on the stream
//! of a GET.
//!
//! A session of HTTP+SSE (`sse`) works the same, with one stream for everything. A service without sessions (`sessionless`) handles
//! each request on a connection of its own.

mod attended;
mod batch;
mod calls;
mod dispatch;
mod events;
mod filtered;
mod last_use;
mod numbered;
mod reader;
mod replay;
mod session;
mod sessionless;
mod sessions;
mod shared_response;
mod sse;
mod store;
mod writer;

use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use treenail_schema::Revision;

use self::dispatch::{dispatch_body, plain_response};
pub(super) use self::replay::Replay;
use self::session::{Session, SessionKind};
pub(super) use self::sessions::Sessions;
pub(super) use self::sse::SseEndpoint;
pub use self::sse::SsePaths;
use self::store::EventId;
use crate::attach_extensions;
use crate::authorize::expiry;
use crate::headers::{PROTOCOL_VERSION, single_header};
use crate::response::{
    HttpBody, RESPONSE_CAPACITY, Rejection, Reply, json_response, replay_stream,
};
use crate::stream_permits::StreamPermits;
use treenail_runtime::Connection;
use treenail_runtime::Limits;
use treenail_runtime::Principal;
use treenail_runtime::RpcError;
use treenail_runtime::Server;
use treenail_runtime::internal::Body;
use treenail_runtime::internal::Invalid;
use treenail_runtime::internal::Message;
use treenail_runtime::internal::oversized;
use treenail_runtime::internal::random_id;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

type HttpResult = Result<Response<HttpBody>, Rejection>;

/// Returns true if a request belongs to a session, by its headers.
pub(super) fn names_session(headers: &HeaderMap) -> bool {
    headers.contains_key(SESSION)
}

/// One HTTP request that belongs to a session or starts one.
pub(super) struct Legacy<'a> {
    pub(super) server: &'a Server,
    pub(super) sessions: &'a Arc<Sessions>,
    /// True if `initialize` starts a session.
    pub(super) has_sessions: bool,
    pub(super) stream_permits: &'a StreamPermits,
    pub(super) parts: Parts,
    /// Revision that its headers name, if it has been read.
    pub(super) revision: Option<Revision>,
}

impl Legacy<'_> {
    /// Handles a POST.
    pub(super) fn post(self, body: Body<'_>) -> Result<Reply, Rejection> {
        self.check_version()?;
        if !self.has_sessions {
            return self.handle_alone(body);
        }
        let is_initialize = matches!(
            &body,
            Body::One(Ok(Message::Request(_, envelope))) if envelope.method == "initialize"
        );
        if is_initialize && !names_session(&self.parts.headers) {
            return self.start_session(body).map(Reply::Ready);
        }
        let session = self.streamable_session()?;
        dispatch_body(session, self, body)
    }

    /// Rejects a body that is a malformed message, see [`reject_invalid`].
    pub(super) fn reject_invalid(self, invalid: Invalid<'_>) -> Rejection {
        reject_invalid(self.streamable_session().ok(), invalid)
    }

    /// Rejects a body that is too long, see [`reject_oversized`].
    pub(super) fn reject_oversized(self, head: &[u8]) -> Rejection {
        reject_oversized(self.streamable_session().ok(), head, self.server.limits())
    }

    /// Starts a session.
    fn start_session(self, body: Body<'_>) -> HttpResult {
        let Body::One(Ok(Message::Request(id, _))) = &body else {
            return Err(Rejection::empty(StatusCode::BAD_REQUEST));
        };
        let id = *id;
        let (mut connection, principal) = self.connect();
        let mut out = Vec::with_capacity(RESPONSE_CAPACITY);
        connection.handle_body(body, &mut out);
        let Some(revision) = connection.legacy_revision() else {
            return Ok(plain_response(out, Some(id)));
        };
        let session_id = new_session_id()?;
        connection.set_session_id(&session_id);
        let (kind, expires) = (SessionKind::Streamable(revision), expiry(&self.parts));
        let session = Session::new(connection, kind, principal, expires);
        self.sessions
            .insert(&session_id, session, self.server.limits())?;
        let mut response = plain_response(out, Some(id));
        if let Ok(session_id) = HeaderValue::from_str(&session_id) {
            response.headers_mut().insert(SESSION, session_id);
        }
        Ok(response)
    }

    /// Creates the connection of a session. It does not get the headers of the request, which would stay in memory as long as
    /// the session, unless the items that the caller sees may depend on them. Each call gets the headers of its own request.
    fn connect(&self) -> (Connection, Option<Principal>) {
        let connection = self.server.connect().for_one_session();
        let mut connection = connection.over_http(self.parts.version);
        let principal = self.parts.extensions.get::<Principal>().cloned();
        if self.server.has_private_items() {
            attach_extensions(&mut connection, self.parts.clone());
        } else if let Some(principal) = &principal {
            connection.extensions_mut().insert(principal.clone());
        }
        (connection, principal)
    }

    /// Handles a GET: opens the shared stream, or resumes a stream after its client has reconnected.
    pub(super) fn get(self) -> HttpResult {
        self.check_version()?;
        let session = self.streamable_session()?;
        let last = single_header(&self.parts.headers, &LAST_EVENT);
        let last =
            last.map_err(|error| Rejection::with_error(StatusCode::BAD_REQUEST, None, error))?;
        let after = match last {
            Some(last) => EventId::parse(last).ok_or_else(unknown_event)?,
            None if session.events.is_read(session.shared_stream) => {
                let message = "the session already has an open stream";
                return Err(Rejection::new(StatusCode::CONFLICT, message));
            }
            None => session.events.newest(session.shared_stream),
        };
        // The permit first: the new reader detaches an earlier one.
        let is_shared = after.stream == session.shared_stream;
        let permit = is_shared.then(|| self.stream_permits.try_acquire());
        let permit = permit.transpose()?;
        let reader = session.events.read(after).ok_or_else(unknown_event)?;
        if is_shared && reader.after() != after {
            session.resync_subscriptions();
        }
        let deadline = session.stream_deadline();
        let mut stream = Replay::new(reader, None, session.keep_alive).with_deadline(deadline);
        if session.supports_polling() {
            stream = stream.with_priming_event();
        }
        if let Some(permit) = permit {
            stream = stream.for_session(session, self.server, permit);
        }
        Ok(replay_stream(stream))
    }

    /// Handles a DELETE: ends a session.
    pub(super) fn delete(self) -> HttpResult {
        self.check_version()?;
        let id = self.session_id()?;
        self.session(id)?;
        self.sessions.remove(id);
        Ok(json_response(StatusCode::NO_CONTENT, Bytes::new()))
    }

    /// Rejects headers that name a revision without sessions. Clients that send no version predate the header.
    fn check_version(&self) -> Result<(), Rejection> {
        let headers = &self.parts.headers;
        // Usually no header occurs twice, and the two numbers are equal.
        let is_unique = headers.len() == headers.keys_len();
        if is_unique && self.revision.is_some_and(|revision| !revision.is_modern()) {
            return Ok(());
        }
        let version = single_header(headers, &PROTOCOL_VERSION)
            .map_err(|error| Rejection::with_error(StatusCode::BAD_REQUEST, None, error))?;
        let known = |version: &str| version.parse().is_ok_and(|one: Revision| !one.is_modern());
        if version.is_none_or(known) {
            return Ok(());
        }
        let message = "`MCP-Protocol-Version` is not a supported revision";
        Err(Rejection::new(StatusCode::BAD_REQUEST, message))
    }

    /// Returns the session id of the request.
    fn session_id(&self) -> Result<&str, Rejection> {
        let id = single_header(&self.parts.headers, &SESSION)
            .map_err(|error| Rejection::with_error(StatusCode::BAD_REQUEST, None, error))?;
        id.ok_or_else(|| {
            let message = "neither `params._meta` nor `Mcp-Session-Id` identifies the client; start with `initialize`";
            Rejection::new(StatusCode::BAD_REQUEST, message)
        })
    }

    /// Returns the session over Streamable HTTP that the headers name.
    fn streamable_session(&self) -> Result<Arc<Session>, Rejection> {
        self.session(self.session_id()?)
    }

    /// Returns the session with this id over Streamable HTTP. A session of another principal counts as unknown.
    fn session(&self, id: &str) -> Result<Arc<Session>, Rejection> {
        let session = self.find(id)?;
        if session.kind == SessionKind::HttpSse {
            return Err(no_session());
        }
        Ok(session)
    }

    /// Returns the session with this id.
    fn find(&self, id: &str) -> Result<Arc<Session>, Rejection> {
        let principal = self.parts.extensions.get::<Principal>();
        let session = self.sessions.get(id, principal, self.server.limits());
        let session = session.ok_or_else(no_session)?;
        session.authorize_until(expiry(&self.parts));
        Ok(session)
    }
}

/// Rejects a body that is a malformed message. If it is a response, the request of the server that it answers fails.
fn reject_invalid(session: Option<Arc<Session>>, invalid: Invalid<'_>) -> Rejection {
    let (id, error) = (invalid.id, RpcError::clone(&invalid.error));
    if let Some(session) = session.filter(|_| invalid.answered.is_some()) {
        let mut unused = Vec::new();
        session.with_connection(|connection| connection.on_message(Err(invalid), &mut unused));
    }
    Rejection::with_error(StatusCode::BAD_REQUEST, id, error)
}

/// Rejects a body that is too long, given its first bytes. If they are those of a response, the request of the server that it
/// answers fails.
fn reject_oversized(session: Option<Arc<Session>>, head: &[u8], limits: &Limits) -> Rejection {
    if let Some(session) = session {
        let mut unused = Vec::new();
        session.with_connection(|connection| connection.reject_oversized(head, b"", &mut unused));
    }
    let error = oversized(limits.message_bytes);
    Rejection::with_error(StatusCode::PAYLOAD_TOO_LARGE, None, error)
}

fn unknown_event() -> Rejection {
    let message = "no stream contains the event of `Last-Event-ID`";
    Rejection::new(StatusCode::BAD_REQUEST, message)
}

fn no_session() -> Rejection {
    Rejection::new(StatusCode::NOT_FOUND, "unknown session")
}

/// Generates the id of a new session.
fn new_session_id() -> Result<String, Rejection> {
    let message = treenail_runtime::internal::NO_RANDOM_BYTES;
    random_id().map_err(|_| Rejection::new(StatusCode::INTERNAL_SERVER_ERROR, message))
}

//! HTTP+SSE, the transport of revision 2024-11-05: one stream for all output of the server, and a second path for POSTs.

use std::sync::Arc;

use http::uri::PathAndQuery;
use http::{Method, StatusCode};
use treenail_runtime::RpcError;
use treenail_runtime::internal::{Body, Invalid, write_error};

use crate::authorize::expiry;
use crate::legacy::dispatch::dispatch_body;
use crate::legacy::replay::Replay;
use crate::legacy::session::{Session, SessionKind};
use crate::legacy::sessions::SessionGuard;
use crate::legacy::shared_response::SharedResponse;
use crate::legacy::store::EventId;
use crate::legacy::{
    HttpResult, Legacy, new_session_id, no_session, reject_invalid, reject_oversized,
};
use crate::response::{Rejection, Reply, replay_stream};
use crate::without_slash;

/// Query parameter that names the session.
const SESSION: &str = "sessionId";

/// Paths of the HTTP+SSE transport of revision 2024-11-05, see
/// [`HttpService::legacy_sse`](crate::HttpService::legacy_sse).
///
/// ```
/// use http::uri::PathAndQuery;
/// use treenail::http::SsePaths;
///
/// let paths = SsePaths::default().stream(PathAndQuery::from_static("/events"));
/// assert_eq!(paths.messages.path(), "/messages");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SsePaths {
    /// Path of the stream, which starts a session. Default `/sse`.
    pub stream: PathAndQuery,
    /// Path to which messages are posted. A query is only announced to clients. Default `/messages`.
    pub messages: PathAndQuery,
    /// Path of `messages` that is announced to clients, with its query. Set it if a router strips a prefix before the service receives the
    /// request. Default `None`: the same as `messages`.
    pub announced: Option<PathAndQuery>,
}

impl Default for SsePaths {
    fn default() -> Self {
        Self {
            stream: PathAndQuery::from_static("/sse"),
            messages: PathAndQuery::from_static("/messages"),
            announced: None,
        }
    }
}

/// Endpoint of HTTP+SSE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SseEndpoint {
    Stream,
    Messages,
}

impl SseEndpoint {
    pub(crate) fn check_method(self, method: &Method) -> Result<(), Rejection> {
        match (self, method) {
            (Self::Stream, &Method::GET) | (Self::Messages, &Method::POST) => Ok(()),
            (Self::Stream, _) => Err(Rejection::method_not_allowed("GET")),
            (Self::Messages, _) => Err(Rejection::method_not_allowed("POST")),
        }
    }
}

impl SsePaths {
    /// Sets the path of the stream. Default `/sse`.
    #[must_use]
    pub fn stream(mut self, path: PathAndQuery) -> Self {
        self.stream = path;
        self
    }

    /// Sets the path to which messages are posted. Default `/messages`.
    #[must_use]
    pub fn messages(mut self, path: PathAndQuery) -> Self {
        self.messages = path;
        self
    }

    /// Sets the path of `messages` that is announced to clients. Default: the same as `messages`.
    #[must_use]
    pub fn announced(mut self, path: impl Into<Option<PathAndQuery>>) -> Self {
        self.announced = path.into();
        self
    }

    /// Returns the endpoint at a path, if there is one.
    pub(crate) fn endpoint_at(&self, path: &str) -> Option<SseEndpoint> {
        let is_at = |endpoint: &PathAndQuery| without_slash(endpoint.path()) == without_slash(path);
        if is_at(&self.stream) {
            return Some(SseEndpoint::Stream);
        }
        is_at(&self.messages).then_some(SseEndpoint::Messages)
    }
}

impl Legacy<'_> {
    /// Starts a session, which ends with its stream.
    pub(crate) fn open_sse(self, paths: &SsePaths) -> HttpResult {
        self.check_version()?;
        let permit = self.stream_permits.try_acquire()?;
        let id = new_session_id()?;
        let messages = paths.announced.as_ref().unwrap_or(&paths.messages);
        let separator = if messages.query().is_some() { '&' } else { '?' };
        let preamble = format!("event: endpoint\ndata: {messages}{separator}{SESSION}={id}\n\n");
        let (mut connection, principal) = self.connect();
        connection.set_session_id(&id);
        let expires = expiry(&self.parts);
        let session = Session::new(connection, SessionKind::HttpSse, principal, expires);
        let session = self.sessions.insert(&id, session, self.server.limits())?;
        let reader = session
            .events
            .read(EventId::stream_start(session.shared_stream));
        let reader = reader.ok_or_else(no_session)?.not_resumable();
        let sessions = Arc::clone(self.sessions);
        let stream = Replay::new(reader, None, session.keep_alive)
            .for_session(session, self.server, permit)
            .for_http_sse(preamble, SessionGuard { sessions, id });
        Ok(replay_stream(stream))
    }

    /// Handles a POST. Its output is sent on the shared stream.
    pub(crate) fn post_sse(self, body: Body<'_>) -> Result<Reply, Rejection> {
        self.check_version()?;
        let session = self.sse_session()?;
        dispatch_body(session, self, body)
    }

    /// Rejects a body that is a malformed message, see [`reject_invalid`].
    pub(crate) fn reject_invalid_sse(self, invalid: Invalid<'_>) -> Rejection {
        reject_invalid(self.sse_session().ok(), invalid)
    }

    /// Rejects a body that is too long, see [`reject_oversized`].
    pub(crate) fn reject_oversized_sse(self, head: &[u8]) -> Rejection {
        reject_oversized(self.sse_session().ok(), head, self.server.limits())
    }

    /// Responds to a request with an error on the shared stream.
    pub(crate) fn reject_sse(self, id: &str, error: &RpcError) -> Result<Reply, Rejection> {
        let session = self.sse_session()?;
        let mut response = Vec::new();
        write_error(&mut response, Some(id), error);
        Ok(SharedResponse::new(session).send(Vec::new(), response, Some(id)))
    }

    /// Returns the session named in the query.
    fn sse_session(&self) -> Result<Arc<Session>, Rejection> {
        let query = self.parts.uri.query().unwrap_or_default();
        let id = query.split('&').find_map(|member| {
            let (name, id) = member.split_once('=')?;
            (name == SESSION).then_some(id)
        });
        let message = "the query has no `sessionId`; open the stream first";
        let id = id.ok_or_else(|| Rejection::new(StatusCode::BAD_REQUEST, message))?;
        let session = self.find(id)?;
        if session.kind != SessionKind::HttpSse {
            return Err(no_session());
        }
        Ok(session)
    }
}

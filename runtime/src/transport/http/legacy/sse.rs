//! The HTTP+SSE transport of revision 2024-11-05: one stream for all that a server sends, and a second path to post to.

use std::sync::Arc;

use http::StatusCode;
use http::uri::PathAndQuery;

use crate::transport::http::legacy::answer::{accepted, answer};
use crate::transport::http::legacy::replay::Replay;
use crate::transport::http::legacy::session::{Kind, Session};
use crate::transport::http::legacy::sessions::Leave;
use crate::transport::http::legacy::store::EventId;
use crate::transport::http::legacy::{Answer, Legacy, check_version, new_id, no_session};
use crate::transport::http::reply::{Refusal, replay};
use crate::transport::http::without_slash;
use crate::wire::{Body, RpcError, write_error};

/// The member of the query that names the session.
const SESSION: &str = "sessionId";

/// Where clients of the HTTP+SSE transport of revision 2024-11-05 find a server; see
/// [`HttpService::legacy_sse`](crate::HttpService::legacy_sse).
///
/// ```
/// use http::uri::PathAndQuery;
/// use treenail_runtime::SsePaths;
///
/// let paths = SsePaths { stream: PathAndQuery::from_static("/events"), ..SsePaths::default() };
/// assert_eq!(paths.messages.path(), "/messages");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SsePaths {
    /// The path of the stream, which begins a session. Default `/sse`.
    pub stream: PathAndQuery,
    /// The path to which messages are posted. Default `/messages`.
    pub messages: PathAndQuery,
    /// The path of `messages` as clients see it, where a router takes a part of it away before the service sees it. Default
    /// `None`: as it is in `messages`.
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

/// Which of the two a request goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::transport::http) enum Place {
    Stream,
    Messages,
}

impl SsePaths {
    /// Which of the two is at a path.
    pub(in crate::transport::http) fn place(&self, path: &str) -> Option<Place> {
        let is = |place: &PathAndQuery| without_slash(place.path()) == without_slash(path);
        if is(&self.stream) {
            return Some(Place::Stream);
        }
        is(&self.messages).then_some(Place::Messages)
    }
}

impl Legacy<'_> {
    /// Begins a session, which ends with its stream.
    pub(in crate::transport::http) fn open_sse(self, paths: &SsePaths) -> Answer {
        check_version(&self.parts.headers)?;
        let slot = self.slots.take()?;
        let id = new_id()?;
        let messages = paths.announced.as_ref().unwrap_or(&paths.messages).path();
        let head = format!("event: endpoint\ndata: {messages}?{SESSION}={id}\n\n");
        let (connection, principal) = self.connect();
        let session = Session::new(connection, Kind::OneStream, principal);
        let session = self.sessions.add(&id, session, self.server.limits())?;
        let reader = session.events.read(EventId::beginning(session.own_stream));
        let reader = reader.ok_or_else(no_session)?.once();
        let sessions = Arc::clone(self.sessions);
        let stream = Replay::new(reader, None)
            .of_session(session, self.server, slot)
            .once(head, Leave { sessions, id });
        Ok(replay(stream))
    }

    /// Answers what is posted: what comes of it goes to the stream of the session.
    pub(in crate::transport::http) async fn post_sse(self, body: Body<'_>) -> Answer {
        check_version(&self.parts.headers)?;
        let session = self.sse_session()?;
        answer(&session, self, body).await
    }

    /// Answers a request that this transport does not have with an error on the stream of the session.
    pub(in crate::transport::http) async fn refuse_sse(self, id: &str, error: &RpcError) -> Answer {
        let session = self.sse_session()?;
        let mut answer = Vec::new();
        write_error(&mut answer, Some(id), error);
        session.tell(session.own_stream, answer, false).await;
        Ok(accepted())
    }

    /// The session that the query names.
    fn sse_session(&self) -> Result<Arc<Session>, Refusal> {
        let query = self.parts.uri.query().unwrap_or_default();
        let id = query.split('&').find_map(|member| {
            let (name, id) = member.split_once('=')?;
            (name == SESSION).then_some(id)
        });
        let why = "the query has no `sessionId`; open the stream first";
        let id = id.ok_or_else(|| Refusal::new(StatusCode::BAD_REQUEST, why))?;
        let session = self.find(id)?;
        if session.kind != Kind::OneStream {
            return Err(no_session());
        }
        Ok(session)
    }
}

//! State of a legacy session: its handshake, its id and the transport in use.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use http::{HeaderMap, HeaderValue, StatusCode, Uri};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use treenail_runtime::client::ClientError;
use treenail_schema::Revision;

use crate::authorized::Subject;
use crate::headers::{SESSION, VERSION, version};
use crate::response::ErrorResponse;

/// Transport of legacy messages.
#[derive(Clone, Debug, Default)]
pub(crate) enum LegacyTransport {
    #[default]
    StreamableHttp,
    /// HTTP+SSE of 2024-11-05: messages are posted to this URL, and answers arrive on one stream.
    HttpSse(Uri),
    /// The session is over: the server has ended it, or the stream of HTTP+SSE has ended, which cannot be resumed.
    Expired,
}

/// State of a legacy session since its last handshake.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionState {
    /// Number of the handshake. Tasks of an earlier handshake must not change the state of a later one.
    pub(crate) handshake: u64,
    /// Value of `Mcp-Session-Id`.
    pub(crate) id: Option<HeaderValue>,
    pub(crate) revision: Option<Revision>,
    pub(crate) transport: LegacyTransport,
    /// The handshake replaces an expired session, and is not complete yet. A session that it leaves behind counts as expired.
    is_renewing: bool,
    /// The session replaces an expired one, and the server has not answered a request in it yet.
    pub(crate) is_untried: bool,
}

impl SessionState {
    /// Returns the URL to post a message with this method to; answers have none.
    pub(crate) fn target<'a>(
        &'a self,
        url: &'a Uri,
        method: Option<&str>,
    ) -> Result<&'a Uri, ClientError> {
        let is_early = matches!(
            method,
            None | Some("initialize" | "notifications/initialized")
        );
        match &self.transport {
            LegacyTransport::StreamableHttp | LegacyTransport::HttpSse(_)
                if self.is_renewing && !is_early =>
            {
                Err(ClientError::SessionExpired)
            }
            LegacyTransport::StreamableHttp => Ok(url),
            LegacyTransport::HttpSse(endpoint) => Ok(endpoint),
            LegacyTransport::Expired => Err(ClientError::SessionExpired),
        }
    }

    /// Returns true for the transport of 2024-11-05.
    pub(crate) fn is_http_sse(&self) -> bool {
        matches!(self.transport, LegacyTransport::HttpSse(_))
    }

    /// Returns the subject of a request without a message, or of an answer.
    pub(crate) fn subject(&self) -> Subject<'static> {
        Subject {
            revision: self.revision,
            ..Subject::default()
        }
    }

    /// Returns the headers that each request of the session carries.
    pub(crate) fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if let Some(revision) = self.revision {
            headers.insert(VERSION, version(revision));
        }
        if let Some(id) = &self.id {
            headers.insert(SESSION, id.clone());
        }
        headers
    }
}

/// Store of the current [`SessionState`], and of the end of the session.
#[derive(Debug, Default)]
pub(crate) struct StateStore {
    current: Mutex<Current>,
    closed: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct Current {
    state: SessionState,
    /// The task that reads the stream of the session.
    reader: Option<AbortHandle>,
}

impl Current {
    fn stop_reader(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.abort();
        }
    }
}

impl StateStore {
    pub(crate) fn current(&self) -> SessionState {
        self.lock().state.clone()
    }

    /// Returns the current state, for a task of this handshake.
    ///
    /// # Errors
    ///
    /// If the session of the handshake is over.
    pub(crate) fn state_of(&self, handshake: u64) -> Result<SessionState, ClientError> {
        let state = self.current();
        let is_over = matches!(state.transport, LegacyTransport::Expired);
        if is_over || state.handshake != handshake {
            return Err(ClientError::SessionExpired);
        }
        Ok(state)
    }

    /// Stores the revision in use, if one is given, and returns the current state.
    pub(crate) fn update_revision(&self, revision: Option<Revision>) -> SessionState {
        let state = &mut self.lock().state;
        state.revision = revision.or(state.revision);
        state.clone()
    }

    /// Discards the state before a new handshake. If the session had expired, it is still expired for other messages until
    /// [`complete_handshake`](Self::complete_handshake).
    pub(crate) fn reset(&self) {
        let mut current = self.lock();
        current.stop_reader();
        let state = &current.state;
        let has_expired = matches!(state.transport, LegacyTransport::Expired);
        current.state = SessionState {
            handshake: state.handshake + 1,
            is_renewing: state.is_renewing || has_expired,
            is_untried: state.is_untried || has_expired,
            ..SessionState::default()
        };
    }

    /// Opens the session to all messages, after the server has accepted `notifications/initialized`.
    pub(crate) fn complete_handshake(&self, handshake: u64) {
        self.update(handshake, |current| current.state.is_renewing = false);
    }

    /// Notes that the server has answered a request in the session.
    pub(crate) fn note_answer(&self, handshake: u64) {
        self.update(handshake, |current| current.state.is_untried = false);
    }

    /// Changes the transport and drops the session id. Returns false if the session is closed, or another handshake has
    /// started.
    pub(crate) fn switch_transport(&self, handshake: u64, transport: LegacyTransport) -> bool {
        self.update(handshake, |current| {
            current.state.id = None;
            current.state.transport = transport;
        })
    }

    /// Replaces the task that reads the stream of the session. Aborts `reader` if the session is closed, or another
    /// handshake has started.
    pub(crate) fn set_reader(&self, handshake: u64, reader: &AbortHandle) {
        let stored = self.update(handshake, |current| {
            current.stop_reader();
            current.reader = Some(reader.clone());
        });
        if !stored {
            reader.abort();
        }
    }

    /// Stores the session id from the response to `initialize`, if it has one.
    pub(crate) fn store_session_id(
        &self,
        handshake: u64,
        headers: &HeaderMap,
    ) -> Result<(), ClientError> {
        let Some(id) = headers.get(SESSION) else {
            return Ok(());
        };
        if id.is_empty() || !id.as_bytes().iter().all(|byte| matches!(byte, 0x21..=0x7E)) {
            let reason = "the session id contains characters that are not allowed";
            return Err(ClientError::protocol(reason));
        }
        let mut id = id.clone();
        id.set_sensitive(true);
        self.update(handshake, |current| current.state.id = Some(id));
        Ok(())
    }

    /// Converts an error response. Within a session, status 404 means that the session has expired.
    pub(crate) fn error_for(&self, error: ErrorResponse, state: &SessionState) -> ClientError {
        if error.status != StatusCode::NOT_FOUND || state.id.is_none() {
            return error.into();
        }
        self.expire(state);
        ClientError::SessionExpired
    }

    /// Ends the session on this side, unless another handshake has started.
    pub(crate) fn expire(&self, state: &SessionState) {
        self.switch_transport(state.handshake, LegacyTransport::Expired);
    }

    pub(crate) fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }

    /// Closes the session. The first call returns the state that was current.
    pub(crate) fn close(&self) -> Option<SessionState> {
        if self.closed.send_replace(true) {
            return None;
        }
        let mut current = self.lock();
        current.stop_reader();
        Some(current.state.clone())
    }

    /// Waits for a future until the session is closed.
    pub(crate) async fn while_open<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let mut closing = self.closed.subscribe();
        let mut closed = pin!(closing.wait_for(|closed| *closed));
        let mut future = pin!(future);
        poll_fn(|context| {
            if closed.as_mut().poll(context).is_ready() {
                return Poll::Ready(None);
            }
            future.as_mut().poll(context).map(Some)
        })
        .await
    }

    /// Changes the stored state. Returns false if the session is closed, or another handshake has started.
    fn update(&self, handshake: u64, change: impl FnOnce(&mut Current)) -> bool {
        let mut current = self.lock();
        let is_current = current.state.handshake == handshake && !self.is_closed();
        if is_current {
            change(&mut current);
        }
        is_current
    }

    fn lock(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

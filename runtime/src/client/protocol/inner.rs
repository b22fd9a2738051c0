//! State that all requests of a client share.

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, Weak};

use treenail_schema::error_code::UNSUPPORTED_PROTOCOL_VERSION;
use treenail_schema::{Implementation, Revision};

use crate::client::protocol::discovery::CommonRevision;
use crate::client::protocol::handshake::Handshake;
use crate::client::protocol::meta::{Meta, remove_member};
use crate::client::protocol::params::{Params, RoundParams};
use crate::client::protocol::router::Router;
use crate::client::protocol::server_info::PeerInfo;
use crate::client::protocol::task_driver::TaskDriver;
use crate::client::shared_turn::SharedTurn;
use crate::client::{ClientError, ClientLimits, Session, SessionRequest, TransportKind};

/// Session with a server, and the means to send requests over it.
pub(super) struct Link {
    pub(super) session: Arc<dyn Session>,
    pub(super) router: Arc<Router>,
    pub(super) limits: ClientLimits,
    pub(super) client_info: Implementation,
    /// False if modern requests do not contain `client_info`.
    pub(super) sends_client_info: bool,
    /// The only accepted revision, if the user has set it; in the legacy era, older ones are accepted too.
    pub(super) fixed_revision: Option<Revision>,
    pub(super) next_id: AtomicI64,
    /// Driver of the calls that become tasks; `None` if the client does not support tasks.
    pub(super) tasks: Option<Arc<dyn TaskDriver>>,
}

impl Link {
    /// Returns a link over another session, after the first one has ended.
    pub(super) fn with_session(self, session: Arc<dyn Session>) -> Self {
        let handler = Arc::clone(&self.router.handler);
        let router = Router::listen_to(&*session, handler, self.limits.clone());
        Self {
            session,
            router,
            ..self
        }
    }

    pub(super) fn next_id(&self) -> i64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }
}

/// State that all requests of a client share, after the handshake.
pub(in crate::client) struct Inner {
    pub(super) link: Link,
    peer: RwLock<Arc<PeerInfo>>,
    /// Reference to itself.
    me: Weak<Self>,
    /// Turns at the renewal of an expired session.
    renewal: SharedTurn,
}

/// Request without the parts that differ between input rounds.
#[derive(Clone, Debug)]
pub(super) struct RequestTemplate {
    pub(super) method: Cow<'static, str>,
    /// The extension of the method, which the server must have declared.
    pub(super) extension: Option<Box<str>>,
    pub(super) params: Params,
    pub(super) headers: Vec<(String, String)>,
    /// The value of `Mcp-Name`, if it is not that of the method in the protocol itself.
    pub(super) name_header: Option<String>,
    /// Members that the caller adds to `_meta`, as JSON text.
    pub(super) meta: String,
    pub(super) progress_token: Option<i64>,
    /// True for a call with the parameter `task`, of revision 2025-11-25.
    pub(super) asks_for_task: bool,
}

impl RequestTemplate {
    pub(super) fn new(method: impl Into<Cow<'static, str>>, mut params: Params) -> Self {
        Self {
            method: method.into(),
            extension: None,
            meta: params.take_meta(),
            params,
            headers: Vec::new(),
            name_header: None,
            progress_token: None,
            asks_for_task: false,
        }
    }

    /// Requests progress with this token, in place of one in the `_meta` of the caller.
    pub(super) fn set_progress_token(&mut self, token: i64) {
        remove_member(&mut self.meta, "progressToken");
        self.progress_token = Some(token);
    }

    /// Rejects a request that the server does not support.
    #[inline]
    pub(super) fn check_support(&self, peer: &PeerInfo) -> Result<(), ClientError> {
        match &self.extension {
            Some(extension) => peer.check_extension(extension, &self.method),
            None => peer.check_support(&self.method),
        }
    }

    /// Returns true if the server may request input before the result. Other methods have no members for the answers.
    pub(super) fn may_require_input(&self) -> bool {
        matches!(
            &*self.method,
            "tools/call" | "prompts/get" | "resources/read"
        )
    }

    /// Returns the request of one input round.
    pub(super) fn compose(&self, id: i64, round: &RoundParams, peer: &PeerInfo) -> SessionRequest {
        let meta = Meta {
            era: &peer.meta,
            progress_token: self.progress_token,
            caller: &self.meta,
        };
        let params = self.params.complete(round, &meta);
        let mut request = SessionRequest::new(id, self.method.clone(), params);
        request.revision = Some(peer.revision);
        request.headers.clone_from(&self.headers);
        request.name_header.clone_from(&self.name_header);
        // Such a request is cancelled by `tasks/cancel`.
        request.cancellable = !self.asks_for_task;
        request
    }
}

impl Inner {
    pub(super) fn new(link: Link, peer: PeerInfo) -> Arc<Self> {
        link.router.set_revision(peer.revision);
        Arc::new_cyclic(|me| Self {
            link,
            peer: RwLock::new(Arc::new(peer)),
            me: Weak::clone(me),
            renewal: SharedTurn::default(),
        })
    }

    /// Returns another reference to itself.
    pub(super) fn shared(&self) -> Option<Arc<Self>> {
        self.me.upgrade()
    }

    pub(super) fn peer(&self) -> Arc<PeerInfo> {
        let peer = self.peer.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&peer)
    }

    /// Sends a request, and sends it again in a new session if the session has expired. `peer` is the server of the answer then, which
    /// may be of the other era.
    pub(super) async fn send(
        &self,
        template: &RequestTemplate,
        round: &RoundParams,
        peer: &mut Arc<PeerInfo>,
    ) -> Result<String, ClientError> {
        let request = self.compose(template, round, peer);
        match self.link.session.request(request).await {
            Err(error) if self.is_session_over(&error, peer) => {}
            other => return other,
        }
        // Boxed: expiry is rare and must not enlarge the future of every request.
        Box::pin(self.send_in_new_session(template, round, peer)).await
    }

    async fn send_in_new_session(
        &self,
        template: &RequestTemplate,
        round: &RoundParams,
        peer: &mut Arc<PeerInfo>,
    ) -> Result<String, ClientError> {
        // A renewal never waits for a handler.
        *peer = self.renewal.take(false, self.renew_session(peer)).await?;
        template.check_support(peer)?;
        let request = self.compose(template, round, peer);
        self.link.session.request(request).await
    }

    /// Returns a request with a new id.
    fn compose(
        &self,
        template: &RequestTemplate,
        round: &RoundParams,
        peer: &PeerInfo,
    ) -> SessionRequest {
        let mut request = template.compose(self.link.next_id(), round, peer);
        if request.cancellable && self.accepts_task(template) {
            // It may create a task that no caller waits for.
            request.late = Some(Weak::clone(&self.me) as _);
        }
        request
    }

    /// Returns true if the server has not run a request because its legacy session is over: the server has ended it, or was replaced
    /// by one that supports the modern era only.
    fn is_session_over(&self, error: &ClientError, peer: &PeerInfo) -> bool {
        match error {
            ClientError::SessionExpired => true,
            ClientError::Refused(error) => {
                // In the legacy era, the code alone may be that of a call that has run.
                error.code == UNSUPPORTED_PROTOCOL_VERSION
                    && !peer.revision.is_modern()
                    && self.link.fixed_revision.is_none()
                    && self.link.session.transport() == TransportKind::Http
                    && matches!(
                        CommonRevision::from_error(error),
                        Ok(CommonRevision::Modern(_))
                    )
            }
            _ => false,
        }
    }

    /// Starts a new session, unless another request has already done so.
    async fn renew_session(&self, stale: &Arc<PeerInfo>) -> Result<Arc<PeerInfo>, ClientError> {
        let peer = self.peer();
        if !Arc::ptr_eq(&peer, stale) {
            return Ok(peer);
        }
        // Nobody waits for the answers to them, and the new session may use their ids.
        self.link.router.discard_requests();
        let handshake = Handshake::new(&self.link);
        let renewed = Arc::new(handshake.renew(stale.revision).await?);
        self.link.router.set_revision(renewed.revision);
        let mut peer = self.peer.write().unwrap_or_else(PoisonError::into_inner);
        *peer = Arc::clone(&renewed);
        drop(peer);
        // Notifications between the two sessions are lost.
        self.link.router.changes.note_all();
        Ok(renewed)
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Inner")
            .field("session", &self.link.session)
            .field("peer", &self.peer())
            .finish_non_exhaustive()
    }
}

//! What the requests of a client share.

use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use treenail_schema::Implementation;

use crate::client::protocol::facts::PeerInfo;
use crate::client::protocol::router::Router;
use crate::client::protocol::text::{Head, Meta, Round};
use crate::client::{ClientError, ClientLimits, Session, SessionRequest};

pub(in crate::client) struct Core {
    pub(super) session: Arc<dyn Session>,
    pub(super) router: Arc<Router>,
    pub(super) limits: ClientLimits,
    pub(super) info: Implementation,
    /// Whether requests of the modern era say who asks.
    pub(super) shows_info: bool,
    facts: RwLock<Arc<PeerInfo>>,
    /// Held while a session that has expired is begun anew.
    renewing: tokio::sync::Mutex<()>,
    next_id: AtomicI64,
}

/// A request, in the words that stay the same in each round.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) method: &'static str,
    pub(super) head: Head,
    pub(super) headers: Vec<(String, String)>,
    /// What the caller adds to `_meta`: texts of members.
    pub(super) meta: String,
    pub(super) progress_token: Option<i64>,
}

impl Draft {
    pub(super) fn new(method: &'static str, head: Head) -> Self {
        Self {
            method,
            head,
            headers: Vec::new(),
            meta: String::new(),
            progress_token: None,
        }
    }

    /// The request of one round.
    pub(super) fn compose(&self, id: i64, round: &Round, facts: &PeerInfo) -> SessionRequest {
        let meta = Meta {
            era: &facts.meta,
            progress_token: self.progress_token,
            own: &self.meta,
        };
        let mut request = SessionRequest::new(id, self.method, self.head.complete(round, &meta));
        request.revision = Some(facts.revision);
        request.headers.clone_from(&self.headers);
        request
    }
}

impl Core {
    pub(super) fn new(greeter: Greeter, facts: PeerInfo) -> Arc<Self> {
        greeter.router.set_modern(facts.revision.is_modern());
        Arc::new(Self {
            session: greeter.session,
            router: greeter.router,
            limits: greeter.limits,
            info: greeter.info,
            shows_info: greeter.shows_info,
            facts: RwLock::new(Arc::new(facts)),
            renewing: tokio::sync::Mutex::default(),
            next_id: greeter.next_id,
        })
    }

    pub(super) fn facts(&self) -> Arc<PeerInfo> {
        let facts = self.facts.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&facts)
    }

    pub(super) fn next_id(&self) -> i64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Sends a request once, or twice if the server has forgotten the session.
    pub(super) async fn send(
        &self,
        draft: &Draft,
        round: &Round,
        facts: &Arc<PeerInfo>,
    ) -> Result<String, ClientError> {
        let id = self.next_id();
        let sent = self.session.request(draft.compose(id, round, facts)).await;
        match sent {
            Err(ClientError::SessionExpired) => {
                // What is rare must not make every request large.
                let facts = Box::pin(self.renew(facts)).await?;
                let id = self.next_id();
                self.session.request(draft.compose(id, round, &facts)).await
            }
            other => other,
        }
    }

    /// Begins the session anew, unless somebody else has done so meanwhile.
    async fn renew(&self, stale: &Arc<PeerInfo>) -> Result<Arc<PeerInfo>, ClientError> {
        let _renewing = self.renewing.lock().await;
        let facts = self.facts();
        if !Arc::ptr_eq(&facts, stale) {
            return Ok(facts);
        }
        let greeter = Greeter {
            session: Arc::clone(&self.session),
            router: Arc::clone(&self.router),
            limits: self.limits.clone(),
            info: self.info.clone(),
            shows_info: self.shows_info,
            next_id: AtomicI64::new(self.next_id.fetch_add(2, Ordering::Relaxed)),
        };
        let renewed = Arc::new(greeter.initialize(stale.revision).await?);
        let mut facts = self.facts.write().unwrap_or_else(PoisonError::into_inner);
        *facts = Arc::clone(&renewed);
        drop(facts);
        // What was told to the session that is gone has not been told to this one.
        self.router.changes.note_all();
        Ok(renewed)
    }
}

impl fmt::Debug for Core {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Core")
            .field("session", &self.session)
            .field("facts", &self.facts())
            .finish_non_exhaustive()
    }
}

/// Meets a server.
pub(super) struct Greeter {
    pub(super) session: Arc<dyn Session>,
    pub(super) router: Arc<Router>,
    pub(super) limits: ClientLimits,
    pub(super) info: Implementation,
    pub(super) shows_info: bool,
    pub(super) next_id: AtomicI64,
}

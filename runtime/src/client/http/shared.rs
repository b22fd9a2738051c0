//! What all requests of a session share, and who waits for an answer.

use std::collections::HashMap;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Poll;

use http::{HeaderMap, StatusCode, Uri};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::time::timeout;
use treenail_schema::Revision;

use crate::client::fetch::engine::Engine;
use crate::client::http::headers::SESSION;
use crate::client::http::legacy::{Carrier, Legacy, Standing};
use crate::client::http::reply::Failed;
use crate::client::stray::StrayLines;
use crate::client::{ClientError, ClientLimits, IncomingHandler};
use crate::log_throttle::LogThrottle;

/// The text of a result, or why there is none.
pub(super) type Answer = Result<String, ClientError>;

pub(super) struct Shared {
    pub(super) url: Uri,
    pub(super) limits: ClientLimits,
    /// Messages of the server that are none.
    pub(super) stray: StrayLines,
    /// Warnings of messages that are none of the protocol's.
    pub(super) warned: LogThrottle,
    /// The headers of the user.
    pub(super) headers: HeaderMap,
    pub(super) engine: Engine,
    incoming: OnceLock<Arc<dyn IncomingHandler>>,
    /// Requests that may be sent at once.
    pub(super) turns: Semaphore,
    /// Questions of the server that may be open, or have answers on their way.
    pub(super) questions: Arc<Semaphore>,
    /// Cancellations that may be on their way.
    errands: Arc<Semaphore>,
    closed: watch::Sender<bool>,
    legacy: Mutex<Legacy>,
    waiting: Mutex<HashMap<i64, oneshot::Sender<Answer>>>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // There may be secrets in a query, in headers and in what names a session.
        formatter
            .debug_struct("HttpSession")
            .field("host", &self.url.host().unwrap_or_default())
            .field("path", &self.url.path())
            .finish_non_exhaustive()
    }
}

impl Shared {
    pub(super) fn new(url: Uri, headers: HeaderMap, engine: Engine, limits: ClientLimits) -> Self {
        let room = |most: usize| Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS));
        Self {
            url,
            headers,
            engine,
            incoming: OnceLock::new(),
            turns: room(limits.requests_in_flight),
            // As many again can be refused while those are open.
            questions: Arc::new(room(limits.pending_server_requests.saturating_mul(2))),
            errands: Arc::new(room(limits.requests_in_flight)),
            closed: watch::Sender::new(false),
            legacy: Mutex::default(),
            waiting: Mutex::default(),
            stray: StrayLines::default(),
            warned: LogThrottle::default(),
            limits,
        }
    }

    pub(super) fn listen(&self, incoming: Arc<dyn IncomingHandler>) {
        if self.incoming.set(incoming).is_err() {
            tracing::warn!("somebody listens to the session already");
        }
    }

    pub(super) fn incoming(&self) -> Option<&Arc<dyn IncomingHandler>> {
        self.incoming.get()
    }

    /// What a failure means for a request of the legacy era: with a session, the status 404 is its end.
    pub(super) fn failure(&self, failed: Failed, standing: &Standing) -> ClientError {
        if failed.status != StatusCode::NOT_FOUND || standing.session.is_none() {
            return failed.into();
        }
        self.carry_by(standing.handshake, Carrier::Expired);
        ClientError::SessionExpired
    }

    /// What the newest handshake has led to; `revision` is the one in use since then.
    pub(super) fn standing(&self, revision: Option<Revision>) -> Standing {
        let standing = &mut self.legacy().standing;
        standing.revision = revision.or(standing.revision);
        standing.clone()
    }

    /// Does something with what is remembered, unless another handshake has begun.
    pub(super) fn with_legacy(&self, handshake: u64, change: impl FnOnce(&mut Legacy)) -> bool {
        let mut legacy = self.legacy();
        let current = legacy.standing.handshake == handshake && !self.is_closed();
        if current {
            change(&mut legacy);
        }
        current
    }

    /// Begins a handshake.
    pub(super) fn begin_anew(&self) {
        self.legacy().begin_anew();
    }

    pub(super) fn carry_by(&self, handshake: u64, carrier: Carrier) -> bool {
        self.with_legacy(handshake, |legacy| legacy.carry_by(carrier))
    }

    /// Remembers the session that the answer to `initialize` names.
    pub(super) fn note_session(
        &self,
        handshake: u64,
        headers: &HeaderMap,
    ) -> Result<(), ClientError> {
        let Some(id) = headers.get(SESSION) else {
            return Ok(());
        };
        if id.is_empty() || !id.as_bytes().iter().all(|byte| matches!(byte, 0x21..=0x7E)) {
            let why = "the id of the session has characters that it cannot have";
            return Err(ClientError::protocol(why));
        }
        let mut id = id.clone();
        id.set_sensitive(true);
        self.with_legacy(handshake, |legacy| legacy.standing.session = Some(id));
        Ok(())
    }

    /// Takes note of a request that waits for an answer, from wherever it comes.
    pub(super) fn wait_for(&self, id: i64) -> oneshot::Receiver<Answer> {
        let (sender, receiver) = oneshot::channel();
        self.waiting().insert(id, sender);
        receiver
    }

    pub(super) fn forget(&self, id: i64) {
        self.waiting().remove(&id);
    }

    /// Gives an answer to whoever waits for it.
    pub(super) fn complete(&self, id: i64, answer: Answer) {
        let sender = self.waiting().remove(&id);
        if sender.is_none_or(|sender| sender.send(answer).is_err()) {
            tracing::debug!(id, "nobody waits for this answer of the server");
        }
    }

    /// Nobody gets an answer any more.
    pub(super) fn fail_all(&self, why: &ClientError) {
        for (_, sender) in self.waiting().drain() {
            // Whoever does not wait any more does not mind.
            let _ = sender.send(Err(why.clone()));
        }
    }

    /// Sends a message of the legacy era on the side, or not if there are too many of them.
    pub(super) fn send_aside(
        self: &Arc<Self>,
        runtime: &Handle,
        standing: Standing,
        body: Vec<u8>,
    ) {
        let Ok(turn) = Arc::clone(&self.errands).try_acquire_owned() else {
            tracing::debug!("the server is not told of a cancellation: it takes no messages");
            return;
        };
        let shared = Arc::clone(self);
        runtime.spawn(async move {
            let sent = timeout(
                shared.limits.request_timeout,
                shared.deliver(&standing, body),
            );
            if !matches!(shared.while_open(sent).await, Some(Ok(Ok(())))) {
                tracing::debug!("the server was not told of a cancellation");
            }
            drop(turn);
        });
    }

    pub(super) fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }

    /// Ends the session on this side, and tells which one the server has to be told of. Only the first call does that.
    pub(super) fn end(&self) -> Option<Standing> {
        if self.closed.send_replace(true) {
            return None;
        }
        let mut legacy = self.legacy();
        legacy.stop_reading();
        let standing = legacy.standing.clone();
        drop(legacy);
        self.fail_all(&closed());
        if let Some(incoming) = self.incoming() {
            incoming.closed();
        }
        Some(standing)
    }

    /// Waits for something for as long as the session is open.
    pub(super) async fn while_open<T>(&self, future: impl Future<Output = T>) -> Option<T> {
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

    fn legacy(&self) -> MutexGuard<'_, Legacy> {
        self.legacy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<i64, oneshot::Sender<Answer>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The error of those who come too late.
pub(super) fn closed() -> ClientError {
    ClientError::closed("the session was closed")
}

//! What all requests of a session share: the ways to send something, and who waits for an answer.

use std::collections::HashMap;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Poll;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri};
use hyper::body::Incoming as Body;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::time::timeout;
use treenail_schema::Revision;

use crate::client::fetch::engine::Engine;
use crate::client::http::headers::{LAST_EVENT, SESSION};
use crate::client::http::legacy::{Carrier, Legacy, Standing};
use crate::client::http::reply::{Failed, Reply};
use crate::client::stray::StrayLines;
use crate::client::{ClientError, ClientLimits, Incoming};
use crate::seldom::Seldom;

/// The text of a result, or why there is none.
pub(super) type Answer = Result<String, ClientError>;

const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

pub(super) struct Shared {
    pub(super) url: Uri,
    pub(super) limits: ClientLimits,
    /// Messages of the server that are none.
    pub(super) stray: StrayLines,
    /// Warnings of messages that are none of the protocol's.
    pub(super) warned: Seldom,
    /// The headers of the user.
    headers: HeaderMap,
    engine: Engine,
    incoming: OnceLock<Arc<dyn Incoming>>,
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
            questions: Arc::new(room(limits.open_questions.saturating_mul(2))),
            errands: Arc::new(room(limits.requests_in_flight)),
            closed: watch::Sender::new(false),
            legacy: Mutex::default(),
            waiting: Mutex::default(),
            stray: StrayLines::default(),
            warned: Seldom::default(),
            limits,
        }
    }

    pub(super) fn listen(&self, incoming: Arc<dyn Incoming>) {
        if self.incoming.set(incoming).is_err() {
            tracing::warn!("somebody listens to the session already");
        }
    }

    pub(super) fn incoming(&self) -> Option<&Arc<dyn Incoming>> {
        self.incoming.get()
    }

    /// Posts a message.
    pub(super) async fn post(
        &self,
        to: &Uri,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Response<Body>, ClientError> {
        let mut request = self.request(Method::POST, to.clone(), headers, BOTH);
        request.headers_mut().insert(CONTENT_TYPE, JSON);
        *request.body_mut() = body.into();
        self.engine.send(request).await
    }

    /// Posts a message of the legacy era that has no answer.
    pub(super) async fn deliver(
        &self,
        standing: &Standing,
        body: Vec<u8>,
    ) -> Result<(), ClientError> {
        let to = standing.target(&self.url)?;
        let response = self.post(to, standing.headers(), body).await?;
        match Reply::accepted(response).await {
            Ok(()) => Ok(()),
            Err(failed) => Err(self.failure(failed, standing)),
        }
    }

    /// Asks for a stream, or for the rest of one.
    pub(super) async fn get(
        &self,
        standing: &Standing,
        after: Option<&HeaderValue>,
    ) -> Result<Reply, ClientError> {
        let mut headers = standing.headers();
        if let Some(after) = after {
            headers.insert(LAST_EVENT, after.clone());
        }
        let request = self.request(Method::GET, self.url.clone(), headers, EVENTS);
        Reply::read(self.engine.send(request).await?, &self.limits).await
    }

    /// Tells the server that a session has ended; what it says to that does not matter.
    pub(super) async fn delete(&self, standing: &Standing) {
        let headers = standing.headers();
        let request = self.request(Method::DELETE, self.url.clone(), headers, BOTH);
        if timeout(self.limits.shutdown_within, self.engine.send(request))
            .await
            .is_err()
        {
            tracing::debug!("the server did not say that the session has ended");
        }
    }

    fn request(
        &self,
        method: Method,
        to: Uri,
        headers: HeaderMap,
        accept: HeaderValue,
    ) -> Request<Bytes> {
        let mut request = Request::new(Bytes::new());
        *request.method_mut() = method;
        *request.uri_mut() = to;
        request.headers_mut().clone_from(&self.headers);
        request.headers_mut().extend(headers);
        request.headers_mut().insert(ACCEPT, accept);
        request
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

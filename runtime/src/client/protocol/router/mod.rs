//! Routing of notifications and requests of the server.

mod notifications;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::task::AbortHandle;
use treenail_schema::{ProgressNotificationParams, Revision};

use crate::client::protocol::answering::Answering;
use crate::client::protocol::broadcast::{Broadcast, Notifications, ServerNotification};
use crate::client::protocol::changes::Changes;
use crate::client::protocol::checked_handler::{CheckedHandler, parse_input_request};
use crate::client::protocol::queue::Queue;
use crate::client::protocol::subscribed_uris::SubscribedUris;
use crate::client::protocol::task_driver::relate_answer;
use crate::client::{ClientLimits, IncomingHandler, IncomingRequest, Responder, Session};
use crate::log_throttle::LogThrottle;
use crate::wire::{RpcError, copied_id};

/// Callback for the progress of one request.
pub(super) type ProgressSink = Arc<dyn Fn(ProgressNotificationParams) + Send + Sync>;

/// Routes notifications and requests of the server to their receivers.
pub(super) struct Router {
    itself: Weak<Self>,
    pub(super) handler: Arc<CheckedHandler>,
    pub(super) changes: Changes,
    pub(super) subscribed_uris: SubscribedUris,
    limits: ClientLimits,
    /// The revision of the server. A modern one must not send requests.
    revision: Mutex<Revision>,
    progress: Mutex<HashMap<i64, ProgressSink>>,
    subscriptions: Mutex<BTreeMap<i64, Arc<Queue<Arc<ServerNotification>>>>>,
    broadcast: Broadcast,
    /// The requests of the server that are being answered, by the JSON text of their id.
    open_requests: Mutex<BTreeMap<Box<str>, OpenRequest>>,
    /// Number of the next request of the server. The id of one that was discarded may be used again while its task still runs.
    next_request: AtomicU64,
    /// The handler's work on them, during which timeouts of requests pause.
    pub(super) answering: Answering,
    /// Rate limit for warnings about requests of a modern server.
    warnings: LogThrottle,
}

struct OpenRequest {
    number: u64,
    responder: Responder,
    /// The task that answers; `None` until it has been spawned.
    task: Option<AbortHandle>,
}

impl OpenRequest {
    fn discard(self) {
        self.responder.discard();
        if let Some(task) = self.task {
            task.abort();
        }
    }
}

impl Router {
    /// Creates a router for the incoming messages of `session`.
    pub(super) fn listen_to(
        session: &dyn Session,
        handler: Arc<CheckedHandler>,
        limits: ClientLimits,
    ) -> Arc<Self> {
        let router = Arc::new_cyclic(|itself| Self {
            itself: Weak::clone(itself),
            answering: Answering::new(Arc::clone(&handler)),
            handler,
            changes: Changes::default(),
            subscribed_uris: SubscribedUris::default(),
            limits,
            revision: Mutex::new(Revision::LATEST_LEGACY),
            progress: Mutex::default(),
            subscriptions: Mutex::default(),
            broadcast: Broadcast::default(),
            open_requests: Mutex::default(),
            next_request: AtomicU64::new(0),
            warnings: LogThrottle::default(),
        });
        session.listen(Arc::clone(&router) as Arc<_>);
        router
    }

    pub(super) fn set_revision(&self, revision: Revision) {
        *lock(&self.revision) = revision;
    }

    fn revision(&self) -> Revision {
        *lock(&self.revision)
    }

    /// Passes progress with this token to `sink` until the guard is dropped.
    pub(super) fn on_progress(self: &Arc<Self>, token: i64, sink: ProgressSink) -> Registration {
        lock(&self.progress).insert(token, sink);
        let router = Arc::clone(self);
        Registration(Box::new(move || {
            // A sink and a queue are dropped without the lock, because their wakers may own another registration.
            let sink = lock(&router.progress).remove(&token);
            drop(sink);
        }))
    }

    /// Queues the notifications of a subscription until the guard is dropped.
    pub(super) fn on_subscription(
        self: &Arc<Self>,
        id: i64,
    ) -> (Arc<Queue<Arc<ServerNotification>>>, Registration) {
        let queue = Queue::keeping_first(&self.limits);
        lock(&self.subscriptions).insert(id, Arc::clone(&queue));
        let router = Arc::clone(self);
        let remove = move || {
            let queue = lock(&router.subscriptions).remove(&id);
            drop(queue);
        };
        (queue, Registration(Box::new(remove)))
    }

    pub(super) fn notifications(&self) -> Notifications {
        self.broadcast.subscribe(&self.limits)
    }

    /// Answers a request of the server in a separate task.
    fn spawn_answer(&self, request: IncomingRequest<'_>) {
        let max_bytes = self.limits.decoded_bytes;
        let input = match parse_input_request(request.method, request.params, max_bytes) {
            Ok(input) => input,
            Err(error) => return request.responder.respond(Err(error)),
        };
        let Some(router) = self.itself.upgrade() else {
            return;
        };
        let id: Box<str> = request.id.into();
        let mut open = lock(&self.open_requests);
        let refusal = if open.len() >= self.limits.pending_server_requests {
            Some("too many requests of the server are open")
        } else {
            let is_repeated = open.contains_key(&id);
            is_repeated.then_some("an open request of the server has the same id")
        };
        if let Some(reason) = refusal {
            drop(open);
            return request.responder.respond(Err(RpcError::internal(reason)));
        }
        let responder = request.responder;
        let (params, revision) = (request.params.to_owned(), self.revision());
        let number = self.next_request.fetch_add(1, Ordering::Relaxed);
        open.insert(
            id.clone(),
            OpenRequest {
                number,
                responder,
                task: None,
            },
        );
        drop(open);
        let task = tokio::spawn({
            let id = id.clone();
            async move {
                let answer = router.handler.answer(input, revision);
                let answer = router.answering.answer(answer).await;
                let answer = answer.map(|answer| relate_answer(&params, answer));
                if let Some(open) = router.take_request(&id, number) {
                    open.responder.respond(answer);
                }
            }
        });
        let mut open = lock(&self.open_requests);
        if let Some(open) = open.get_mut(&id).filter(|open| open.number == number) {
            open.task = Some(task.abort_handle());
        }
    }

    /// Removes the request with this id, unless it is another one than that with the number.
    fn take_request(&self, id: &str, number: u64) -> Option<OpenRequest> {
        let mut open = lock(&self.open_requests);
        let is_same = open.get(id).is_some_and(|open| open.number == number);
        is_same.then(|| open.remove(id)).flatten()
    }

    /// Discards the requests of a server whose session has ended, and stops the work on them.
    pub(super) fn discard_requests(&self) {
        let open_requests = std::mem::take(&mut *lock(&self.open_requests));
        for open in open_requests.into_values() {
            open.discard();
        }
    }

    /// Cancels the answer to a request of the server, or ends a subscription that the server has cancelled.
    fn cancel(&self, params: &str) {
        #[derive(Deserialize)]
        struct Cancelled<'a> {
            #[serde(borrow, rename = "requestId")]
            request_id: &'a RawValue,
        }

        let Ok(cancelled) = serde_json::from_str::<Cancelled<'_>>(params) else {
            return;
        };
        let id = cancelled.request_id.get();
        // Only legacy servers send requests, and only modern ones have subscriptions.
        if let Some(id) = copied_id(id).filter(|_| self.revision().is_modern()) {
            let subscription = lock(&self.subscriptions).remove(&id);
            if let Some(subscription) = subscription {
                subscription.cancel();
            }
            return;
        }
        let open = lock(&self.open_requests).remove(id);
        if let Some(open) = open {
            open.discard();
        }
    }
}

impl IncomingHandler for Router {
    fn notification(&self, method: &str, params: &str) {
        match method {
            "notifications/progress" => self.deliver_progress(params),
            "notifications/cancelled" => self.cancel(params),
            _ => self.changes.note_change(method),
        }
        self.publish(method, params);
    }

    fn missed_notifications(&self) {
        self.changes.note_all();
    }

    fn request(&self, request: IncomingRequest<'_>) {
        if self.revision().is_modern() {
            // Modern clients never send answers.
            if self.warnings.is_due() {
                tracing::warn!(
                    "ignored a request of the server, which its modern revision does not allow"
                );
            }
            return request.responder.discard();
        }
        match request.method {
            "ping" => request.responder.respond(Ok("{}".to_owned())),
            _ => self.spawn_answer(request),
        }
    }

    fn accepts_requests(&self) -> bool {
        !self.revision().is_modern()
    }

    fn closed(&self) {
        self.changes.closed.store(true, Ordering::Release);
        self.changes.changed.notify_waiters();
        self.broadcast.close();
        // Bound first, because a lock in the head of a loop is held until its end.
        let subscriptions = std::mem::take(&mut *lock(&self.subscriptions));
        for subscription in subscriptions.values() {
            subscription.close();
        }
        self.discard_requests();
    }
}

impl fmt::Debug for Router {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Router").finish_non_exhaustive()
    }
}

/// Guard of a registered receiver, which is removed when the guard is dropped.
pub(super) struct Registration(Box<dyn Fn() + Send + Sync>);

impl Drop for Registration {
    fn drop(&mut self) {
        (self.0)();
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Registration")
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Where what a server sends of its own accord goes.

use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use treenail_schema::{InputRequest, ProgressNotificationParams, ProgressToken, RequestId};

use crate::client::protocol::answer::Answers;
use crate::client::protocol::feed::{Feed, Notifications, ServerNotification};
use crate::client::protocol::handler::unanswered;
use crate::client::protocol::queue::Queue;
use crate::client::{ClientLimits, IncomingHandler, IncomingRequest, Responder};
use crate::log_throttle::LogThrottle;
use crate::wire::{RpcError, is_heavier};

/// Hears of the progress of one request.
pub(super) type ProgressSink = Arc<dyn Fn(ProgressNotificationParams) + Send + Sync>;

/// Where what a server sends of its own accord goes.
pub(super) struct Router {
    itself: Weak<Self>,
    pub(super) answers: Arc<Answers>,
    pub(super) changes: Changes,
    limits: ClientLimits,
    /// Whether the server is one of the modern era, which sends no requests.
    modern: AtomicBool,
    progress: Mutex<HashMap<i64, ProgressSink>>,
    subscriptions: Mutex<HashMap<i64, Arc<Queue<Arc<ServerNotification>>>>>,
    feed: Feed,
    /// The requests of the server that are being answered, by the text of their id.
    open: Mutex<HashMap<Box<str>, Open>>,
    /// Warnings of requests that a server must not send.
    warned: LogThrottle,
}

struct Open {
    responder: Responder,
    /// Of the task that answers; it is not known yet when the task begins.
    task: Option<AbortHandle>,
}

/// How often the server has told that something has changed.
#[derive(Debug, Default)]
pub(in crate::client) struct Changes {
    pub(in crate::client) tools: AtomicU64,
    pub(in crate::client) prompts: AtomicU64,
    pub(in crate::client) resources: AtomicU64,
    /// Of single resources.
    pub(in crate::client) updates: AtomicU64,
    pub(in crate::client) changed: Notify,
    pub(in crate::client) closed: AtomicBool,
}

impl Changes {
    /// Takes note of what a notification says.
    fn note(&self, method: &str) {
        let counter = match method {
            "notifications/tools/list_changed" => &self.tools,
            "notifications/prompts/list_changed" => &self.prompts,
            "notifications/resources/list_changed" => &self.resources,
            "notifications/resources/updated" => &self.updates,
            _ => return,
        };
        counter.fetch_add(1, Ordering::AcqRel);
        self.changed.notify_waiters();
    }

    /// Takes note that anything may have changed, since notifications may have been missed.
    pub(in crate::client) fn note_all(&self) {
        for counter in [&self.tools, &self.prompts, &self.resources, &self.updates] {
            counter.fetch_add(1, Ordering::AcqRel);
        }
        self.changed.notify_waiters();
    }
}

impl Router {
    pub(super) fn new(answers: Arc<Answers>, limits: ClientLimits) -> Arc<Self> {
        Arc::new_cyclic(|itself| Self {
            itself: Weak::clone(itself),
            answers,
            changes: Changes::default(),
            limits,
            modern: AtomicBool::new(false),
            progress: Mutex::default(),
            subscriptions: Mutex::default(),
            feed: Feed::default(),
            open: Mutex::default(),
            warned: LogThrottle::default(),
        })
    }

    pub(super) fn set_modern(&self, modern: bool) {
        self.modern.store(modern, Ordering::Release);
    }

    /// Passes progress with this token on, until the guard is dropped.
    pub(super) fn on_progress(self: &Arc<Self>, token: i64, sink: ProgressSink) -> Listening {
        lock(&self.progress).insert(token, sink);
        let router = Arc::clone(self);
        Listening(Box::new(move || {
            drop(lock(&router.progress).remove(&token));
        }))
    }

    /// Passes the notifications of a subscription on, until the guard is dropped.
    pub(super) fn on_subscription(
        self: &Arc<Self>,
        id: i64,
    ) -> (Arc<Queue<Arc<ServerNotification>>>, Listening) {
        let queue = Queue::new(&self.limits);
        lock(&self.subscriptions).insert(id, Arc::clone(&queue));
        let router = Arc::clone(self);
        let remove = move || drop(lock(&router.subscriptions).remove(&id));
        (queue, Listening(Box::new(remove)))
    }

    pub(super) fn notifications(&self) -> Notifications {
        self.feed.listen(&self.limits)
    }

    fn tell_progress(&self, params: &str) {
        let heavy = is_heavier(params, self.limits.decoded_bytes);
        let params = (!heavy)
            .then(|| serde_json::from_str(params).ok())
            .flatten();
        let Some::<ProgressNotificationParams>(params) = params else {
            tracing::debug!("a notification of progress that cannot be read was dropped");
            return;
        };
        let ProgressToken::Number(token) = params.progress_token else {
            return;
        };
        let sink = lock(&self.progress).get(&token).cloned();
        if let Some(sink) = sink {
            // A panic of the caller's function must not end the connection.
            if catch_unwind(AssertUnwindSafe(|| sink(params))).is_err() {
                tracing::error!("a function that hears of progress has panicked");
            }
        }
    }

    /// Begins to answer a request of the server.
    fn answer(&self, request: IncomingRequest<'_>) {
        let most = self.limits.decoded_bytes;
        let question = match read_question(request.method, request.params, most) {
            Ok(question) => question,
            Err(error) => return request.responder.respond(Err(error)),
        };
        let Some(router) = self.itself.upgrade() else {
            return;
        };
        let id: Box<str> = request.id.into();
        let mut open = lock(&self.open);
        if open.len() >= self.limits.pending_server_requests || open.contains_key(&id) {
            let error = RpcError::internal("too many requests of the server are open");
            drop(open);
            return request.responder.respond(Err(error));
        }
        let responder = request.responder;
        open.insert(
            id.clone(),
            Open {
                responder,
                task: None,
            },
        );
        drop(open);
        let task = tokio::spawn({
            let id = id.clone();
            async move {
                let answer = router.answers.answer(question).await;
                let open = lock(&router.open).remove(&id);
                if let Some(open) = open {
                    open.responder.respond(answer);
                }
            }
        });
        if let Some(open) = lock(&self.open).get_mut(&id) {
            open.task = Some(task.abort_handle());
        }
    }

    /// The server does not want an answer any more.
    fn cancel(&self, params: &str) {
        #[derive(Deserialize)]
        struct Cancelled<'a> {
            #[serde(borrow, rename = "requestId")]
            request_id: &'a RawValue,
        }

        let Ok(cancelled) = serde_json::from_str::<Cancelled<'_>>(params) else {
            return;
        };
        let open = lock(&self.open).remove(cancelled.request_id.get());
        if let Some(open) = open {
            open.responder.discard();
            if let Some(task) = open.task {
                task.abort();
            }
        }
    }

    /// Notifications of a subscription go to it; all go to those who listen to everything.
    fn publish(&self, method: &str, params: &str) {
        let subscription = subscription_of(params).and_then(|id| {
            let subscriptions = lock(&self.subscriptions);
            subscriptions.get(&id).cloned()
        });
        if subscription.is_none() && !self.feed.is_heard() {
            return;
        }
        let notification = Arc::new(ServerNotification {
            method: method.to_owned(),
            params: params.to_owned(),
        });
        if let Some(subscription) = subscription {
            subscription.push(Arc::clone(&notification));
        }
        self.feed.push(&notification);
    }
}

impl IncomingHandler for Router {
    fn notification(&self, method: &str, params: &str) {
        match method {
            "notifications/progress" => self.tell_progress(params),
            "notifications/cancelled" => self.cancel(params),
            _ => self.changes.note(method),
        }
        self.publish(method, params);
    }

    fn request(&self, request: IncomingRequest<'_>) {
        if self.modern.load(Ordering::Acquire) {
            // There are no answers of clients in the modern era.
            if self.warned.is_due() {
                tracing::warn!("a server of the modern era has sent a request, which is ignored");
            }
            return request.responder.discard();
        }
        match request.method {
            "ping" => request.responder.respond(Ok("{}".to_owned())),
            _ => self.answer(request),
        }
    }

    fn closed(&self) {
        self.changes.closed.store(true, Ordering::Release);
        self.changes.changed.notify_waiters();
        self.feed.end();
        for (_, subscription) in lock(&self.subscriptions).drain() {
            subscription.end();
        }
        for (_, open) in lock(&self.open).drain() {
            open.responder.discard();
            if let Some(task) = open.task {
                task.abort();
            }
        }
    }
}

impl fmt::Debug for Router {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Router").finish_non_exhaustive()
    }
}

/// Ends what has been listened to when it is dropped.
pub(super) struct Listening(Box<dyn Fn() + Send + Sync>);

impl Drop for Listening {
    fn drop(&mut self) {
        (self.0)();
    }
}

impl fmt::Debug for Listening {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Listening")
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads a request of the legacy era as the question that it is.
fn read_question(method: &str, params: &str, most: usize) -> Result<InputRequest, RpcError> {
    const KNOWN: [&str; 3] = ["elicitation/create", "sampling/createMessage", "roots/list"];

    if !KNOWN.contains(&method) {
        return Err(unanswered(&crate::wire::quoted(method)));
    }
    if is_heavier(params, most) {
        return Err(RpcError::invalid_params("the parameters are too large"));
    }
    let params: Value = serde_json::from_str(params)
        .map_err(|error| RpcError::invalid_params(error.to_string()))?;
    let question = serde_json::json!({"method": method, "params": params});
    serde_json::from_value(question).map_err(|error| RpcError::invalid_params(error.to_string()))
}

/// The id of the subscription that a notification belongs to.
fn subscription_of(params: &str) -> Option<i64> {
    #[derive(Deserialize)]
    struct Tagged {
        #[serde(rename = "_meta")]
        meta: Meta,
    }
    #[derive(Deserialize)]
    struct Meta {
        #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
        subscription_id: RequestId,
    }

    // Most notifications belong to none; looking for the key is cheaper than reading them.
    if !params.contains("io.modelcontextprotocol/subscriptionId") {
        return None;
    }
    match serde_json::from_str::<Tagged>(params)
        .ok()?
        .meta
        .subscription_id
    {
        RequestId::Number(id) => Some(id),
        RequestId::String(id) => id.parse().ok(),
    }
}

//! Dispatch of incoming messages: answers to their requests, everything else to the handler of the client.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use treenail_runtime::RpcError;
use treenail_runtime::client::{
    ClientError, ClientLimits, IncomingHandler, IncomingRequest, Responder,
};
use treenail_runtime::internal::{
    Body, Envelope, Invalid, LogThrottle, Message, StrayLines, answered_request, copied_id,
    id_at_ends, oversized, parse, parse_element, parsing_limits, read_answer,
};
use treenail_schema::error_code::METHOD_NOT_FOUND;
use treenail_schema::internal::shortened;

use crate::Answer;
use crate::inner::{Inner, semaphore};
use crate::pending::PendingReplies;
use crate::reply_route::ReplyRoute;
use crate::source::Source;

/// Passes each incoming message to its receiver.
pub(crate) struct Dispatcher {
    inner: Weak<Inner>,
    handler: OnceLock<Arc<dyn IncomingHandler>>,
    pub(crate) pending: PendingReplies,
    /// One permit for each request of the server that is open, or whose answer is being sent.
    server_requests: Arc<Semaphore>,
    /// One permit for each request of the server that is open.
    unanswered: Arc<Semaphore>,
    limits: ClientLimits,
    /// Texts from the server that are not messages.
    stray: StrayLines,
    /// Rate limit for warnings about messages that the protocol does not allow.
    warnings: LogThrottle,
    /// The handler knows that the connection has ended.
    closed: AtomicBool,
}

impl Dispatcher {
    pub(crate) fn new(inner: Weak<Inner>, limits: ClientLimits) -> Self {
        // While that many are open, the same number can be rejected.
        let server_requests = limits.pending_server_requests.saturating_mul(2);
        Self {
            inner,
            handler: OnceLock::new(),
            pending: PendingReplies::default(),
            server_requests: Arc::new(semaphore(server_requests)),
            unanswered: Arc::new(semaphore(server_requests)),
            limits,
            stray: StrayLines::default(),
            warnings: LogThrottle::default(),
            closed: AtomicBool::new(false),
        }
    }

    pub(crate) fn set_handler(&self, handler: Arc<dyn IncomingHandler>) {
        if self.handler.set(handler).is_err() {
            tracing::warn!("a session has one handler; a second one was ignored");
        }
    }

    /// Fails all pending requests, and reports the end of the connection to the handler.
    pub(crate) fn close(&self, reason: &ClientError) {
        self.pending.fail_all(reason);
        if self.closed.swap(true, Ordering::Relaxed) {
            return;
        }
        if let Some(handler) = self.handler.get() {
            handler.closed();
        }
    }

    /// Reports that notifications may have been lost.
    pub(crate) fn note_gap(&self) {
        if let Some(handler) = self.handler.get() {
            handler.missed_notifications();
        }
    }

    /// Dispatches a message. Returns the answer to the request of `source`, or the error if the message is malformed.
    pub(crate) async fn dispatch(&self, bytes: &[u8], source: Source) -> Option<Answer> {
        let limits = parsing_limits(&self.limits);
        match parse(bytes, &limits) {
            Body::One(message) => self.dispatch_one(message, bytes, source).await,
            Body::Batch(messages) if source.is_legacy() => {
                let mut answer = None;
                for message in messages {
                    let text = message.as_bytes();
                    let message = parse_element(message, &limits);
                    answer = self.dispatch_one(message, text, source).await.or(answer);
                }
                answer
            }
            Body::Batch(_) => Some(Err(ClientError::protocol("a message is an array"))),
        }
    }

    async fn dispatch_one(
        &self,
        message: Result<Message<'_>, Invalid<'_>>,
        text: &[u8],
        source: Source,
    ) -> Option<Answer> {
        match message {
            Ok(Message::Response(id, answer)) => self.dispatch_answer(id, answer, source),
            Ok(Message::Notification(envelope)) => {
                if let Some(handler) = self.handler.get() {
                    let params = envelope.params.text.unwrap_or("{}");
                    match source.request_id() {
                        Some(id) => handler.related_notification(&envelope.method, params, id),
                        None => handler.notification(&envelope.method, params),
                    }
                }
                None
            }
            Ok(Message::Request(id, envelope)) if source.is_legacy() => {
                self.dispatch_request(id, Ok(envelope), source).await;
                None
            }
            Ok(Message::Request(..)) => {
                self.warn("the server sent a request, which its revision does not allow");
                None
            }
            // Boxed, because it is rare and large.
            Err(invalid) => Box::pin(self.reject_malformed(invalid, text, source)).await,
        }
    }

    fn dispatch_answer(
        &self,
        id: &str,
        answer: Result<&str, &str>,
        source: Source,
    ) -> Option<Answer> {
        let id = copied_id(id);
        if id.is_some() && id == source.request_id() {
            return Some(read_answer(answer, &self.limits));
        }
        match id {
            Some(id) if source.is_legacy() => {
                self.pending.complete(id, read_answer(answer, &self.limits));
            }
            _ => self.warn("the server answered a request that was not sent"),
        }
        None
    }

    /// Passes a request of the server to the handler, or answers a malformed one with its error, once a permit for its answer is free. It is refused if all of them wait for
    /// answers, because the stream may have messages for others. It is dropped if its session is over: another session may use the same id.
    async fn dispatch_request(
        &self,
        id: &str,
        request: Result<Envelope<'_>, RpcError>,
        source: Source,
    ) {
        let Some((inner, handshake)) = self.inner.upgrade().zip(source.handshake()) else {
            return;
        };
        let Ok(state) = inner.state.state_of(handshake) else {
            return self.warn("a request of the server was dropped: its session is over");
        };
        // A request that waits for a permit must not keep the session alive.
        drop(inner);
        let mut route = ReplyRoute {
            id: id.into(),
            caused_by: source.request_id(),
            state,
            inner: Weak::clone(&self.inner),
            may_ask_user: false,
            permit: None,
        };
        let Ok(unanswered) = Arc::clone(&self.unanswered).try_acquire_owned() else {
            let error = RpcError::internal("too many requests of the server are open");
            // Not in a task of its own: a server could start any number of them. Boxed, because it is rare and large.
            return Box::pin(route.send(Err(error))).await;
        };
        route.may_ask_user = request.as_ref().is_ok_and(|envelope| {
            matches!(
                &*envelope.method,
                "elicitation/create" | "sampling/createMessage"
            )
        });
        // There are as many permits, so those that are missing now are held only until answers have been sent.
        route.permit = Arc::clone(&self.server_requests).acquire_owned().await.ok();
        let runtime = Handle::current();
        let responder = Responder::new(move |answer| {
            drop(unanswered);
            runtime.spawn(route.send(answer));
        });
        let envelope = match request {
            Ok(envelope) => envelope,
            Err(error) => return responder.respond(Err(error)),
        };
        let Some(handler) = self.handler.get() else {
            let error = RpcError::new(METHOD_NOT_FOUND, "this client does not answer requests");
            return responder.respond(Err(error));
        };
        let params = envelope.params.text.unwrap_or("{}");
        let request = IncomingRequest::new(id, &envelope.method, params, responder);
        handler.request(request.related_request(source.request_id()));
    }

    /// Drops a malformed text. It fails the request that it seems to answer: the request of its own response, unless the text starts
    /// as a notification, or, on a legacy stream, the request with its id. A request of a legacy server is answered with the error.
    async fn reject_malformed(
        &self,
        invalid: Invalid<'_>,
        text: &[u8],
        source: Source,
    ) -> Option<Answer> {
        let error = || {
            let reason = &invalid.error.message;
            ClientError::protocol(format!("the server sent a malformed message: {reason}"))
        };
        let own = source.request_id();
        let id = answered_request(&invalid, text);
        let may_answer = invalid.is_unread && id.is_none() && !id_at_ends(text, b"").is_request;
        if own.is_some() && (id == own || may_answer) {
            return Some(Err(error()));
        }
        match (id, invalid.id) {
            (Some(id), _) if source.is_legacy() => self.pending.complete(id, Err(error())),
            (None, Some(id)) if source.is_legacy() => {
                self.dispatch_request(id, Err(*invalid.error), source).await;
            }
            _ => self.stray.record(text, &invalid.error),
        }
        None
    }

    /// Drops an oversized message, of which only the first and last bytes are available. It fails the request that it seems to
    /// answer: on a legacy stream, the request with its id. A request of a legacy server is answered with the error.
    pub(crate) async fn reject_oversized(
        &self,
        head: &[u8],
        tail: &[u8],
        source: Source,
    ) -> Option<Answer> {
        let limit = self.limits.message_bytes;
        let ends = id_at_ends(head, tail);
        let answered = ends.answered.and_then(copied_id);
        let own = source.request_id();
        match (answered, ends.id) {
            (_, Some(id)) if source.is_legacy() => {
                let error = oversized(limit);
                self.dispatch_request(id, Err(error), source).await;
            }
            (Some(id), _) if source.is_legacy() && answered != own => {
                self.pending.complete(id, Err(ClientError::TooLong(limit)));
            }
            _ if own.is_some() && !ends.is_request => {
                return Some(Err(ClientError::TooLong(limit)));
            }
            _ => self.stray.record(head, &oversized(limit)),
        }
        None
    }

    /// Logs a warning, unless one was logged shortly before.
    pub(crate) fn warn(&self, text: &'static str) {
        if self.warnings.is_due() {
            tracing::warn!("{text}");
        }
    }

    /// Logs a warning with an error, which may have a text of the server, unless one was logged shortly before.
    pub(crate) fn warn_of_error(&self, error: &ClientError, text: &'static str) {
        if self.warnings.is_due() {
            let error = shortened(&error.to_string());
            tracing::warn!(%error, "{text}");
        }
    }
}

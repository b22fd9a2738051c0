//! Session that passes its messages to a sink.

use std::sync::Arc;
use std::time::Instant;

use treenail::ClientError;
use treenail::client::{
    IncomingHandler, Session, SessionFuture, SessionNotification, SessionRequest, SessionWrapper,
};

use super::incoming::TracedIncoming;
use super::{Direction, MessageKind, Redactor, TraceSink, TracedMessage};

/// Session that passes each message to a [`TraceSink`].
#[derive(Debug)]
pub(crate) struct TracedSession {
    session: Arc<dyn Session>,
    tracer: Tracer,
}

/// Sink of a connection, with the secrets to remove.
#[derive(Clone, Debug)]
pub(super) struct Tracer {
    sink: Arc<dyn TraceSink>,
    redactor: Arc<Redactor>,
}

impl TracedSession {
    pub(crate) fn new(
        session: Arc<dyn Session>,
        sink: Arc<dyn TraceSink>,
        redactor: Arc<Redactor>,
    ) -> Self {
        let tracer = Tracer { sink, redactor };
        Self { session, tracer }
    }
}

impl Tracer {
    /// Passes a message to the sink, without secrets.
    pub(super) fn record(&self, message: TracedMessage<'_>) {
        let body = self.redactor.redact(message.body);
        self.sink.record(&TracedMessage {
            body: &body,
            ..message
        });
    }

    pub(super) fn closed(&self) {
        self.sink.closed();
    }
}

impl SessionWrapper for TracedSession {
    fn inner(&self) -> &dyn Session {
        &*self.session
    }

    fn listen(&self, incoming: Arc<dyn IncomingHandler>) {
        let tracer = self.tracer.clone();
        self.session
            .listen(Arc::new(TracedIncoming::new(incoming, tracer)));
    }

    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String> {
        Box::pin(async move {
            let mut exchange = Exchange::start(&self.tracer, &request);
            let result = self.session.request(request).await;
            exchange.finish(&result);
            result
        })
    }

    fn notify(&self, notification: SessionNotification) -> SessionFuture<'_, ()> {
        self.tracer.record(TracedMessage {
            direction: Direction::ToServer,
            kind: MessageKind::Notification,
            id: None,
            method: &notification.method,
            body: &notification.params,
            elapsed: None,
        });
        self.session.notify(notification)
    }
}

/// A request to the server. Dropping it before its answer records a cancellation.
struct Exchange<'a> {
    tracer: &'a Tracer,
    id: String,
    method: String,
    started: Instant,
    is_pending: bool,
}

impl<'a> Exchange<'a> {
    fn start(tracer: &'a Tracer, request: &SessionRequest) -> Self {
        let exchange = Self {
            tracer,
            id: request.id.to_string(),
            method: request.method.to_string(),
            started: Instant::now(),
            is_pending: true,
        };
        exchange.record(Direction::ToServer, MessageKind::Request, &request.params);
        exchange
    }

    fn finish(&mut self, result: &Result<String, ClientError>) {
        self.is_pending = false;
        let (kind, body) = match result {
            Ok(result) => (MessageKind::Result, result.clone()),
            Err(ClientError::Refused(error)) => {
                let error = serde_json::to_string(error).unwrap_or_default();
                (MessageKind::Error, error)
            }
            Err(error) => (MessageKind::Failed, error.to_string()),
        };
        self.record(Direction::FromServer, kind, &body);
    }

    fn record(&self, direction: Direction, kind: MessageKind, body: &str) {
        let is_answer = direction == Direction::FromServer;
        self.tracer.record(TracedMessage {
            direction,
            kind,
            id: Some(&self.id),
            method: &self.method,
            body,
            elapsed: is_answer.then(|| self.started.elapsed()),
        });
    }
}

impl Drop for Exchange<'_> {
    fn drop(&mut self) {
        if self.is_pending {
            self.record(Direction::ToServer, MessageKind::Cancelled, "");
        }
    }
}

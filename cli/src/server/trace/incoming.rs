//! Notifications and requests of a server, on their way to the client.

use std::sync::Arc;
use std::time::Instant;

use treenail::RpcError;
use treenail::client::{IncomingHandler, IncomingRequest, Responder};

use super::session::Tracer;
use super::{Direction, MessageKind, TracedMessage};

/// Handler that records messages before it passes them on.
pub(super) struct TracedIncoming {
    incoming: Arc<dyn IncomingHandler>,
    tracer: Tracer,
}

impl TracedIncoming {
    pub(super) fn new(incoming: Arc<dyn IncomingHandler>, tracer: Tracer) -> Self {
        Self { incoming, tracer }
    }

    fn record_notification(&self, method: &str, params: &str) {
        self.tracer.record(TracedMessage {
            direction: Direction::FromServer,
            kind: MessageKind::Notification,
            id: None,
            method,
            body: params,
            elapsed: None,
        });
    }
}

impl IncomingHandler for TracedIncoming {
    fn notification(&self, method: &str, params: &str) {
        self.record_notification(method, params);
        self.incoming.notification(method, params);
    }

    fn related_notification(&self, method: &str, params: &str, request: i64) {
        self.record_notification(method, params);
        self.incoming.related_notification(method, params, request);
    }

    fn missed_notifications(&self) {
        self.incoming.missed_notifications();
    }

    fn request(&self, request: IncomingRequest<'_>) {
        self.tracer.record(TracedMessage {
            direction: Direction::FromServer,
            kind: MessageKind::Request,
            id: Some(request.id),
            method: request.method,
            body: request.params,
            elapsed: None,
        });
        let answer = PendingAnswer {
            tracer: self.tracer.clone(),
            id: request.id.to_owned(),
            method: request.method.to_owned(),
            started: Instant::now(),
            responder: Some(request.responder),
        };
        let responder = Responder::new(move |result| answer.respond(result));
        let traced = IncomingRequest::new(request.id, request.method, request.params, responder);
        self.incoming
            .request(traced.related_request(request.related_request));
    }

    fn closed(&self) {
        self.tracer.closed();
        self.incoming.closed();
    }
}

/// Answer to a request of the server. Dropping it discards the answer, because the server has cancelled the request.
struct PendingAnswer {
    tracer: Tracer,
    id: String,
    method: String,
    started: Instant,
    responder: Option<Responder>,
}

impl PendingAnswer {
    fn respond(mut self, result: Result<String, RpcError>) {
        let (kind, body) = match &result {
            Ok(result) => (MessageKind::Result, result.clone()),
            Err(error) => {
                let error = serde_json::to_string(error).unwrap_or_default();
                (MessageKind::Error, error)
            }
        };
        self.tracer.record(TracedMessage {
            direction: Direction::ToServer,
            kind,
            id: Some(&self.id),
            method: &self.method,
            body: &body,
            elapsed: Some(self.started.elapsed()),
        });
        if let Some(responder) = self.responder.take() {
            responder.respond(result);
        }
    }
}

impl Drop for PendingAnswer {
    fn drop(&mut self) {
        if let Some(responder) = self.responder.take() {
            responder.discard();
        }
    }
}

//! Session that passes messages of its server to a [`Tap`], and everything else to the client.

use std::collections::BTreeMap;
use std::sync::Arc;

use treenail_runtime::client::{
    IncomingHandler, IncomingRequest, Session, SessionFuture, SessionNotification, SessionRequest,
    TransportKind,
};
use treenail_schema::JsonObject;

use crate::tap::Tap;

/// Returns the session with a tap.
pub(crate) fn tapped(session: Arc<dyn Session>, tap: &Arc<Tap>) -> Arc<dyn Session> {
    let tap = Arc::clone(tap);
    Arc::new(TappedSession { session, tap })
}

/// Session with a [`Tap`].
#[derive(Debug)]
struct TappedSession {
    session: Arc<dyn Session>,
    tap: Arc<Tap>,
}

impl Session for TappedSession {
    fn listen(&self, incoming: Arc<dyn IncomingHandler>) {
        let tap = Arc::clone(&self.tap);
        self.session
            .listen(Arc::new(TappedHandler { tap, incoming }));
    }

    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String> {
        self.session.request(request)
    }

    fn notify(&self, notification: SessionNotification) -> SessionFuture<'_, ()> {
        self.session.notify(notification)
    }

    fn transport(&self) -> TransportKind {
        self.session.transport()
    }

    fn stray_line(&self) -> Option<String> {
        self.session.stray_line()
    }

    fn credentials_version(&self) -> u64 {
        self.session.credentials_version()
    }

    fn extensions(&self) -> BTreeMap<String, JsonObject> {
        self.session.extensions()
    }

    fn close(&self) -> SessionFuture<'_, ()> {
        self.session.close()
    }
}

struct TappedHandler {
    tap: Arc<Tap>,
    incoming: Arc<dyn IncomingHandler>,
}

impl IncomingHandler for TappedHandler {
    fn notification(&self, method: &str, params: &str) {
        self.tap.on_notification(method, params, None);
        self.incoming.notification(method, params);
    }

    fn related_notification(&self, method: &str, params: &str, request: i64) {
        self.tap.on_notification(method, params, Some(request));
        self.incoming.related_notification(method, params, request);
    }

    fn request(&self, request: IncomingRequest<'_>) {
        match request.method {
            "elicitation/create" | "sampling/createMessage" | "roots/list" => {
                self.tap.on_request(request);
            }
            _ => self.incoming.request(request),
        }
    }

    fn closed(&self) {
        self.tap.note(|news| news.closed = true);
        self.incoming.closed();
    }
}

//! Session that passes messages of its server to a [`Tap`], and everything else to the client.

use std::sync::Arc;

use treenail_runtime::client::{
    IncomingHandler, IncomingRequest, Session, SessionFuture, SessionNotification, SessionRequest,
    SessionWrapper,
};

use crate::malformed::is_list;
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

impl SessionWrapper for TappedSession {
    fn inner(&self) -> &dyn Session {
        &*self.session
    }

    fn listen(&self, incoming: Arc<dyn IncomingHandler>) {
        let tap = Arc::clone(&self.tap);
        tap.attach(&incoming);
        self.session
            .listen(Arc::new(TappedHandler { tap, incoming }));
    }

    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String> {
        if !is_list(&request.method) {
            return self.session.request(request);
        }
        let method = request.method.clone();
        Box::pin(async move {
            let text = self.session.request(request).await?;
            Ok(self.tap.readable_list(&method, text))
        })
    }

    fn notify(&self, notification: SessionNotification) -> SessionFuture<'_, ()> {
        let starts_session = notification.method == "notifications/initialized";
        let started = starts_session.then(|| StartedSession(&self.tap));
        Box::pin(async move {
            let _started = started;
            self.session.notify(notification).await
        })
    }
}

/// Session whose handshake ends. It is noted on drop: a call that is cancelled meanwhile has started a session too.
struct StartedSession<'a>(&'a Tap);

impl Drop for StartedSession<'_> {
    fn drop(&mut self) {
        self.0.note_session();
    }
}

struct TappedHandler {
    tap: Arc<Tap>,
    incoming: Arc<dyn IncomingHandler>,
}

impl IncomingHandler for TappedHandler {
    fn notification(&self, method: &str, params: &str) {
        // The client discards its lists before the proxy fetches them again.
        self.incoming.notification(method, params);
        self.tap.on_notification(method, params, None);
    }

    fn related_notification(&self, method: &str, params: &str, request: i64) {
        self.incoming.related_notification(method, params, request);
        self.tap.on_notification(method, params, Some(request));
    }

    fn missed_notifications(&self) {
        self.tap.missed();
    }

    fn request(&self, request: IncomingRequest<'_>) {
        match request.method {
            "elicitation/create" | "sampling/createMessage" | "roots/list" => {
                self.tap.on_request(request);
            }
            _ => self.incoming.request(request),
        }
    }

    fn accepts_requests(&self) -> bool {
        self.incoming.accepts_requests()
    }

    fn closed(&self) {
        self.tap.note(|news| news.closed = true);
        self.incoming.closed();
    }
}

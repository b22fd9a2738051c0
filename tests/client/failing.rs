//! Session whose transport fails some requests.

use std::fmt;
use std::sync::Arc;

use treenail::client::{
    ClientError, IncomingHandler, LineSession, Session, SessionFuture, SessionNotification,
    SessionRequest, TransportKind,
};

struct Failing<F> {
    session: Arc<LineSession>,
    fail: F,
}

/// Wraps a session. Requests for which `fail` returns an error are not sent. The kind of its transport is HTTP.
pub(crate) fn failing<F>(session: Arc<LineSession>, fail: F) -> Arc<dyn Session>
where
    F: Fn(&SessionRequest) -> Option<ClientError> + Send + Sync + 'static,
{
    Arc::new(Failing { session, fail })
}

impl<F> fmt::Debug for Failing<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Failing").finish_non_exhaustive()
    }
}

impl<F: Fn(&SessionRequest) -> Option<ClientError> + Send + Sync> Session for Failing<F> {
    fn listen(&self, incoming: Arc<dyn IncomingHandler>) {
        self.session.listen(incoming);
    }

    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String> {
        match (self.fail)(&request) {
            Some(error) => Box::pin(async { Err(error) }),
            None => self.session.request(request),
        }
    }

    fn notify(&self, notification: SessionNotification) -> SessionFuture<'_, ()> {
        self.session.notify(notification)
    }

    fn transport(&self) -> TransportKind {
        TransportKind::Http
    }

    fn close(&self) -> SessionFuture<'_, ()> {
        self.session.close()
    }
}

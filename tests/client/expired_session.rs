//! Sessions that the server has forgotten.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use treenail::client::{
    ClientError, IncomingHandler, LineSession, Session, SessionFuture, SessionNotification,
    SessionRequest, TransportKind,
};
use treenail::prelude::*;
use treenail::schema::Revision;

use crate::script::{Reply, initialized, scripted};

/// A session that expires once, after the handshake.
#[derive(Debug)]
struct ExpiringSession {
    session: Arc<LineSession>,
    times: AtomicUsize,
}

impl Session for ExpiringSession {
    fn listen(&self, incoming: Arc<dyn IncomingHandler>) {
        self.session.listen(incoming);
    }

    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String> {
        if request.method != "initialize" && self.times.fetch_add(1, Ordering::SeqCst) == 0 {
            return Box::pin(async { Err(ClientError::SessionExpired) });
        }
        self.session.request(request)
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

#[tokio::test]
async fn an_expired_session_is_reestablished() {
    let (session, received) = scripted(|message| match message["method"].as_str() {
        Some("initialize") => initialized(message, "2025-11-25"),
        Some("tools/list") => Reply::result(message, &json!({"tools": []})),
        _ => Reply::nothing(),
    });
    let times = AtomicUsize::new(0);
    let builder = McpClientSession::builder().session(Arc::new(ExpiringSession { session, times }));
    let session = builder
        .protocol_version(Revision::V2025_11_25)
        .build()
        .await
        .unwrap();
    // Both requests see the expiry, and one of them reconnects for both.
    let (first, second) = tokio::join!(session.tools_list(None), session.tools_list(None));
    first.expect("CLI-LHTTP-08");
    second.unwrap();
    let started = received
        .methods()
        .iter()
        .filter(|method| *method == "initialize")
        .count();
    assert_eq!(started, 2, "CLI-LHTTP-08");
    let ids: Vec<_> = received
        .all()
        .iter()
        .map(|it| it["id"].clone())
        .filter(|id| !id.is_null())
        .collect();
    let mut unique = ids.clone();
    unique.sort_by_key(ToString::to_string);
    unique.dedup();
    assert_eq!(unique.len(), ids.len(), "ALL-BASE-04");
}

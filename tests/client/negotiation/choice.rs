//! Revisions that the application requires or prefers.

use std::sync::{Arc, Mutex};

use serde_json::json;
use tokio::io::AsyncWriteExt;
use treenail::client::{
    ClientError, IncomingHandler, LineSession, Session, SessionFuture, SessionNotification,
    SessionRequest, TransportKind,
};
use treenail::prelude::*;
use treenail::schema::Revision;

use crate::fixture::server;
use crate::script::{Reply, discovered, initialized, scripted};

#[tokio::test]
async fn a_required_revision_has_no_fallback() {
    let (session, received) = scripted(|message| match message["method"].as_str() {
        Some("initialize") => initialized(message, "2025-03-26"),
        _ => Reply::error(message, &json!({"code": -32601, "message": "no"})),
    });
    let builder = || McpClientSession::builder().session(session.clone());
    let error = builder()
        .protocol_version(Revision::LATEST)
        .build()
        .await
        .unwrap_err();
    assert!(
        matches!(error, ClientError::Unsupported(_)),
        "CLI-ERA-06, CLI-ERA-14: {error}"
    );
    assert_eq!(received.methods(), ["server/discover"]);
}

#[tokio::test]
async fn a_required_legacy_revision_may_become_older_but_not_newer() {
    for chosen in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let (session, received) = scripted(move |message| match message["method"].as_str() {
            Some("initialize") => initialized(message, chosen),
            _ => Reply::nothing(),
        });
        let builder = McpClientSession::builder().session(session);
        let builder = builder.protocol_version(Revision::V2025_03_26);
        match builder.build().await {
            Ok(session) => {
                assert_eq!(session.protocol_version().as_str(), chosen);
                assert!(chosen <= "2025-03-26", "{chosen}");
            }
            Err(error) => {
                assert!(matches!(error, ClientError::Unsupported(_)), "{error}");
                assert!(chosen > "2025-03-26", "{chosen}: {error}");
                assert_eq!(received.methods(), ["initialize"]);
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_required_revision_has_no_probe_timeout() {
    // The response takes longer than the probe timeout.
    let (stream, mut theirs) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move {
        tokio::time::sleep(std::time::Duration::from_secs(30)).await;
        let Reply::Lines(lines) = discovered(&json!({"id": 1})) else {
            unreachable!("it is a line")
        };
        let text = lines.join("\n") + "\n";
        theirs.write_all(text.as_bytes()).await.unwrap();
        std::future::pending::<()>().await;
    });
    let (reader, writer) = tokio::io::split(stream);
    let session = McpClientSession::builder()
        .session(Arc::new(LineSession::new(reader, writer)))
        .protocol_version(Revision::LATEST)
        .build()
        .await
        .unwrap();
    assert_eq!(session.protocol_version(), Revision::LATEST);
}

#[tokio::test]
async fn a_preferred_revision_is_tried_first() {
    let (server, _) = server();
    for revision in Revision::ALL {
        let builder = McpClientSession::builder()
            .server(&server)
            .prefer_version(revision);
        let session = builder.build().await.unwrap();
        assert_eq!(session.protocol_version(), revision, "CLI-ERA-13");
    }
    // CLI-ERA-12: the preferred revision is no longer supported.
    let (session, received) = scripted(|message| match message["method"].as_str() {
        Some("initialize") => Reply::error(message, &json!({"code": -32601, "message": "no"})),
        _ => discovered(message),
    });
    let builder = McpClientSession::builder().session(session);
    let session = builder
        .prefer_version(Revision::V2025_06_18)
        .build()
        .await
        .unwrap();
    assert_eq!(session.protocol_version(), Revision::LATEST);
    assert_eq!(received.methods(), ["initialize", "server/discover"]);
}

/// Session whose user declines to sign in.
#[derive(Debug, Default)]
struct Declined(Mutex<Vec<String>>);

impl Session for Declined {
    fn listen(&self, _: Arc<dyn IncomingHandler>) {}

    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String> {
        self.0.lock().unwrap().push(request.method.into_owned());
        let declined = std::io::Error::other("the user declined");
        Box::pin(async { Err(ClientError::authorization(declined)) })
    }

    fn notify(&self, _: SessionNotification) -> SessionFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    fn transport(&self) -> TransportKind {
        TransportKind::Http
    }

    fn close(&self) -> SessionFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }
}

#[tokio::test]
async fn a_declined_sign_in_is_not_repeated() {
    for (revision, method) in [
        (Revision::V2025_11_25, "initialize"),
        (Revision::LATEST, "server/discover"),
    ] {
        let session = Arc::new(Declined::default());
        let builder = McpClientSession::builder().session(session.clone());
        let error = builder.prefer_version(revision).build().await.unwrap_err();
        assert!(matches!(error, ClientError::Authorization(_)), "{error}");
        assert_eq!(*session.0.lock().unwrap(), [method]);
    }
}

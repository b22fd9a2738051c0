//! Negotiation of the protocol revision.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use treenail::client::{
    ClientError, ClientLimits, IncomingHandler, LineSession, Session, SessionFuture,
    SessionNotification, SessionRequest, TransportKind,
};
use treenail::prelude::*;
use treenail::schema::Revision;

use crate::fixture::server;
use crate::script::{Received, Reply, discovered, initialized, scripted, scripted_with_limits};

async fn connect_to(
    reply: impl FnMut(&Value) -> Reply + Send + 'static,
) -> (Result<McpClientSession, ClientError>, Received) {
    let (session, received) = scripted(reply);
    let connected = McpClientSession::builder().session(session).build().await;
    (connected, received)
}

#[tokio::test]
async fn the_newest_common_revision_is_negotiated() {
    let (server, _) = server();
    let session = McpClientSession::builder()
        .server(&server)
        .build()
        .await
        .unwrap();
    assert_eq!(
        session.protocol_version(),
        Revision::LATEST,
        "CLI-ERA-01, CLI-ERA-02"
    );
    assert_eq!(session.peer_info().supported_versions.len(), 5);
}

#[tokio::test]
async fn an_error_without_modern_data_means_legacy() {
    let errors = [
        json!({"code": -32601, "message": "no such method"}),
        json!({"code": -32602, "message": "not initialized"}),
        json!({"code": -32002, "message": "not initialized"}),
        json!({"code": 0, "message": ""}),
    ];
    for error in errors {
        let (connected, received) = connect_to(move |message| match message["method"].as_str() {
            Some("server/discover") => Reply::error(message, &error),
            Some("initialize") => initialized(message, "2025-06-18"),
            _ => Reply::nothing(),
        })
        .await;
        let session = connected.unwrap();
        let revision = session.protocol_version();
        assert_eq!(revision, Revision::V2025_06_18, "CLI-ERA-05");
        session.close().await.unwrap();
        let expected = ["server/discover", "initialize", "notifications/initialized"];
        assert_eq!(received.methods(), expected, "CLI-ERA-04, CLI-LIFE-04");
        let offered = &received.all()[1]["params"];
        assert_eq!(offered["protocolVersion"], "2025-11-25", "CLI-LIFE-02");
        assert!(offered["clientInfo"]["name"].is_string(), "CLI-LIFE-01");
    }
}

#[tokio::test]
async fn a_result_without_revisions_means_legacy() {
    let (connected, _) = connect_to(|message| match message["method"].as_str() {
        Some("initialize") => initialized(message, "2024-11-05"),
        _ if message["id"].is_null() => Reply::nothing(),
        _ => Reply::result(message, &json!({})),
    })
    .await;
    assert_eq!(
        connected.unwrap().protocol_version(),
        Revision::V2024_11_05,
        "CLI-ERA-04"
    );
}

#[tokio::test(start_paused = true)]
async fn no_response_means_legacy() {
    let (connected, received) = connect_to(|message| match message["method"].as_str() {
        Some("initialize") => initialized(message, "2025-11-25"),
        _ => Reply::nothing(),
    })
    .await;
    assert_eq!(
        connected.unwrap().protocol_version(),
        Revision::V2025_11_25,
        "CLI-ERA-04"
    );
    // CLI-LIFE-05: nothing else is sent before the handshake, not even a cancellation.
    assert_eq!(received.methods()[1], "initialize");
}

#[tokio::test]
async fn a_modern_error_prevents_the_legacy_handshake() {
    let unsupported = |supported: Value| json!({"code": -32022, "message": "no", "data": {"supported": supported, "requested": "x"}});
    // The server names the revision and accepts it the second time.
    let error = unsupported(json!(["2026-07-28"]));
    let mut refused = false;
    let (connected, received) = connect_to(move |message| {
        if std::mem::replace(&mut refused, true) {
            discovered(message)
        } else {
            Reply::error(message, &error)
        }
    })
    .await;
    assert_eq!(
        connected.unwrap().protocol_version(),
        Revision::LATEST,
        "CLI-VER-02"
    );
    assert_eq!(
        received.methods(),
        ["server/discover", "server/discover"],
        "CLI-ERA-03"
    );
    let ids: Vec<_> = received
        .all()
        .iter()
        .map(|message| message["id"].clone())
        .collect();
    assert_ne!(ids[0], ids[1], "CLI-BASE-01");

    for error in [
        unsupported(json!(["2031-01-01"])),
        json!({"code": -32021, "message": "no", "data": {"requiredCapabilities": {"roots": {}}}}),
    ] {
        let (connected, received) = connect_to(move |message| Reply::error(message, &error)).await;
        let error = connected.unwrap_err();
        assert!(
            matches!(error, ClientError::Unsupported(_) | ClientError::Refused(_)),
            "CLI-ERA-03: {error}"
        );
        assert_eq!(received.methods(), ["server/discover"], "CLI-ERA-03");
    }
}

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

#[tokio::test]
async fn an_unknown_revision_ends_the_connection() {
    let (connected, _) = connect_to(|message| match message["method"].as_str() {
        Some("initialize") => initialized(message, "1999-01-01"),
        _ => Reply::error(message, &json!({"code": -32601, "message": "no"})),
    })
    .await;
    let error = connected.unwrap_err();
    assert!(
        matches!(error, ClientError::Unsupported(_)),
        "CLI-LIFE-03: {error}"
    );
}

#[tokio::test]
async fn each_modern_request_identifies_the_client() {
    let (session, received) = scripted(|message| match message["method"].as_str() {
        Some("server/discover") => discovered(message),
        _ => Reply::result(message, &json!({"resultType": "complete", "tools": []})),
    });
    let builder = McpClientSession::builder().client_info("tester", "7");
    let session = builder.session(session).build().await.unwrap();
    let request = session
        .tools_list(Some(""))
        .meta("com.example/trace", "a\"b");
    request.await.unwrap();
    for message in received.all() {
        let meta = &message["params"]["_meta"];
        assert_eq!(
            meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28",
            "CLI-META-01"
        );
        assert_eq!(
            meta["io.modelcontextprotocol/clientCapabilities"],
            json!({}),
            "CLI-META-02"
        );
        assert_eq!(
            meta["io.modelcontextprotocol/clientInfo"]["name"], "tester",
            "CLI-META-03"
        );
    }
    let listed = &received.all()[1]["params"];
    assert_eq!(listed["cursor"], "", "CLI-PAGE-03");
    assert_eq!(listed["_meta"]["com.example/trace"], "a\"b");
}

/// Returns an error that names the supported revisions.
fn unsupported(supported: &Value) -> Value {
    json!({"code": -32022, "message": "no", "data": {"supported": supported, "requested": "x"}})
}

#[tokio::test(start_paused = true)]
async fn a_modern_server_that_starts_slowly_is_detected() {
    // It drops the probe, which arrives too early, and rejects the handshake.
    let error = unsupported(&json!(["2026-07-28"]));
    let mut probed = false;
    let (connected, received) = connect_to(move |message| match message["method"].as_str() {
        Some("server/discover") if std::mem::replace(&mut probed, true) => discovered(message),
        Some("initialize") => Reply::error(message, &error),
        _ => Reply::nothing(),
    })
    .await;
    assert_eq!(
        connected.unwrap().protocol_version(),
        Revision::LATEST,
        "CLI-VER-02"
    );
    let expected = ["server/discover", "initialize", "server/discover"];
    assert_eq!(received.methods(), expected);
}

#[tokio::test(start_paused = true)]
async fn a_late_probe_response_is_used() {
    // After its start, it answers all pending messages in order.
    for revision in [None, Some(Revision::LATEST)] {
        let mut probe = Value::Null;
        let (session, received) = scripted(move |message| match message["method"].as_str() {
            Some("server/discover") => {
                probe = message.clone();
                Reply::nothing()
            }
            Some("initialize") => {
                let (Reply::Lines(mut lines), Reply::Lines(refusal)) = (
                    discovered(&probe),
                    Reply::error(message, &unsupported(&json!(["2026-07-28"]))),
                ) else {
                    unreachable!("both are lines")
                };
                lines.extend(refusal);
                Reply::Lines(lines)
            }
            _ => Reply::result(message, &json!({"resultType": "complete", "tools": []})),
        });
        let builder = McpClientSession::builder().session(session);
        let builder = match revision {
            None => builder,
            // A preferred revision is probed, too.
            Some(revision) => builder.prefer_version(revision),
        };
        let session = builder.build().await.unwrap();
        assert_eq!(session.protocol_version(), Revision::LATEST);
        session.tools_list(None).await.unwrap();
        let expected = ["server/discover", "initialize", "tools/list"];
        assert_eq!(received.methods(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn the_probe_leaves_room_for_the_handshake() {
    let limits = ClientLimits::default().requests_in_flight(1);
    let (session, _) = scripted_with_limits(&limits, |message| match message["method"].as_str() {
        Some("initialize") => initialized(message, "2025-11-25"),
        _ => Reply::nothing(),
    });
    let builder = McpClientSession::builder().session(session).limits(limits);
    let session = builder.build().await.unwrap();
    assert_eq!(session.protocol_version(), Revision::V2025_11_25);
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
async fn a_rejection_with_legacy_revisions_leads_to_a_handshake() {
    let error = unsupported(&json!(["2025-06-18", "2024-11-05", "unknown"]));
    let (connected, received) = connect_to(move |message| match message["method"].as_str() {
        Some("server/discover") => Reply::error(message, &error),
        Some("initialize") => initialized(message, "2025-06-18"),
        _ => Reply::nothing(),
    })
    .await;
    let session = connected.unwrap();
    assert_eq!(session.protocol_version(), Revision::V2025_06_18);
    session.close().await.unwrap();
    let expected = ["server/discover", "initialize", "notifications/initialized"];
    assert_eq!(received.methods(), expected);
    let offered = &received.all()[1]["params"]["protocolVersion"];
    assert_eq!(offered, "2025-06-18", "the newest revision that it names");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_contradicts_itself_is_rejected() {
    let (connected, received) = connect_to(|message| match message["method"].as_str() {
        Some("server/discover") => Reply::error(message, &json!({"code": -32601, "message": "no"})),
        _ => Reply::error(message, &unsupported(&json!(["2026-07-28"]))),
    })
    .await;
    let error = connected.unwrap_err();
    assert!(matches!(error, ClientError::Unsupported(_)), "{error}");
    let expected = ["server/discover", "initialize", "server/discover"];
    assert_eq!(received.methods(), expected);
}

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

//! Sessions that the server has forgotten.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use treenail::client::{ClientError, LineSession, Session};
use treenail::prelude::*;
use treenail::schema::Revision;

use crate::failing::failing;
use crate::script::{Reply, discovered, initialized, scripted};

/// Lets a session expire once, after the handshake.
fn expiring(session: Arc<LineSession>) -> Arc<dyn Session> {
    let failed = AtomicBool::new(false);
    failing(session, move |request| {
        let expires = request.method != "initialize" && !failed.swap(true, Ordering::SeqCst);
        expires.then_some(ClientError::SessionExpired)
    })
}

#[tokio::test]
async fn a_server_that_supports_only_the_modern_era_now_is_recognized() {
    for is_fixed in [false, true] {
        let mut is_replaced = false;
        let (session, received) = scripted(move |message| match message["method"].as_str() {
            Some("server/discover") if is_replaced => discovered(message),
            Some("tools/list") if !message["params"]["_meta"].is_null() => {
                Reply::result(message, &json!({"resultType": "complete", "tools": []}))
            }
            Some("initialize") if !is_replaced => {
                is_replaced = true;
                initialized(message, "2025-11-25")
            }
            Some("initialize" | "tools/list") => {
                let data = json!({"supported": ["2026-07-28"], "requested": "2025-11-25"});
                Reply::error(
                    message,
                    &json!({"code": -32022, "message": "unsupported", "data": data}),
                )
            }
            _ => Reply::nothing(),
        });
        let builder = McpClientSession::builder().session(failing(session, |_| None));
        let builder = if is_fixed {
            builder.protocol_version(Revision::V2025_11_25)
        } else {
            builder.prefer_version(Revision::V2025_11_25)
        };
        let session = builder.build().await.unwrap();
        let listed = session.tools_list(None).await;
        if is_fixed {
            assert_eq!(listed.unwrap_err().as_refused().unwrap().code, -32022);
            continue;
        }
        listed.expect("CLI-ERA-12");
        assert_eq!(session.protocol_version(), Revision::V2026_07_28);
        let expected = [
            "initialize",
            "notifications/initialized",
            "tools/list",
            "initialize",
            "server/discover",
            "tools/list",
        ];
        assert_eq!(received.methods(), expected, "CLI-ERA-12");
    }
}

#[tokio::test]
async fn an_error_of_a_legacy_server_with_the_code_of_the_modern_era_is_returned() {
    for data in [
        json!(null),
        json!({"supported": []}),
        json!({"supported": ["2025-11-25"]}),
        json!({"supported": ["a"]}),
    ] {
        let error = json!({"code": -32022, "message": "quota exceeded", "data": data});
        let (session, received) = scripted(move |message| match message["method"].as_str() {
            Some("initialize") => initialized(message, "2025-11-25"),
            Some("tools/call") => Reply::error(message, &error),
            _ => Reply::nothing(),
        });
        let builder = McpClientSession::builder().session(failing(session, |_| None));
        let builder = builder.prefer_version(Revision::V2025_11_25);
        let session = builder.build().await.unwrap();
        let called = session.tools_call("a", json!({})).await;
        assert_eq!(called.unwrap_err().as_refused().unwrap().code, -32022);
        let expected = ["initialize", "notifications/initialized", "tools/call"];
        assert_eq!(received.methods(), expected, "{data}");
    }
}

#[tokio::test]
async fn a_required_revision_remains_after_a_renewal() {
    let mut answers = ["2024-11-05", "2025-06-18"].into_iter();
    let (session, _) = scripted(move |message| match message["method"].as_str() {
        Some("initialize") => initialized(message, answers.next().unwrap()),
        Some("tools/list") => Reply::result(message, &json!({"tools": []})),
        _ => Reply::nothing(),
    });
    let builder = McpClientSession::builder().session(expiring(session));
    let builder = builder.protocol_version(Revision::V2025_06_18);
    let session = builder.build().await.unwrap();
    assert_eq!(session.protocol_version(), Revision::V2024_11_05);
    session.tools_list(None).await.unwrap();
    assert_eq!(session.protocol_version(), Revision::V2025_06_18);
}

#[tokio::test]
async fn an_expired_session_is_reestablished() {
    let (session, received) = scripted(|message| match message["method"].as_str() {
        Some("initialize") => initialized(message, "2025-11-25"),
        Some("tools/list") => Reply::result(message, &json!({"tools": []})),
        _ => Reply::nothing(),
    });
    let builder = McpClientSession::builder().session(expiring(session));
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

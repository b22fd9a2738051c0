//! Servers that answer the probe late, or never.

use serde_json::{Value, json};
use treenail::client::ClientLimits;
use treenail::prelude::*;
use treenail::schema::Revision;

use super::{connect_to, unsupported};
use crate::script::{Reply, discovered, initialized, scripted, scripted_with_limits};

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

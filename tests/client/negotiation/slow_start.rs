//! Servers that answer the probe late, or never.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::time::{Instant, sleep};
use treenail::client::{ClientError, ClientLimits, LineSession};
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

/// Connects to a server that refuses the handshake at once, and answers the open probe with `late` after `delay`.
async fn connect_to_late(
    delay: Duration,
    late: impl FnOnce(&Value) -> Reply + Send + 'static,
) -> Result<McpClientSession, ClientError> {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move {
        let (reader, mut writer) = tokio::io::split(theirs);
        let mut lines = BufReader::new(reader).lines();
        let mut next = async || -> Value {
            let line = lines.next_line().await.unwrap().unwrap();
            serde_json::from_str(&line).unwrap()
        };
        let (probe, initialize) = (next().await, next().await);
        let refusal = Reply::error(&initialize, &json!({"code": -32601, "message": "no"}));
        for (reply, delay) in [(refusal, Duration::ZERO), (late(&probe), delay)] {
            let Reply::Lines(lines) = reply else {
                unreachable!("both are lines")
            };
            sleep(delay).await;
            let text = lines.join("\n") + "\n";
            writer.write_all(text.as_bytes()).await.unwrap();
        }
        std::future::pending::<()>().await;
    });
    let (reader, writer) = tokio::io::split(ours);
    let session = Arc::new(LineSession::new(reader, writer));
    McpClientSession::builder().session(session).build().await
}

#[tokio::test(start_paused = true)]
async fn a_refused_handshake_leaves_the_probe_open() {
    const SECOND: Duration = Duration::from_secs(1);

    let session = connect_to_late(2 * SECOND, discovered).await.unwrap();
    assert_eq!(session.protocol_version(), Revision::LATEST);

    // After 10 s, the handshake is sent. A refusal of the probe, or a timeout of 60 s, ends the wait. The server does not close its
    // output, so closing the connection takes 2 s.
    let refused = |probe: &Value| Reply::error(probe, &json!({"code": -32601, "message": "no"}));
    for (delay, seconds) in [(Duration::ZERO, 12), (2 * SECOND, 14), (600 * SECOND, 72)] {
        let start = Instant::now();
        let error = connect_to_late(delay, refused).await.unwrap_err();
        let code = error.as_refused().map(|error| error.code);
        assert_eq!(code, Some(-32601), "{error}");
        assert_eq!(start.elapsed().as_secs(), seconds);
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
async fn a_late_discovery_of_an_unknown_result_type_is_an_error() {
    let bogus = |probe: &Value| {
        let result = json!({"resultType": "bogus", "supportedVersions": ["2026-07-28"],
            "capabilities": {}});
        Reply::result(probe, &result)
    };
    let error = connect_to_late(Duration::ZERO, bogus).await.unwrap_err();
    assert!(
        matches!(error, ClientError::Protocol(_)),
        "CLI-BASE-03: {error}"
    );
}

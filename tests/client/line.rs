//! What a session has to bear, over byte streams.

#[path = "faults.rs"]
mod faults;

use std::time::Duration;

use serde_json::json;
use treenail::client::ClientLimits;
use treenail::prelude::*;

use crate::script::{Say, discovered, scripted, scripted_within};

#[tokio::test]
async fn an_endless_limit_is_no_overflow() {
    let limits = ClientLimits {
        request_timeout: Duration::MAX,
        probe_timeout: Duration::MAX,
        connect_within: Duration::MAX,
        shutdown_within: Duration::MAX,
        ..ClientLimits::default()
    };
    let (session, _) = scripted_within(&limits, |message| match message["method"].as_str() {
        Some("server/discover") => discovered(message),
        _ => Say::result(message, &json!({"content": [], "resultType": "complete"})),
    });
    let session = McpClientSession::builder()
        .session(session)
        .build()
        .await
        .unwrap();
    session.tools_call("t", ()).await.unwrap();
    session.close().await.unwrap();
}

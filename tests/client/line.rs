//! Hostile servers over byte streams.

#[path = "faults.rs"]
mod faults;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex, split};
use tokio::sync::mpsc;
use treenail::client::{ClientLimits, HttpClientLimits, LineSession};
use treenail::prelude::*;

use crate::script::{Reply, answer, discovered, scripted};

#[tokio::test]
async fn an_unlimited_timeout_does_not_overflow() {
    let limits = ClientLimits::default()
        .request_timeout(Duration::MAX)
        .probe_timeout(Duration::MAX)
        .http(HttpClientLimits::default().connect_timeout(Duration::MAX))
        .shutdown_timeout(Duration::MAX);
    let (ours, theirs) = duplex(1 << 16);
    let (called, mut calls) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let (reader, mut writer) = split(theirs);
        let mut lines = BufReader::new(reader).lines();
        let mut last = String::new();
        while let Ok(Some(line)) = lines.next_line().await {
            let message: Value = serde_json::from_str(&line).unwrap();
            if let (Some("server/discover"), Reply::Lines(lines)) =
                (message["method"].as_str(), discovered(&message))
            {
                let line = lines.join("\n") + "\n";
                writer.write_all(line.as_bytes()).await.unwrap();
            } else {
                last = answer(&message, &json!({"content": [], "resultType": "complete"})) + "\n";
                called.send(()).unwrap();
            }
        }
        // It finishes its work while the session is closing.
        writer.write_all(last.as_bytes()).await.unwrap();
    });
    let (reader, writer) = split(ours);
    let session = Arc::new(LineSession::with_limits(reader, writer, &limits));
    let session = McpClientSession::builder()
        .session(session)
        .build()
        .await
        .unwrap();
    let closing = async {
        calls.recv().await.unwrap();
        session.close().await
    };
    let (called, closed) = tokio::join!(session.tools_call("t", ()), closing);
    called.unwrap();
    closed.unwrap();
}

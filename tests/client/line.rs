//! Hostile servers over byte streams.

#[path = "faults.rs"]
mod faults;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, duplex, split};
use tokio::sync::mpsc;
use treenail::client::{
    ClientError, ClientLimits, HttpClientLimits, LineSession, Session, SessionRequest,
};
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

#[tokio::test]
async fn answers_count_although_the_server_exits_before_it_reads_everything() {
    // With and without room for more output.
    for bytes in [1 << 20, 1 << 24] {
        let limits = ClientLimits::default().queued_output_bytes(bytes);
        let (ours, mut theirs) = duplex(1 << 16);
        let (reader, writer) = split(ours);
        let session = LineSession::with_limits(reader, writer, &limits);
        let long = json!({"text": "x".repeat(2 << 20)}).to_string();
        let server = async move {
            theirs.read_exact(&mut [0; 100]).await.unwrap();
            let refusal = json!({"jsonrpc": "2.0", "id": 2,
                "error": {"code": -32600, "message": "the line is too long"}});
            let text = format!("{}\n{refusal}\n", answer(&json!({"id": 1}), &json!({})));
            theirs.write_all(text.as_bytes()).await.unwrap();
        };
        let (first, second, ()) = tokio::join!(
            session.request(SessionRequest::new(1, "ping", "{}".to_owned())),
            session.request(SessionRequest::new(2, "long", long)),
            server,
        );
        assert_eq!(first.unwrap(), "{}", "{bytes}");
        let error = second.unwrap_err();
        assert!(matches!(error, ClientError::Refused(_)), "{bytes}: {error}");
    }
}

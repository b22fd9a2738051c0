//! Metadata of requests.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex, split};
use treenail::client::LineSession;
use treenail::prelude::*;
use treenail::schema::{
    CompleteRequestParams, CompletionArgument, LoggingLevel, ProgressToken, PromptReference,
    RequestMetaObject, Revision,
};

use crate::script::{Reply, discovered, scripted};

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

/// Server that completes with nothing. In the legacy era, it has only `completions`.
fn completing(message: &Value) -> Reply {
    match message["method"].as_str() {
        Some("server/discover") => discovered(message),
        Some("initialize") => Reply::result(
            message,
            &json!({
                "protocolVersion": "2025-11-25", "capabilities": {"completions": {}},
                "serverInfo": {"name": "script", "version": "1"},
            }),
        ),
        _ if message["id"].is_null() => Reply::nothing(),
        _ => Reply::result(
            message,
            &json!({"resultType": "complete", "completion": {"values": []}}),
        ),
    }
}

#[tokio::test]
async fn parameters_with_metadata_are_sent_with_one_meta() {
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let (stream, lines) = recorded(completing);
        let (reader, writer) = split(stream);
        let session = Arc::new(LineSession::new(reader, writer));
        let builder = McpClientSession::builder().session(session);
        let session = builder.protocol_version(revision).build().await.unwrap();
        let mut meta = RequestMetaObject::new();
        meta.extra.insert("a".to_owned(), json!(1));
        meta.extra.insert("b".to_owned(), json!(2));
        meta.progress_token = Some(ProgressToken::Number(5));
        let argument = CompletionArgument::new("a", "b");
        let params = CompleteRequestParams::new(PromptReference::new("p"), argument);
        session
            .completion_complete(&params.with_meta(meta))
            .meta("b", 3)
            .meta("b", 4)
            .on_progress(|_| {})
            .await
            .unwrap();
        let line = lines.lock().unwrap().last().unwrap().clone();
        for key in ["_meta", "a", "b", "progressToken"] {
            let found = line.matches(&format!("\"{key}\":")).count();
            assert_eq!(found, 1, "ALL-META-08, CLI-META-01: {revision}: {line}");
        }
        let message: Value = serde_json::from_str(&line).unwrap();
        let meta = &message["params"]["_meta"];
        assert_eq!(meta["a"], 1, "{line}");
        assert_eq!(meta["b"], 4, "{line}");
        assert_ne!(meta["progressToken"], 5, "{line}");
        let version = &meta["io.modelcontextprotocol/protocolVersion"];
        assert_eq!(version.is_string(), revision.is_modern(), "{line}");
    }
}

#[tokio::test]
async fn the_last_log_level_counts() {
    let (stream, lines) = recorded(completing);
    let (reader, writer) = split(stream);
    let session = Arc::new(LineSession::new(reader, writer));
    let builder = McpClientSession::builder().session(session);
    let session = builder.build().await.unwrap();
    let argument = CompletionArgument::new("a", "b");
    let params = CompleteRequestParams::new(PromptReference::new("p"), argument);
    session
        .completion_complete(&params)
        .log_level(LoggingLevel::Debug)
        .log_level(LoggingLevel::Error)
        .await
        .unwrap();
    let line = lines.lock().unwrap().last().unwrap().clone();
    assert_eq!(line.matches("logLevel").count(), 1, "ALL-META-08: {line}");
    assert!(line.contains("\"io.modelcontextprotocol/logLevel\":\"error\""));
}

/// Returns the stream to a server that answers with `reply`, and the lines that it receives.
fn recorded(reply: fn(&Value) -> Reply) -> (DuplexStream, Arc<Mutex<Vec<String>>>) {
    let (ours, theirs) = duplex(1 << 16);
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let received = Arc::clone(&lines);
    tokio::spawn(async move {
        let (reader, mut writer) = split(theirs);
        let mut incoming = BufReader::new(reader).lines();
        while let Ok(Some(line)) = incoming.next_line().await {
            let message = serde_json::from_str(&line).unwrap();
            received.lock().unwrap().push(line);
            if let Reply::Lines(lines) = reply(&message) {
                let text: String = lines.into_iter().map(|line| line + "\n").collect();
                writer.write_all(text.as_bytes()).await.unwrap();
            }
        }
    });
    (ours, lines)
}

//! Messages that are too large, or would take too much memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use treenail::client::{ClientError, ClientLimits};
use treenail::prelude::*;
use treenail::schema::{ElicitAction, ElicitResult};

use super::modern;
use crate::script::{Reply, discovered, scripted_with_limits};

#[tokio::test]
async fn a_dense_message_is_rejected_before_parsing() {
    // Each of its numbers takes 2 bytes as text and about 80 bytes in memory.
    let numbers = format!("[{}0]", "0,".repeat(2_500_000));
    let client = modern(move |message| {
        let result = format!(r#"{{"content":[],"structuredContent":{numbers}}}"#);
        let id = &message["id"];
        Reply::Lines(vec![format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#
        )])
    });
    let client = client.await.unwrap();
    let error = client.call_tool("t", ()).await.unwrap_err();
    assert!(matches!(error, ClientError::Protocol(_)), "{error}");
    assert!(error.to_string().contains("memory"), "{error}");
}

#[tokio::test]
async fn an_error_with_dense_data_is_rejected() {
    let numbers = format!("[{}0]", "0,".repeat(2_500_000));
    let client = modern(move |message| {
        let id = &message["id"];
        let error = format!(r#"{{"code":-1,"message":"no","data":{numbers}}}"#);
        Reply::Lines(vec![format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#
        )])
    });
    let client = client.await.unwrap();
    let error = client.call_tool("t", ()).await.unwrap_err();
    assert!(matches!(error, ClientError::Protocol(_)), "{error}");
}

#[tokio::test]
async fn messages_are_limited_to_8_mib_and_handshakes_to_1_mib() {
    let client = modern(|message| {
        let text = "x".repeat(8 << 20);
        let content = json!([{"type": "text", "text": text}]);
        Reply::result(message, &json!({"content": content}))
    });
    let client = client.await.unwrap();
    let error = client.call_tool("t", ()).await.unwrap_err();
    assert!(matches!(error, ClientError::TooLong(8_388_608)), "{error}");
    for is_modern in [true, false] {
        let limits = ClientLimits::default();
        let (session, _) = scripted_with_limits(&limits, move |message| {
            let mut result = json!({
                "supportedVersions": ["2026-07-28"], "protocolVersion": "2025-11-25",
                "capabilities": {}, "serverInfo": {"name": "s", "version": "1"},
            });
            result["instructions"] = json!("x".repeat(1 << 20));
            match message["method"].as_str() {
                Some("server/discover") if is_modern => Reply::result(message, &result),
                Some("initialize") if !is_modern => Reply::result(message, &result),
                _ => Reply::error(message, &json!({"code": -32601, "message": "no"})),
            }
        });
        let built = McpClient::builder().session(session).build().await;
        let error = built.unwrap_err();
        assert!(matches!(error, ClientError::Protocol(_)), "{error}");
        assert!(error.to_string().contains("1048576"), "{error}");
    }
}

#[tokio::test]
async fn the_requests_of_an_input_round_are_limited() {
    let questions: serde_json::Map<_, _> = (0..10_000)
        .map(|number| {
            let params = json!({"message": "?", "mode": "url", "url": "https://a.example/",
                "elicitationId": "e"});
            let question = json!({"method": "elicitation/create", "params": params});
            (format!("q{number}"), question)
        })
        .collect();
    let (session, _) =
        scripted_with_limits(
            &ClientLimits::default(),
            move |message| match message["method"].as_str() {
                Some("server/discover") => discovered(message),
                _ => Reply::result(
                    message,
                    &json!({"resultType": "input_required", "inputRequests": questions}),
                ),
            },
        );
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let builder = McpClient::builder().session(session).on_elicit(move |_| {
        counter.fetch_add(1, Ordering::Relaxed);
        async { Ok(ElicitResult::new(ElicitAction::Decline)) }
    });
    let client = builder.build().await.unwrap();
    let error = client.call_tool("t", ()).await.unwrap_err();
    assert!(matches!(error, ClientError::Protocol(_)), "{error}");
    assert!(error.to_string().contains("input requests"), "{error}");
    assert_eq!(asked.load(Ordering::Relaxed), 0, "none is asked");
}

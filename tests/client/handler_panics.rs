//! Handlers that panic.

use std::future::{Ready, ready};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use treenail::RpcError;
use treenail::client::{ClientError, ClientLimits};
use treenail::prelude::*;
use treenail::schema::ElicitResult;

use crate::script::{Reply, discovered, initialized, scripted_with_limits};

/// A handler that panics.
fn panicking() -> Ready<Result<ElicitResult, RpcError>> {
    let answers = Vec::<ElicitResult>::new();
    ready(Ok(answers[answers.len()].clone()))
}

#[tokio::test(start_paused = true)]
async fn a_panicking_handler_returns_an_error_and_frees_its_slot() {
    let answers = Arc::new(Mutex::new(Vec::new()));
    let received = Arc::clone(&answers);
    let mut call = Value::Null;
    let (session, _) = scripted_with_limits(&ClientLimits::default(), move |message| {
        let method = message["method"].as_str();
        match method {
            Some("initialize") => initialized(message, "2025-11-25"),
            Some("tools/call") => {
                call = message.clone();
                let id = format!("q{}", message["id"]);
                let params = json!({"message": "?", "requestedSchema":
                    {"type": "object", "properties": {}}});
                Reply::Lines(vec![
                    json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params})
                        .to_string(),
                ])
            }
            None => {
                received
                    .lock()
                    .unwrap()
                    .push(message["error"]["code"].clone());
                Reply::result(&call, &json!({"content": []}))
            }
            Some("notifications/initialized" | "notifications/cancelled") => Reply::nothing(),
            Some(_) => Reply::error(message, &json!({"code": -32601, "message": "no"})),
        }
    });
    let client = McpClient::builder()
        .session(session)
        .on_elicit(|_| panicking())
        .build()
        .await
        .unwrap();
    // More requests than slots.
    for _ in 0..40 {
        client.call_tool("t", ()).await.unwrap();
    }
    assert_eq!(*answers.lock().unwrap(), vec![json!(-32603); 40]);
}

#[tokio::test]
async fn a_panicking_handler_in_a_round_fails_only_its_request() {
    let limits = ClientLimits::default();
    let (session, _) = scripted_with_limits(&limits, |message| match message["method"].as_str() {
        Some("server/discover") => discovered(message),
        Some("tools/call") => {
            let params = json!({"message": "?", "requestedSchema":
                {"type": "object", "properties": {}}});
            let question = json!({"method": "elicitation/create", "params": params});
            let asked = json!({"resultType": "input_required", "inputRequests": {"q": question}});
            Reply::result(message, &asked)
        }
        _ => Reply::result(message, &json!({"resultType": "complete", "tools": []})),
    });
    let client = McpClient::builder()
        .session(session)
        .on_elicit(|_| panicking())
        .build()
        .await
        .unwrap();
    let error = client.call_tool("t", ()).await.unwrap_err();
    assert!(matches!(error, ClientError::Unanswered(_)), "{error}");
    client.tools().await.unwrap();
}

//! Sampling requests of servers, between revisions.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use treenail::prelude::*;
use treenail::proxy::Remote;
use treenail::schema::{CreateMessageResult, Revision, Role, SamplingMessageContentBlock as Block};

use crate::script::{server_of, text, tools};
use crate::station::{LEGACY, MODERN, client_of, gateway};

/// Server that samples during `think`, and the answers that it has received.
fn thinking(revision: Revision) -> (Remote, Arc<Mutex<Vec<Value>>>) {
    let answers: Arc<Mutex<Vec<Value>>> = Arc::default();
    let (received, mut call) = (Arc::clone(&answers), Value::Null);
    let server = server_of(revision, &tools(&["think"]), move |message, line| {
        match message["method"].as_str() {
            Some("tools/call") => {
                call = message.clone();
                let hello = json!({"role": "user", "content": {"type": "text", "text": "Hello"}});
                line.send(&json!({
                    "jsonrpc": "2.0", "id": "ask", "method": "sampling/createMessage",
                    "params": {"maxTokens": 9, "messages": [hello], "_meta": {"com.example/hop": 1}},
                }));
            }
            None => {
                received.lock().unwrap().push(message.clone());
                line.answer(&call, &text("thought"));
            }
            _ => {}
        }
        true
    });
    (server, answers)
}

#[tokio::test]
async fn a_server_of_an_older_revision_receives_one_block() {
    for caller in [LEGACY, MODERN] {
        for revision in [
            Revision::V2024_11_05,
            Revision::V2025_03_26,
            Revision::V2025_06_18,
        ] {
            let (server, answers) = thinking(revision);
            let (gateway, proxy) = gateway();
            proxy.mount(server).unwrap().connected().await;
            let client = client_of(&gateway, caller).on_sample(|_| async {
                let blocks = vec![Block::text("Hi"), Block::text("there")];
                Ok(CreateMessageResult::new(Role::Assistant, blocks, "m"))
            });
            let client = client.build().await.unwrap();
            client.call_tool("script.think", ()).await.unwrap();
            let answers = answers.lock().unwrap();
            assert_eq!(
                answers[0]["result"]["content"],
                json!({"type": "text", "text": "Hi\nthere"}),
                "CLI-SAM-06, ALL-LIFE-01: {caller} {revision}: {answers:?}"
            );
        }
    }
}

#[tokio::test]
async fn metadata_of_a_request_belongs_to_one_hop() {
    for caller in [LEGACY, MODERN] {
        let (server, answers) = thinking(LEGACY);
        let (gateway, proxy) = gateway();
        proxy.mount(server).unwrap().connected().await;
        let client = client_of(&gateway, caller).on_sample(move |params| async move {
            assert_eq!(params.meta, None, "ALL-LIFE-01: {caller}");
            let text = Block::text("Hi");
            Ok(CreateMessageResult::new(Role::Assistant, text, "m"))
        });
        let client = client.build().await.unwrap();
        let result = client.call_tool("script.think", ()).await.unwrap();
        assert_eq!(result.as_text(), Some("thought"), "{caller}");
        let answers = answers.lock().unwrap();
        assert_eq!(answers[0]["result"]["model"], "m", "{caller}: {answers:?}");
    }
}

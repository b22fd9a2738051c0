//! Calls that wait for their clients, and the room that they leave at their server.

use std::future::IntoFuture;
use std::sync::Arc;
use std::time::Duration;

use treenail::client::ClientLimits;
use treenail::prelude::*;
use treenail::proxy::Remote;

use crate::script::{Line, scripted, text, tools};
use crate::station::{LEGACY, MODERN, client_of, gateway};
use crate::waiting_calls::slow_user;

/// Server that answers four requests at once at most. It asks during each call of `ask`, whose result is the answer.
fn narrow() -> Remote {
    Remote::new("script", || {
        let react = |message: &Value, line: &Line| {
            let id = &message["id"];
            match (message["method"].as_str(), message["params"]["name"].as_str()) {
                (Some("initialize"), _) => line.answer(
                    message,
                    &json!({
                        "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                        "serverInfo": {"name": "script", "version": "1"},
                    }),
                ),
                (Some("tools/list"), _) => {
                    line.answer(message, &json!({"tools": tools(&["ask", "quick"])}));
                }
                (_, Some("ask")) => line.send(&json!({
                    "jsonrpc": "2.0", "id": id, "method": "elicitation/create",
                    "params": {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}},
                })),
                (_, Some("quick")) => line.answer(message, &text("quick")),
                (None, _) => {
                    let error = message["error"]["message"].as_str();
                    line.answer(message, &text(error.unwrap_or("answered")));
                }
                _ => {}
            }
            true
        };
        let limits = ClientLimits::default().requests_in_flight(4);
        scripted(Box::new(react), &limits).protocol_version(LEGACY)
    })
}

#[tokio::test(start_paused = true)]
async fn waiting_calls_leave_room_for_other_calls_at_their_server() {
    let (gateway, proxy) = gateway();
    proxy.mount(narrow()).unwrap().connected().await;
    let (asked, answer) = (Arc::default(), Arc::default());
    let builder = slow_user(client_of(&gateway, MODERN), &asked, &answer);
    let client = builder.build().await.unwrap();
    let call = || client.session().tools_call("script.ask", ()).into_future();
    // Half of the requests may wait, and half of these are of one client.
    let waiting = tokio::spawn(call());
    asked.notified().await;
    for _ in 0..5 {
        let refused = tokio::time::timeout(Duration::from_secs(1), call()).await;
        let refused = refused.unwrap().unwrap();
        let text = refused.as_text().unwrap();
        assert!(text.contains("of this client at this server"), "{text}");
    }
    let other = client_of(&gateway, MODERN).build().await.unwrap();
    let quick = other.call_tool("script.quick", ()).await.unwrap();
    assert_eq!(quick.as_text(), Some("quick"));
    answer.notify_one();
    let result = waiting.await.unwrap().unwrap();
    assert_eq!(result.as_text(), Some("answered"));
}

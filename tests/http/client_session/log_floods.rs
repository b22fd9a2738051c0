//! Servers that cause warnings: they are few, and each is one line.

use serde_json::json;
use treenail::client::ClientLimits;

use super::legacy::default_response;
use super::listener::{TestSession, legacy};
use super::scripted_server::{Response, ScriptedServer};
use crate::log::Log;

const PINGS: usize = 50;

#[tokio::test]
async fn a_server_that_refuses_answers_neither_floods_the_log_nor_forges_lines() {
    let (log, _guard) = Log::record(tracing::Level::WARN);
    let server = ScriptedServer::new(|received| match received.rpc() {
        "tools/list" => {
            let ping = "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n\n";
            let id = &received.body["id"];
            let result = json!({"jsonrpc": "2.0", "id": id, "result": {}});
            Response::stream(&format!("{}data: {result}\n\n", ping.repeat(PINGS)))
        }
        "" if received.method == "POST" => {
            let error = json!({"code": -32600, "message": "a\n WARN forged".repeat(1_000)});
            let body = json!({"jsonrpc": "2.0", "id": null, "error": error}).to_string();
            Response::complete(400, "content-type: application/json", &body)
        }
        _ => default_response(received),
    })
    .await;
    // The result is read after the outcome of all answers but two.
    let limits = ClientLimits::default().pending_server_requests(1);
    let client = TestSession::answering(&server.url, limits);
    client.initialize().await.unwrap();
    client.initialized().await.unwrap();
    let call = client.spawn(legacy(1, "tools/list", &json!({})));
    call.await.unwrap().unwrap();
    let lines = log.lines();
    assert_eq!(lines.len(), 1, "{lines:#?}");
    assert!(
        lines[0].contains("an answer could not be sent"),
        "{lines:?}"
    );
    assert!(lines[0].len() < 600, "{lines:?}");
}

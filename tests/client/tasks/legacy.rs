//! Tasks of revision 2025-11-25.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use treenail::client::{ClientError, ClientLimits, McpClientBuilder};
use treenail::prelude::*;
use treenail::schema::{ElicitAction, ElicitResult, Revision};

use super::{ID, until_received};
use crate::script::{Received, Reply, answer, scripted_with_limits};

/// Key of the task in the metadata of its messages.
const RELATED: &str = "io.modelcontextprotocol/related-task";

/// Returns the state of the task.
pub(super) fn state(status: &str) -> Value {
    json!({
        "taskId": ID, "status": status, "createdAt": "2026-11-23T06:00:00Z",
        "lastUpdatedAt": "2026-11-23T06:00:00Z", "ttl": 600_000, "pollInterval": 1_000,
    })
}

/// Creates a builder of a client of a legacy server with a tool for each kind of support. `reply` answers the requests about
/// tasks.
pub(super) fn legacy(
    mut reply: impl FnMut(&Value) -> Reply + Send + 'static,
) -> (McpClientBuilder, Received) {
    let limits = ClientLimits::default();
    let (session, received) =
        scripted_with_limits(&limits, move |message| match message["method"].as_str() {
            Some("initialize") => {
                let capabilities = json!({
                    "tools": {},
                    "tasks": {"cancel": {}, "requests": {"tools": {"call": {}}}},
                });
                let result = json!({
                    "protocolVersion": "2025-11-25", "capabilities": capabilities,
                    "serverInfo": {"name": "script", "version": "1"},
                });
                Reply::result(message, &result)
            }
            Some("tools/list") => {
                let tool = |name: &str, support: &str| {
                    let execution = json!({ "taskSupport": support });
                    json!({"name": name, "inputSchema": {"type": "object"}, "execution": execution})
                };
                let tools = json!([
                    tool("must", "required"), tool("may", "optional"), tool("never", "forbidden"),
                    {"name": "plain", "inputSchema": {"type": "object"}},
                ]);
                Reply::result(message, &json!({ "tools": tools }))
            }
            Some("tools/call") if message["params"]["task"].is_object() => {
                Reply::result(message, &json!({"task": state("working")}))
            }
            Some("tools/call") => Reply::result(message, &text("direct")),
            Some("notifications/initialized") => Reply::nothing(),
            _ => reply(message),
        });
    let builder = McpClient::builder().session(session).tasks();
    (builder.protocol_version(Revision::V2025_11_25), received)
}

/// Returns a result with a text.
pub(super) fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// Answers `tasks/result` with a text, as if the task had ended.
fn ended(message: &Value) -> Reply {
    match message["method"].as_str() {
        Some("tasks/result") => {
            let mut result = text("done");
            result["_meta"] = json!({RELATED: {"taskId": ID}});
            Reply::result(message, &result)
        }
        _ => Reply::result(message, &state("completed")),
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_asks_for_a_task_as_its_tool_permits() {
    for (tool, plain, kept) in [
        ("must", true, true),
        ("may", false, true),
        ("never", false, false),
        ("plain", false, false),
    ] {
        let (builder, received) = legacy(ended);
        let client = builder.build().await.unwrap();
        client.call_tool(tool, json!({"a": 1})).await.unwrap();
        client
            .call_tool(tool, ())
            .task()
            .await
            .unwrap()
            .wait()
            .await
            .unwrap();
        let calls: Vec<_> = received
            .all()
            .into_iter()
            .filter(|message| message["method"] == "tools/call")
            .map(|message| message["params"].get("task").cloned())
            .collect();
        let asked = |asks: bool| asks.then(|| json!({}));
        assert_eq!(
            calls,
            [asked(plain), asked(kept)],
            "LTASK-C-01, LTASK-B-03: {tool}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn the_result_is_that_of_the_task() {
    let (builder, received) = legacy(ended);
    let client = builder.build().await.unwrap();
    let called = client.call_tool("must", ()).await.unwrap();
    assert_eq!(called.as_text(), Some("done"), "LTASK-B-06");
    let methods = received.methods();
    assert_eq!(
        methods[2..],
        ["tools/list", "tools/call", "tasks/result"],
        "LTASK-B-06"
    );
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_task_is_reported() {
    let (builder, _) = legacy(|message| match message["method"].as_str() {
        Some("tasks/result") => Reply::nothing(),
        _ => Reply::result(message, &state("cancelled")),
    });
    let client = builder.build().await.unwrap();
    let error = client.call_tool("must", ()).await.unwrap_err();
    assert!(matches!(error, ClientError::Cancelled(_)), "{error}");
}

#[tokio::test(start_paused = true)]
async fn questions_arrive_while_the_result_is_awaited() {
    let waiting = Arc::new(Mutex::new(Value::Null));
    let (builder, received) = legacy(move |message| match message["method"].as_str() {
        Some("tasks/result") => {
            *waiting.lock().unwrap() = message.clone();
            let schema = json!({"type": "object", "properties": {}});
            let params = json!({
                "message": "Who?", "requestedSchema": schema, "_meta": {RELATED: {"taskId": ID}},
            });
            let question = json!({
                "jsonrpc": "2.0", "id": "q1", "method": "elicitation/create", "params": params,
            });
            Reply::Lines(vec![question.to_string()])
        }
        // The answer of the client.
        None => Reply::Lines(vec![answer(&waiting.lock().unwrap(), &text("done"))]),
        _ => Reply::result(message, &state("input_required")),
    });
    let builder = builder.on_elicit(|_| async { Ok(ElicitResult::new(ElicitAction::Accept)) });
    let client = builder.build().await.unwrap();
    let called = client.call_tool("must", ()).await.unwrap();
    assert_eq!(called.as_text(), Some("done"), "LTASK-S-04");
    let answers = received.all();
    let answer = answers
        .iter()
        .find(|message| message["id"] == "q1")
        .unwrap();
    assert_eq!(answer["result"]["action"], "accept");
    assert_eq!(
        answer["result"]["_meta"][RELATED],
        json!({"taskId": ID}),
        "LTASK-B-07"
    );
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_cancels_its_task_only_by_tasks_cancel() {
    // Before the server has answered, and after.
    for answers in [false, true] {
        let (builder, received) = legacy(|message| match message["method"].as_str() {
            Some("tasks/cancel") => Reply::result(message, &state("cancelled")),
            Some("tasks/result") => Reply::nothing(),
            _ => Reply::result(message, &state("working")),
        });
        let client = builder.build().await.unwrap();
        client.tools().await.unwrap();
        let mut call = Box::pin(client.call_tool("must", ()).into_future());
        if answers {
            tokio::time::timeout(Duration::from_secs(5), &mut call)
                .await
                .unwrap_err();
        } else {
            std::future::poll_fn(|context| {
                assert!(call.as_mut().poll(context).is_pending());
                std::task::Poll::Ready(())
            })
            .await;
        }
        drop(call);
        until_received(&received, "tasks/cancel").await;
        let cancelled = received
            .all()
            .into_iter()
            .filter(|message| message["method"] == "notifications/cancelled");
        let call_id = received
            .all()
            .into_iter()
            .find(|it| it["method"] == "tools/call")
            .unwrap();
        for message in cancelled {
            assert_ne!(message["params"]["requestId"], call_id["id"], "LTASK-B-11");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_without_the_capability_to_cancel_is_not_asked_to() {
    let limits = ClientLimits::default();
    let (session, received) = scripted_with_limits(&limits, |message| {
        match message["method"].as_str() {
            Some("initialize") => {
                let tasks = json!({"requests": {"tools": {"call": {}}}});
                let result = json!({
                    "protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "tasks": tasks},
                    "serverInfo": {"name": "script", "version": "1"},
                });
                Reply::result(message, &result)
            }
            Some("tools/list") => {
                let execution = json!({"taskSupport": "optional"});
                let tool = json!({"name": "may", "inputSchema": {"type": "object"}, "execution": execution});
                Reply::result(message, &json!({"tools": [tool]}))
            }
            Some("tools/call") => Reply::result(message, &json!({"task": state("working")})),
            _ => Reply::nothing(),
        }
    });
    let builder = McpClient::builder().session(session).tasks();
    let builder = builder.protocol_version(Revision::V2025_11_25);
    let client = builder.build().await.unwrap();
    let call = client.call_tool("may", ()).task().await.unwrap();
    let error = call.cancel().await.unwrap_err();
    assert!(
        matches!(error, ClientError::Unsupported(_)),
        "LTASK-B-01: {error}"
    );
    let methods = received.methods();
    assert!(!methods.iter().any(|method| method == "tasks/cancel"));
}

#[tokio::test(start_paused = true)]
async fn a_server_without_the_capability_is_not_asked_for_tasks() {
    let limits = ClientLimits::default();
    let (session, received) =
        scripted_with_limits(&limits, |message| match message["method"].as_str() {
            Some("initialize") => crate::script::initialized(message, "2025-11-25"),
            Some("tools/call") => Reply::result(message, &text("direct")),
            _ => Reply::nothing(),
        });
    let builder = McpClient::builder().session(session).tasks();
    let client = builder
        .protocol_version(Revision::V2025_11_25)
        .build()
        .await
        .unwrap();
    client
        .call_tool("must", ())
        .task()
        .await
        .unwrap()
        .wait()
        .await
        .unwrap();
    let call = received
        .all()
        .into_iter()
        .find(|it| it["method"] == "tools/call")
        .unwrap();
    assert!(call["params"].get("task").is_none(), "LTASK-B-02");
}

//! Calls that wait for their tasks.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use treenail::client::ClientError;
use treenail::prelude::*;

use super::{ID, States, Times, acknowledged, completed, modern, peer, pushed, result, state};
use crate::script::{Reply, answer, discovered, scripted};

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_its_task() {
    let times = Times::start();
    let noted = times.clone();
    let faster = state("working", &json!({"pollIntervalMs": 250}));
    let mut states = States::new([state("working", &json!({})), faster, completed("done")]);
    let (builder, received) = modern(move |message| {
        noted.note();
        result(message, "complete", &states.next())
    });
    let client = builder.build().await.unwrap();
    let called = client.call_tool("report", json!({"year": 2026})).await;
    assert_eq!(
        called.unwrap().as_text(),
        Some("done"),
        "TASK-C-01, TASK-C-02"
    );
    assert_eq!(times.all(), [1_000, 2_000, 2_250], "TASK-C-05");
    let requests = received.all();
    for message in requests.iter().skip(1).filter(|it| it.get("id").is_some()) {
        let meta = &message["params"]["_meta"];
        let declared = &meta["io.modelcontextprotocol/clientCapabilities"]["extensions"];
        assert_eq!(
            declared["io.modelcontextprotocol/tasks"],
            json!({}),
            "TASK-B-01, EXT-C-01: {message}"
        );
    }
    let methods = received.methods();
    assert!(
        !methods.iter().any(|it| it == "tasks/cancel"),
        "{methods:?}"
    );
}

#[tokio::test]
async fn a_task_without_the_declaration_is_an_invalid_response() {
    let (session, _) = scripted(|message| match message["method"].as_str() {
        Some("server/discover") => discovered(message),
        _ => result(message, "task", &state("working", &json!({}))),
    });
    let session = McpClientSession::builder().session(session);
    let session = session.build().await.unwrap();
    let error = session.tools_call("report", ()).await.unwrap_err();
    assert!(
        matches!(error, ClientError::Protocol(_)),
        "TASK-C-01: {error}"
    );
}

#[tokio::test]
async fn only_calls_may_become_tasks() {
    let (builder, _) = peer(|message| result(message, "task", &state("working", &json!({}))));
    let client = builder.build().await.unwrap();
    let error = client.get_prompt("p", ()).await.unwrap_err();
    assert!(
        matches!(error, ClientError::Protocol(_)),
        "TASK-C-01, EXT-B-08: {error}"
    );
}

#[tokio::test]
async fn only_a_server_that_declares_tasks_may_create_them() {
    let (session, _) = scripted(|message| match message["method"].as_str() {
        Some("server/discover") => discovered(message),
        _ => result(message, "task", &state("working", &json!({}))),
    });
    let client = McpClient::builder().session(session).tasks();
    let client = client.build().await.unwrap();
    let error = client.call_tool("report", ()).await.unwrap_err();
    assert!(
        matches!(error, ClientError::Protocol(_)),
        "EXT-B-08: {error}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_pushed_outcome_needs_no_poll() {
    let (builder, received) = peer(|message| match message["method"].as_str() {
        Some("subscriptions/listen") => Reply::Lines(vec![
            acknowledged(message, &[ID]),
            pushed(message, &state("working", &json!({}))),
            pushed(message, &completed("done")),
        ]),
        _ => result(message, "task", &state("working", &json!({}))),
    });
    let client = builder.build().await.unwrap();
    let called = client.call_tool("report", ()).await.unwrap();
    assert_eq!(called.as_text(), Some("done"), "TASK-C-10");
    let listen = &received.all()[2];
    assert_eq!(
        listen["params"]["notifications"],
        json!({"taskIds": [ID]}),
        "TASK-C-10"
    );
    assert!(!received.methods().contains(&"tasks/get".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_subscribed_task_is_polled_slowly() {
    let times = Times::start();
    let noted = times.clone();
    let mut states = States::new([
        state("working", &json!({})),
        state("working", &json!({})),
        completed("done"),
    ]);
    let (builder, _) = peer(move |message| match message["method"].as_str() {
        Some("subscriptions/listen") => Reply::Lines(vec![acknowledged(message, &[ID])]),
        Some("tasks/get") => {
            noted.note();
            result(message, "complete", &states.next())
        }
        _ => result(message, "task", &state("working", &json!({}))),
    });
    let client = builder.build().await.unwrap();
    client.call_tool("report", ()).await.unwrap();
    // The first poll finds a change before the subscription.
    assert_eq!(times.all(), [1_000, 61_000, 121_000]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_poll_is_not_the_end() {
    let mut polls = 0;
    let (builder, _) = modern(move |message| {
        polls += 1;
        match polls {
            1..=3 => Reply::error(message, &json!({"code": -32603, "message": "store"})),
            4 => Reply::result(message, &json!({"resultType": "complete", "status": 7})),
            _ => result(message, "complete", &completed("done")),
        }
    });
    let client = builder.build().await.unwrap();
    let called = client.call_tool("report", ()).await.unwrap();
    assert_eq!(called.as_text(), Some("done"), "TASK-C-09");
}

#[tokio::test(start_paused = true)]
async fn one_failed_poll_of_a_slow_task_is_not_the_end() {
    let slow = state("working", &json!({"pollIntervalMs": 600_000}));
    let mut polls = 0;
    let (builder, _) = peer(move |message| match message["method"].as_str() {
        Some("tools/call") => result(message, "task", &slow),
        Some("subscriptions/listen") => Reply::Lines(vec![acknowledged(message, &[])]),
        Some("tasks/get") => {
            polls += 1;
            match polls {
                1 => Reply::error(message, &json!({"code": -32603, "message": "store"})),
                _ => result(message, "complete", &completed("done")),
            }
        }
        _ => Reply::result(message, &json!({"resultType": "complete"})),
    });
    let client = builder.build().await.unwrap();
    let called = client.call_tool("report", ()).await.unwrap();
    assert_eq!(called.as_text(), Some("done"), "TASK-C-09");
}

#[tokio::test(start_paused = true)]
async fn an_unknown_task_has_ended() {
    let (builder, received) = modern(|message| {
        Reply::error(message, &json!({"code": -32602, "message": "unknown task"}))
    });
    let client = builder.build().await.unwrap();
    let error = client.call_tool("report", ()).await.unwrap_err();
    assert_eq!(
        error.as_refused().map(|it| it.code),
        Some(-32602),
        "TASK-C-09"
    );
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!received.methods().contains(&"tasks/cancel".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn status_messages_are_progress() {
    let message = |text: &str| state("working", &json!({"statusMessage": text}));
    let mut states = States::new([
        message("one"),
        message("one"),
        message("two"),
        completed("x"),
    ]);
    let (builder, _) = modern(move |message| result(message, "complete", &states.next()));
    let client = builder.build().await.unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let call = client.call_tool("report", ()).on_progress(move |progress| {
        noted
            .lock()
            .unwrap()
            .push(progress.message.unwrap_or_default());
    });
    call.await.unwrap();
    assert_eq!(*seen.lock().unwrap(), ["one", "two"]);
}

#[tokio::test(start_paused = true)]
async fn a_status_message_that_repeats_the_last_progress_is_not_reported() {
    let message = |text: &str| state("working", &json!({"statusMessage": text}));
    let mut states = States::new([
        message("half"),
        message("most"),
        message("half"),
        completed("x"),
    ]);
    let (builder, _) = peer(move |message| match message["method"].as_str() {
        Some("tools/call") => {
            let token = &message["params"]["_meta"]["progressToken"];
            let params = json!({"progressToken": token, "progress": 1, "message": "half"});
            let method = "notifications/progress";
            let progress = json!({"jsonrpc": "2.0", "method": method, "params": params});
            let mut created = state("working", &json!({}));
            created["resultType"] = json!("task");
            Reply::Lines(vec![progress.to_string(), answer(message, &created)])
        }
        Some("subscriptions/listen") => Reply::Lines(vec![acknowledged(message, &[])]),
        _ => result(message, "complete", &states.next()),
    });
    let client = builder.build().await.unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let call = client.call_tool("report", ()).on_progress(move |progress| {
        noted.lock().unwrap().push(progress.message.unwrap());
    });
    call.await.unwrap();
    assert_eq!(*seen.lock().unwrap(), ["half", "most", "half"]);
}

#[tokio::test(start_paused = true)]
async fn outcomes_are_those_of_a_plain_call() {
    let failed = json!({"isError": true, "content": [{"type": "text", "text": "rough sea"}]});
    let number = json!({"content": [{"type": "text", "text": "7"}], "structuredContent": 7});
    let refused = json!({"error": {"code": -32000, "message": "boom"}});
    for (end, expected) in [
        (state("completed", &json!({ "result": number })), "Ok(7)"),
        (
            state("completed", &json!({ "result": failed })),
            "the tool failed: rough sea",
        ),
        (state("failed", &refused), "the server refused: boom"),
        (
            state("cancelled", &json!({"statusMessage": "by hand"})),
            "the task was cancelled: `by hand`",
        ),
    ] {
        let (builder, _) = modern(move |message| result(message, "complete", &end));
        let client = builder.build().await.unwrap();
        let outcome = client.call_tool_as::<i64>("count", ()).await;
        let outcome =
            outcome.map_or_else(|error| error.to_string(), |count| format!("Ok({count})"));
        assert!(outcome.starts_with(expected), "TASK-S-12: {outcome}");
    }
}

#[tokio::test(start_paused = true)]
async fn results_are_validated() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let tool = json!({"name": "count", "inputSchema": {"type": "object"}, "outputSchema": schema});
    let bad = json!({"content": [], "structuredContent": {"n": "seven"}});
    let end = state("completed", &json!({ "result": bad }));
    let (builder, _) = modern(move |message| match message["method"].as_str() {
        Some("tools/list") => {
            let result = json!({"resultType": "complete", "tools": [tool], "ttlMs": 0, "cacheScope": "private"});
            Reply::result(message, &result)
        }
        _ => result(message, "complete", &end),
    });
    let client = builder.build().await.unwrap();
    client.tools().await.unwrap();
    let error = client.call_tool("count", ()).await.unwrap_err();
    assert!(error.to_string().contains("output schema"), "{error}");
}

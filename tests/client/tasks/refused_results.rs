//! Refused requests for the result of a task of revision 2025-11-25.

use serde_json::{Value, json};

use super::legacy::{legacy, state, text};
use crate::script::{Reply, answer};

/// Refuses a request as a server does whose store is away.
fn later(message: &Value) -> Reply {
    Reply::error(message, &json!({"code": -32603, "message": "later"}))
}

#[tokio::test(start_paused = true)]
async fn the_error_is_that_of_the_task() {
    let (builder, _) = legacy(|message| match message["method"].as_str() {
        Some("tasks/result") => Reply::error(message, &json!({"code": -32000, "message": "boom"})),
        _ => Reply::result(message, &state("failed")),
    });
    let client = builder.build().await.unwrap();
    let error = client.call_tool("must", ()).await.unwrap_err();
    assert_eq!(
        error.as_refused().map(|it| it.code),
        Some(-32000),
        "LTASK-B-06"
    );
}

#[tokio::test(start_paused = true)]
async fn a_refused_result_of_a_task_that_runs_is_requested_again() {
    let mut requests = 0;
    let (builder, _) = legacy(move |message| {
        let is_result = message["method"] == "tasks/result";
        requests += usize::from(is_result);
        match (is_result, requests) {
            (true, 1..=3) => Reply::error(message, &json!({"code": -32603, "message": "later"})),
            (true, _) => Reply::result(message, &text("done")),
            _ => Reply::result(message, &state("working")),
        }
    });
    let client = builder.build().await.unwrap();
    let called = client.call_tool("must", ()).await.unwrap();
    assert_eq!(called.as_text(), Some("done"), "TASK-C-09");
}

#[tokio::test(start_paused = true)]
async fn a_result_that_was_refused_before_the_end_is_requested_again() {
    let (mut results, mut polls) = (0, 0);
    let (builder, _) = legacy(move |message| {
        if message["method"] == "tasks/result" {
            results += 1;
            return match results {
                1 => later(message),
                _ => Reply::result(message, &text("done")),
            };
        }
        polls += 1;
        match polls {
            1 => later(message),
            _ => Reply::result(message, &state("completed")),
        }
    });
    let client = builder.build().await.unwrap();
    let called = client.call_tool("must", ()).await.unwrap();
    assert_eq!(called.as_text(), Some("done"), "LTASK-B-06");
}

#[tokio::test(start_paused = true)]
async fn an_answer_from_before_the_error_of_a_forgotten_task_does_not_replace_it() {
    let (mut result, mut is_forgotten) = (Value::Null, false);
    let (builder, _) = legacy(move |message| match message["method"].as_str() {
        Some("tasks/result") if result.is_null() => {
            result = message.clone();
            Reply::nothing()
        }
        Some("tasks/get") if !is_forgotten => {
            is_forgotten = true;
            let error = json!({"code": -32000, "message": "boom"});
            let error = json!({"jsonrpc": "2.0", "id": result["id"], "error": error});
            Reply::Lines(vec![error.to_string(), answer(message, &state("working"))])
        }
        Some("notifications/cancelled") => Reply::nothing(),
        _ => Reply::error(message, &json!({"code": -32602, "message": "unknown"})),
    });
    let client = builder.build().await.unwrap();
    let error = client.call_tool("must", ()).await.unwrap_err();
    let code = error.as_refused().map(|it| it.code);
    assert_eq!(code, Some(-32000), "LTASK-B-06: {error}");
}

#[tokio::test(start_paused = true)]
async fn a_task_that_expires_while_the_server_fails_is_unknown() {
    // The first poll after the failure fails too, or finds that the task was deleted with its result.
    for (failed_polls, expected) in [(1, -32602), (0, -32603)] {
        let mut polls = 0;
        let (builder, _) = legacy(move |message| {
            if message["method"] == "tasks/result" {
                return later(message);
            }
            polls += 1;
            if polls <= failed_polls {
                return later(message);
            }
            Reply::error(message, &json!({"code": -32602, "message": "unknown"}))
        });
        let client = builder.build().await.unwrap();
        let error = client.call_tool("must", ()).await.unwrap_err();
        assert_eq!(error.as_refused().map(|it| it.code), Some(expected));
    }
}

//! The time that a call waits for its task.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use treenail::client::ClientError;

use super::{completed, modern, peer, result, state, until_received};
use crate::script::Reply;

#[tokio::test(start_paused = true)]
async fn a_task_without_an_outcome_is_given_up_after_its_ttl() {
    let (builder, received) = peer(|message| match message["method"].as_str() {
        Some("tools/call") => result(
            message,
            "task",
            &state("working", &json!({"ttlMs": 90_500})),
        ),
        Some("tasks/get") => result(
            message,
            "complete",
            &state("working", &json!({"ttlMs": 90_500})),
        ),
        _ => Reply::error(message, &json!({"code": -32601, "message": "no"})),
    });
    let client = builder.build().await.unwrap();
    let start = Instant::now();
    let error = client.call_tool("report", ()).await.unwrap_err();
    assert!(
        matches!(error, ClientError::Timeout(_)),
        "TASK-C-03: {error}"
    );
    assert_eq!(start.elapsed().as_millis(), 90_500, "TASK-C-03");
    until_received(&received, "tasks/cancel").await;
}

#[tokio::test(start_paused = true)]
async fn an_unreachable_server_is_given_up() {
    let (builder, _) =
        modern(|message| Reply::error(message, &json!({"code": -32603, "message": "store"})));
    let client = builder.build().await.unwrap();
    let start = Instant::now();
    let error = client.call_tool("report", ()).await.unwrap_err();
    assert_eq!(error.as_refused().map(|it| it.code), Some(-32603));
    let waited = start.elapsed();
    assert!(
        (Duration::from_secs(600)..Duration::from_secs(620)).contains(&waited),
        "{waited:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_timeout_of_the_call_includes_the_task() {
    let working = |message: &Value| result(message, "complete", &state("working", &json!({})));
    let (builder, received) = modern(working);
    let client = builder.build().await.unwrap();
    let start = Instant::now();
    let call = client
        .call_tool("report", ())
        .timeout(Duration::from_secs(5));
    let error = call.await.unwrap_err();
    assert!(matches!(error, ClientError::Timeout(_)), "{error}");
    assert_eq!(start.elapsed().as_secs(), 5);
    until_received(&received, "tasks/cancel").await;
}

#[tokio::test(start_paused = true)]
async fn the_default_timeout_does_not_include_the_task() {
    let mut polls = 0;
    let (builder, _) = modern(move |message| {
        polls += 1;
        let done = polls > 600;
        let state = if done {
            completed("done")
        } else {
            state("working", &json!({}))
        };
        result(message, "complete", &state)
    });
    let client = builder
        .request_timeout(Duration::from_secs(3))
        .build()
        .await
        .unwrap();
    let start = Instant::now();
    client.call_tool("report", ()).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 601);
}

//! Servers that violate the rules of tasks.

use std::time::Duration;

use serde_json::json;
use treenail::client::{ClientError, ClientLimits, TaskWaitLimits};

use super::{ID, Times, acknowledged, completed, modern, peer, pushed, result, state};
use crate::script::Reply;

#[tokio::test(start_paused = true)]
async fn states_of_other_tasks_are_ignored() {
    let mut other = completed("theirs");
    other["taskId"] = json!("other");
    let mut polls = 0;
    let (builder, _) = peer(move |message| match message["method"].as_str() {
        Some("subscriptions/listen") => Reply::Lines(vec![
            acknowledged(message, &[ID]),
            pushed(message, &other),
            pushed(message, &json!({"taskId": 7})),
        ]),
        Some("tasks/get") => {
            polls += 1;
            let state = if polls > 1 {
                completed("ours")
            } else {
                other.clone()
            };
            result(message, "complete", &state)
        }
        _ => result(message, "task", &state("working", &json!({}))),
    });
    let client = builder.build().await.unwrap();
    let called = client.call_tool("report", ()).await.unwrap();
    assert_eq!(called.as_text(), Some("ours"));
}

#[tokio::test(start_paused = true)]
async fn absurd_intervals_are_bounded() {
    for (interval, expected) in [(0, 100), (u64::MAX, 600_000)] {
        let times = Times::start();
        let noted = times.clone();
        let (builder, _) = peer(move |message| match message["method"].as_str() {
            Some("tools/call") => result(
                message,
                "task",
                &state("working", &json!({"pollIntervalMs": interval})),
            ),
            Some("tasks/get") => {
                noted.note();
                result(message, "complete", &completed("done"))
            }
            _ => Reply::Lines(vec![acknowledged(message, &[])]),
        });
        let client = builder.build().await.unwrap();
        client.call_tool("report", ()).await.unwrap();
        assert_eq!(times.all(), [expected], "{interval}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_endless_task_is_bounded() {
    let working = state("working", &json!({"ttlMs": 9_007_199_254_740_991_u64}));
    let (builder, _) = modern(move |message| result(message, "complete", &working));
    let wait = TaskWaitLimits::default().max_wait(Duration::from_secs(30));
    let client = builder
        .limits(ClientLimits::default().tasks(wait))
        .build()
        .await
        .unwrap();
    let error = client.call_tool("report", ()).await.unwrap_err();
    assert!(
        matches!(error, ClientError::Timeout(after) if after.as_secs() == 30),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_malformed_task_is_an_error() {
    let long = "x".repeat(5_000);
    for task in [
        json!({}),
        json!({"taskId": 7, "status": "working"}),
        json!({"taskId": "a", "status": "resting"}),
        json!({"taskId": long, "status": "working"}),
    ] {
        let (builder, _) = peer(move |message| result(message, "task", &task));
        let client = builder.build().await.unwrap();
        let error = client.call_tool("report", ()).await.unwrap_err();
        assert!(matches!(error, ClientError::Protocol(_)), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_ends_is_the_end_of_the_call() {
    let (builder, _) = modern(|_| Reply::Exit(String::new()));
    let client = builder.build().await.unwrap();
    let error = client.call_tool("report", ()).await.unwrap_err();
    assert!(matches!(error, ClientError::Closed(_)), "{error}");
}

#[tokio::test(start_paused = true)]
async fn subscriptions_are_bounded() {
    let (builder, received) = peer(|message| match message["method"].as_str() {
        Some("tools/call") => result(message, "task", &state("working", &json!({}))),
        Some("tasks/get") => result(message, "complete", &completed("done")),
        _ => Reply::Lines(vec![acknowledged(message, &[ID])]),
    });
    let wait = TaskWaitLimits::default().subscriptions(1);
    let client = builder
        .limits(ClientLimits::default().tasks(wait))
        .build()
        .await
        .unwrap();
    let (one, two) = tokio::join!(
        client.call_tool("report", ()).into_future(),
        client.call_tool("report", ()).into_future(),
    );
    assert_eq!(one.unwrap().as_text(), two.unwrap().as_text());
    let methods = received.methods();
    let listens = methods
        .iter()
        .filter(|method| *method == "subscriptions/listen");
    assert_eq!(listens.count(), 1);
}

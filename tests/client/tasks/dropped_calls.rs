//! Calls that are dropped, whose tasks are cancelled.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use serde_json::{Value, json};

use super::{ID, modern, peer, result, state, until_received};
use crate::script::{Reply, answer};

#[tokio::test(start_paused = true)]
async fn a_dropped_call_cancels_its_task() {
    let (builder, received) =
        modern(|message| result(message, "complete", &state("working", &json!({}))));
    let client = builder.build().await.unwrap();
    let call = tokio::time::timeout(
        Duration::from_secs(10),
        client.call_tool("report", ()).into_future(),
    );
    call.await.unwrap_err();
    until_received(&received, "tasks/cancel").await;
    let received = received.all();
    let call = received
        .iter()
        .find(|it| it["method"] == "tools/call")
        .unwrap();
    let cancels_call = |message: &&Value| {
        message["method"] == "notifications/cancelled"
            && message["params"]["requestId"] == call["id"]
    };
    assert_eq!(received.iter().find(cancels_call), None, "TASK-C-04");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_before_its_answer_cancels_the_task_that_the_answer_creates() {
    // The server has created the task before it reads the cancellation.
    let mut call = Value::Null;
    let (builder, received) = peer(move |message| match message["method"].as_str() {
        Some("tools/call") => {
            call = message.clone();
            Reply::nothing()
        }
        // It follows the cancellation.
        Some("tools/list") => {
            let mut created = state("working", &json!({}));
            created["resultType"] = json!("task");
            let listed =
                json!({"resultType": "complete", "tools": [], "ttlMs": 0, "cacheScope": "private"});
            Reply::Lines(vec![answer(&call, &created), answer(message, &listed)])
        }
        _ => Reply::result(message, &json!({"resultType": "complete"})),
    });
    let client = builder.build().await.unwrap();
    let call = client.call_tool("report", ()).into_future();
    tokio::time::timeout(Duration::from_secs(10), call)
        .await
        .unwrap_err();
    client.session().tools_list(None).await.unwrap();
    until_received(&received, "tasks/cancel").await;
    let methods = received.methods();
    assert!(methods.contains(&"notifications/cancelled".to_owned()));
    let cancelled = received.all().pop().unwrap();
    assert_eq!(cancelled["params"]["taskId"], ID, "TASK-C-04");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_a_dropped_call_has_not_read_cancels_its_task() {
    let (builder, received) =
        modern(|message| result(message, "complete", &state("working", &json!({}))));
    let client = builder.build().await.unwrap();
    let mut call = client.call_tool("report", ()).into_future();
    assert!(is_pending(&mut call).await);
    // The answer arrives, and the call is not polled again.
    until_received(&received, "tools/call").await;
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    drop(call);
    until_received(&received, "tasks/cancel").await;
    let methods = received.methods();
    assert!(
        !methods.iter().any(|it| it == "notifications/cancelled"),
        "{methods:?}"
    );
}

/// Polls a future once. Returns true if it is pending.
async fn is_pending<T>(future: &mut (impl Future<Output = T> + Unpin)) -> bool {
    poll_fn(|context| Poll::Ready(Pin::new(&mut *future).poll(context).is_pending())).await
}

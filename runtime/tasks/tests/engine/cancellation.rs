//! Cancellation of tasks (2026-07-28).

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use treenail::tasks::{MemoryStore, ServerTasks, Tasks};

use crate::failing_store::FailingStore;
use crate::peer::Peer;
use crate::works::{Works, limits, shared};

#[tokio::test(start_paused = true)]
async fn a_cancelled_task_stops_at_once() {
    let works = Works::default();
    let server = works.server(MemoryStore::new());
    let mut peer = Peer::modern(&server);
    let task = peer.task("gated", json!({})).await;
    let acknowledged = peer.result("tasks/cancel", json!({"taskId": task})).await;
    assert_eq!(acknowledged["resultType"], "complete", "TASK-S-22");
    assert!(acknowledged.get("taskId").is_none(), "TASK-S-22");
    let cancelled = peer.get(&task).await;
    assert_eq!(cancelled["status"], "cancelled", "XAMB-04");
    for member in ["result", "error", "inputRequests"] {
        assert!(cancelled.get(member).is_none(), "TASK-S-16: {cancelled}");
    }
    tokio::task::yield_now().await;
    assert_eq!(ServerTasks::of(&server).unwrap().running(), 0);
    assert_eq!(
        Arc::strong_count(&works.log),
        2,
        "the function has been dropped"
    );
    works.gate.add_permits(1);
    assert_eq!(
        peer.get(&task).await["status"],
        "cancelled",
        "TASK-S-11: it is final"
    );
    assert_eq!(works.notes(), ["begin"]);
}

#[tokio::test(start_paused = true)]
async fn a_finished_task_stays_as_it_is() {
    let server = Works::default().server(MemoryStore::new());
    let mut peer = Peer::modern(&server);
    let task = peer.task("slow", json!({"seconds": 1})).await;
    peer.end(&task).await;
    let acknowledged = peer.result("tasks/cancel", json!({"taskId": task})).await;
    assert_eq!(acknowledged["resultType"], "complete", "TASK-S-22");
    assert_eq!(peer.get(&task).await["status"], "completed", "TASK-S-11");
}

#[tokio::test(start_paused = true)]
async fn the_cancellation_of_the_request_does_not_cancel_the_task() {
    let works = Works::default();
    let server = works.server(MemoryStore::new());
    let mut peer = Peer::modern(&server);
    let task = peer.task("gated", json!({})).await;
    peer.notify("notifications/cancelled", json!({"requestId": 1}))
        .await;
    works.gate.add_permits(1);
    assert_eq!(peer.end(&task).await["status"], "completed", "TASK-C-04");
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_through_another_process_stops_the_task() {
    let (works, store) = (Works::default(), shared());
    let tasks = || Tasks::new().store(store.clone()).limits(limits());
    let (here, there) = (works.with(tasks()), works.with(tasks()));
    let task = Peer::modern(&here).task("gated", json!({})).await;
    let mut other = Peer::modern(&there);
    other.result("tasks/cancel", json!({"taskId": task})).await;
    assert_eq!(other.get(&task).await["status"], "cancelled", "TASK-S-22");
    while ServerTasks::of(&here).unwrap().running() > 0 {
        tokio::time::sleep(limits().watch_interval).await;
    }
    works.gate.add_permits(1);
    tokio::task::yield_now().await;
    assert_eq!(works.notes(), ["begin"]);
}

#[tokio::test(start_paused = true)]
async fn of_a_result_and_a_cancellation_the_first_counts() {
    for permits_first in [true, false] {
        let works = Works::default();
        let server = works.server(MemoryStore::new());
        let mut peer = Peer::modern(&server);
        let task = peer.task("gated", json!({})).await;
        if permits_first {
            works.gate.add_permits(1);
        }
        let id = peer.send("tasks/cancel", json!({"taskId": task})).await;
        works.gate.add_permits(1);
        let response = peer.response(id).await;
        assert_eq!(response["result"]["resultType"], "complete", "TASK-S-22");
        let status = peer.get(&task).await["status"].clone();
        assert!(status == "cancelled" || status == "completed", "{status}");
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        assert_eq!(peer.get(&task).await["status"], status, "TASK-S-11");
    }
}

#[tokio::test(start_paused = true)]
async fn a_waiting_question_ends_with_the_task() {
    let server = Works::default().server(MemoryStore::new());
    let mut peer = Peer::modern(&server);
    let task = peer.task("confirm", json!({})).await;
    peer.until(&task, &["input_required"]).await;
    peer.result("tasks/cancel", json!({"taskId": task})).await;
    let cancelled = peer.get(&task).await;
    assert_eq!(cancelled["status"], "cancelled");
    assert!(cancelled.get("inputRequests").is_none(), "TASK-S-16");
}

/// A call of `tool` is dropped while the record of its task is stored.
async fn dropped(tool: &str, drop_call: impl AsyncFnOnce(Peer) -> Option<Peer>) {
    let store = FailingStore::new(shared());
    let works = Works::default();
    let server = works.server(store.clone());
    let gate = store.hold();
    let mut peer = Peer::modern(&server);
    peer.send(
        "tools/call",
        json!({"name": tool, "arguments": {"seconds": 60}}),
    )
    .await;
    // The task of a tool without `always` is created after this time.
    while works.notes().is_empty() && tool == "slow" {
        tokio::task::yield_now().await;
    }
    tokio::time::advance(Duration::from_millis(500)).await;
    store.until_requested().await;
    let peer = drop_call(peer).await;
    gate.add_permits(1);
    store.until_removed().await;
    assert_eq!(ServerTasks::of(&server).unwrap().running(), 0, "{tool}");
    assert!(!works.notes().contains(&"end".to_owned()), "{tool}");
    drop(peer);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_cancelled_while_its_task_is_created_leaves_none() {
    for tool in ["gated", "slow"] {
        dropped(tool, async |mut peer| {
            peer.notify("notifications/cancelled", json!({"requestId": 1}))
                .await;
            // The response to a later request shows that the notification has been read.
            peer.result("server/discover", json!({})).await;
            Some(peer)
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_ends_while_a_task_is_created_leaves_none() {
    for tool in ["gated", "slow"] {
        dropped(tool, async |peer| {
            peer.abort().await;
            None
        })
        .await;
    }
}

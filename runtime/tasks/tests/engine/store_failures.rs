//! Failures of the store.

use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;
use treenail::tasks::{StoredTask, TaskStore, Tasks};

use crate::failing_store::FailingStore;
use crate::peer::Peer;
use crate::works::{Works, crash, limits, shared};

fn server(works: &Works) -> (treenail::Server, FailingStore) {
    let store = FailingStore::new(shared());
    let tasks = Tasks::new().store(store.clone()).limits(limits());
    (works.with(tasks), store)
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_task_cannot_be_created_continues_as_a_plain_one() {
    let works = Works::default();
    let (server, store) = server(&works);
    store.fail(true);
    let result = Peer::modern(&server)
        .call("slow", json!({"seconds": 9}))
        .await;
    assert_eq!(result["resultType"], "complete", "{result}");
    assert_eq!(works.notes(), ["slow"]);
}

#[tokio::test(start_paused = true)]
async fn the_older_form_gets_a_clear_error() {
    let works = Works::default();
    let (server, store) = server(&works);
    let (mut peer, _) = Peer::older(&server, "2025-11-25", None).await;
    store.fail(true);
    let params = json!({"name": "slow", "arguments": {"seconds": 1}, "task": {}});
    let response = peer.request("tools/call", params).await;
    assert_eq!(response["error"]["code"], -32_603);
    let message = response["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("task store") && !message.contains("route"),
        "{message}"
    );
    assert!(works.notes().is_empty(), "the function has not begun");
}

#[tokio::test(start_paused = true)]
async fn requests_for_a_task_fail_while_the_store_is_away() {
    let (server, store) = server(&Works::default());
    let mut peer = Peer::modern(&server);
    let task = peer.task("slow", json!({"seconds": 2})).await;
    store.fail(true);
    let response = peer.request("tasks/get", json!({"taskId": task})).await;
    assert_eq!(response["error"]["code"], -32_603, "TASK-S-29, Annex C");
    store.fail(false);
    assert_eq!(peer.end(&task).await["status"], "completed");
}

#[tokio::test(start_paused = true)]
async fn a_short_failure_delays_the_outcome_only() {
    let works = Works::default();
    let (server, store) = server(&works);
    let mut peer = Peer::modern(&server);
    let task = peer.task("gated", json!({})).await;
    store.fail(true);
    works.gate.add_permits(1);
    sleep(Duration::from_secs(1)).await;
    store.fail(false);
    assert_eq!(peer.end(&task).await["status"], "completed");
    assert_eq!(works.notes(), ["begin", "end"]);
}

#[tokio::test(start_paused = true)]
async fn a_damaged_record_is_an_honest_failure() {
    let (works, store) = (Works::default(), shared());
    let tasks = || Tasks::new().store(store.clone()).limits(limits());
    let server = works.with(tasks());
    let task = Peer::modern(&server).task("gated_again", json!({})).await;
    crash(server).await;
    let stored = store.get(&task.parse().unwrap()).await.unwrap().unwrap();
    for body in [&b"{"[..], br#"{"format":99}"#, b""] {
        let mut damaged = StoredTask::new(stored.id.clone(), "", stored.created_ms, body);
        let version = store.get(&stored.id).await.unwrap().unwrap().version;
        damaged.version = version + 1;
        assert!(store.replace(damaged, limits().lease).await.unwrap());
        let server = works.with(tasks());
        let mut peer = Peer::modern(&server);
        let failed = peer.get(&task).await;
        assert_eq!(failed["status"], "failed");
        let message = failed["statusMessage"].as_str().unwrap();
        assert!(message.contains("damaged"), "{message}");
        // The sweeper replaces it by a readable one.
        sleep(limits().lease * 2).await;
        assert_eq!(peer.get(&task).await["status"], "failed");
        crash(server).await;
    }
    assert_eq!(works.notes(), ["begin"]);
}

//! Failures of the store.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;
use treenail::tasks::{MemoryStore, StoredTask, TaskStore, Tasks};

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
async fn a_poll_reads_no_body() {
    let (server, store) = server(&Works::default());
    let (mut peer, mut older) = (
        Peer::modern(&server),
        Peer::older(&server, "2025-11-25", None).await.0,
    );
    let ended = peer.task("slow", json!({"seconds": 2})).await;
    let done = peer.end(&ended).await;
    let working = peer.task("gated", json!({})).await;
    store.hide_bodies();
    assert_eq!(peer.get(&ended).await, done);
    assert_eq!(peer.get(&working).await["status"], "working");
    for (task, status) in [(&ended, "completed"), (&working, "working")] {
        let response = older.request("tasks/get", json!({"taskId": task})).await;
        assert_eq!(response["result"]["status"], status, "{response}");
    }
}

/// Interrupts a task that cannot run again. Returns its record.
async fn interrupted(works: &Works, store: &Arc<MemoryStore>) -> StoredTask {
    let tasks = Tasks::new().store(Arc::clone(store)).limits(limits());
    let server = works.with(tasks);
    let task = Peer::modern(&server).task("gated_again", json!({})).await;
    crash(server).await;
    let stored = store.get(&task.parse().unwrap()).await;
    stored.unwrap().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_damaged_record_is_an_honest_failure() {
    let (works, store) = (Works::default(), shared());
    let stored = interrupted(&works, &store).await;
    let text = String::from_utf8(stored.state.clone()).unwrap();
    let body = &*stored.body;
    for (state, body) in [
        ("", &b"{"[..]),
        ("", br#"{"format":99}"#),
        ("", b""),
        ("{}", body),
        (&text[1..], body),
        (&text.replace("\"format\":1", "\"format\":2"), body),
        (&text.replace("\"task\":", "\"other\":"), body),
        (&text.replace(',', ",\n"), body),
        (&text.replace("\"task\":{", "\"task\":{\"task\":"), body),
        (r#"{"format":1,"task":{},"result":{}}"#, body),
        (r#"{"format":1,"task":[],"result":{}}"#, body),
    ] {
        let mut damaged = StoredTask::new(stored.id.clone(), "", stored.created_ms, body);
        let version = store.get(&stored.id).await.unwrap().unwrap().version;
        damaged.version = version + 1;
        damaged.state = state.into();
        assert!(store.replace(damaged, limits().lease).await.unwrap());
        let server = works.with(Tasks::new().store(Arc::clone(&store)).limits(limits()));
        let mut peer = Peer::modern(&server);
        let failed = peer.get(stored.id.as_str()).await;
        assert_eq!(failed["status"], "failed", "{state}");
        let message = failed["statusMessage"].as_str().unwrap();
        assert!(message.contains("damaged"), "{message}");
        // The sweeper replaces it by a readable one.
        sleep(limits().lease * 2).await;
        let failed = peer.get(stored.id.as_str()).await;
        assert_eq!(failed["status"], "failed", "{state}");
        crash(server).await;
    }
    assert_eq!(works.notes(), ["begin"]);
}

#[tokio::test(start_paused = true)]
async fn a_task_with_a_damaged_body_fails_once_it_is_due() {
    let (works, store) = (Works::default(), shared());
    let mut damaged = interrupted(&works, &store).await;
    damaged.version += 1;
    damaged.body.truncate(9);
    let id = damaged.id.clone();
    assert!(store.replace(damaged, limits().lease).await.unwrap());
    let server = works.with(Tasks::new().store(store).limits(limits()));
    let mut peer = Peer::modern(&server);
    assert_eq!(peer.get(id.as_str()).await["status"], "working");
    sleep(limits().lease * 2).await;
    let failed = peer.get(id.as_str()).await;
    assert_eq!(failed["status"], "failed");
    let message = failed["statusMessage"].as_str().unwrap();
    assert!(message.contains("damaged"), "{message}");
    assert_eq!(works.notes(), ["begin"]);
}

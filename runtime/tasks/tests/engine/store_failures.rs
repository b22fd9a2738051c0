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

/// Starts the second round of `book_late`, whose task is created while the function sleeps.
async fn second_round(peer: &mut Peer) -> u64 {
    let first = peer.call("book_late", json!({})).await;
    let answer = |name| json!({"action": "accept", "content": {"name": name}});
    let params = json!({
        "name": "book_late", "arguments": {}, "requestState": first["requestState"],
        "inputResponses": {"first": answer("A"), "second": answer("B")},
    });
    peer.send("tools/call", params).await
}

#[tokio::test(start_paused = true)]
async fn values_of_earlier_rounds_are_known_while_a_task_is_created() {
    let works = Works::default();
    let (server, store) = server(&works);
    let gate = store.hold();
    let mut peer = Peer::modern(&server);
    let id = second_round(&mut peer).await;
    sleep(Duration::from_millis(1_500)).await;
    gate.add_permits(1);
    // The function may have ended before its task was created.
    let response = peer.response(id).await;
    let mut done = response["result"].clone();
    if let Some(task) = done["taskId"].as_str() {
        done = peer.end(task).await["result"].clone();
    }
    assert_eq!(done["content"][0]["text"], "A B", "{done}");
    assert_eq!(works.notes(), ["reserve", "again 7"]);
}

#[tokio::test(start_paused = true)]
async fn values_of_earlier_rounds_are_known_if_no_task_can_be_created() {
    let works = Works::default();
    let (server, store) = server(&works);
    let gate = store.hold();
    let mut peer = Peer::modern(&server);
    let id = second_round(&mut peer).await;
    // The insertion waits for its permit.
    sleep(Duration::from_millis(750)).await;
    store.fail(true);
    gate.add_permits(1);
    let response = peer.response(id).await;
    let text = &response["result"]["content"][0]["text"];
    assert_eq!(text, "A B", "{response}");
    assert_eq!(works.notes(), ["reserve", "again 7"]);
}

#[tokio::test(start_paused = true)]
async fn values_of_a_plain_round_are_known_in_a_task() {
    let works = Works::default();
    let (server, store) = server(&works);
    store.fail(true);
    let mut peer = Peer::modern(&server);
    let first = peer.call("reserve", json!({})).await;
    assert_eq!(first["resultType"], "input_required", "{first}");
    store.fail(false);
    let answer = json!({"action": "accept", "content": {"name": "A"}});
    let params = json!({
        "name": "reserve", "arguments": {}, "requestState": first["requestState"],
        "inputResponses": {"name": answer},
    });
    let created = peer.result("tools/call", params).await;
    assert_eq!(created["resultType"], "task", "{created}");
    let done = peer.end(created["taskId"].as_str().unwrap()).await;
    assert_eq!(done["result"]["content"][0]["text"], "A 7", "{done}");
    assert_eq!(works.notes(), ["reserve"]);
}

#[tokio::test(start_paused = true)]
async fn an_insertion_without_a_confirmation_leaves_no_task() {
    let works = Works::default();
    let (server, store) = server(&works);
    let _other = works.with(Tasks::new().store(store.clone()).limits(limits()));
    store.lose_confirmations(true);
    let mut peer = Peer::modern(&server);
    let id = peer
        .send(
            "tools/call",
            json!({"name": "charge_again", "arguments": {}}),
        )
        .await;
    store.until_requested().await;
    store.fail(true);
    sleep(limits().sweep_interval).await;
    store.fail(false);
    sleep(limits().lease * 2).await;
    works.gate.add_permits(2);
    let response = peer.response(id).await;
    assert_eq!(response["result"]["resultType"], "complete", "{response}");
    assert_eq!(store.usage("").await.unwrap().tasks, 0);
    assert_eq!(works.notes(), ["pay"]);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_its_process_does_not_know_is_not_run_by_another_one() {
    let (works, shared) = (Works::default(), shared());
    let store = FailingStore::new(Arc::clone(&shared));
    let tasks = |store| Tasks::new().store(store).limits(limits());
    let here = works.with(tasks(store.clone()));
    let _other = works.with(tasks(FailingStore::new(Arc::clone(&shared))));
    store.lose_confirmations(true);
    let mut peer = Peer::modern(&here);
    let params = json!({"name": "charge", "arguments": {}});
    let id = peer.send("tools/call", params).await;
    while shared.usage("").await.unwrap().tasks == 0 {
        tokio::task::yield_now().await;
    }
    store.fail(true);
    sleep(limits().lease * 3).await;
    works.gate.add_permits(2);
    let response = peer.response(id).await;
    assert_eq!(response["result"]["resultType"], "complete", "{response}");
    assert_eq!(works.notes(), ["pay"]);
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
        ("", b""),
        ("{}", body),
        (&text[1..], body),
        (&text.replace("\"format\":1", "\"format\":0"), body),
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

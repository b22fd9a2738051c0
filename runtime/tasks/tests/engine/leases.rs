//! Leases of running tasks: who owns a task, and until when.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::yield_now;
use tokio::time::{Instant, sleep};
use treenail::elicit::RequestStateKey;
use treenail::tasks::{
    ExternalTasks, MemoryStore, ServerTasks, StoredTask, TaskLimits, TaskStore, TaskToken, Tasks,
};

use crate::failing_store::FailingStore;
use crate::peer::Peer;
use crate::works::{Works, crash, limits, shared};

fn tasks(store: impl TaskStore) -> Tasks {
    Tasks::new().store(store).limits(limits())
}

fn slow_store() -> (Arc<MemoryStore>, FailingStore) {
    let store = shared();
    (Arc::clone(&store), FailingStore::new(store))
}

async fn until_noted(works: &Works, notes: usize) {
    while works.notes().len() < notes {
        yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_that_does_not_change_does_not_replace_the_renewal() {
    let (works, store) = (Works::default(), shared());
    let (here, _other) = (works.with(tasks(store.clone())), works.with(tasks(store)));
    let mut peer = Peer::modern(&here);
    let task = peer.task("chatter", json!({})).await;
    assert_eq!(peer.end(&task).await["status"], "completed");
    assert_eq!(works.notes(), ["begin"]);
}

#[tokio::test(start_paused = true)]
async fn work_that_is_not_polled_does_not_end_the_lease() {
    let works = Works::default();
    let (store, slow) = slow_store();
    let (here, _other) = (works.with(tasks(slow.clone())), works.with(tasks(store)));
    let mut peer = Peer::modern(&here);
    slow.delay(Duration::from_secs(1));
    let task = peer.task("unpolled", json!({})).await;
    let done = peer.end(&task).await;
    assert_eq!(done["result"]["content"][0]["text"], "paid 9", "{done}");
    assert_eq!(works.notes(), ["begin", "pay"]);
}

#[tokio::test(start_paused = true)]
async fn a_renewal_and_a_cancellation_need_no_space() {
    let (works, store) = (Works::default(), shared());
    let server = works.with(tasks(store.clone()));
    let mut peer = Peer::modern(&server);
    let task = peer.task("gated", json!({})).await;
    let bytes = |task: &StoredTask| task.state.len() + task.body.len();
    let (created, _) = stored(&store, &task).await;
    sleep(limits().lease * 2).await;
    let (renewed, _) = stored(&store, &task).await;
    assert!(renewed.version > created.version);
    assert_eq!(bytes(&renewed), bytes(&created));
    peer.result("tasks/cancel", json!({"taskId": task})).await;
    let (cancelled, _) = stored(&store, &task).await;
    assert!(bytes(&cancelled) <= bytes(&renewed), "{cancelled:?}");
}

#[tokio::test(start_paused = true)]
async fn a_function_stops_with_its_lease_although_the_store_hangs() {
    let works = Works::default();
    let (_, slow) = slow_store();
    let server = works.with(tasks(slow.clone()));
    let mut peer = Peer::modern(&server);
    let since = Instant::now();
    peer.task("gated", json!({})).await;
    until_noted(&works, 1).await;
    slow.delay(Duration::from_secs(1_000));
    while ServerTasks::of(&server).unwrap().running() > 0 {
        sleep(Duration::from_millis(10)).await;
    }
    let (took, lease) = (since.elapsed(), limits().lease);
    assert!(took >= lease && took < lease * 2, "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_run_stops_at_once_although_the_store_hangs() {
    let works = Works::default();
    let (_, slow) = slow_store();
    let server = works.with(tasks(slow.clone()));
    Peer::modern(&server).task("gated", json!({})).await;
    until_noted(&works, 1).await;
    slow.delay(Duration::from_secs(1_000));
    // The first renewal hangs.
    sleep(limits().lease / 2).await;
    let since = Instant::now();
    crash(server).await;
    assert!(since.elapsed() < Duration::from_millis(100));
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_dropped_while_it_is_stored_is_withdrawn() {
    let works = Works::default();
    let (_, slow) = slow_store();
    let server = works.with(tasks(slow.clone()));
    let mut peer = Peer::modern(&server);
    slow.delay(Duration::from_secs(1));
    let task = peer.task("impatient", json!({})).await;
    sleep(Duration::from_secs(5)).await;
    let state = peer.get(&task).await;
    assert_eq!(state["status"], "working", "{state}");
    works.gate.add_permits(1);
    let done = peer.end(&task).await;
    assert_eq!(done["result"]["content"][0]["text"], "nobody", "{done}");
}

#[tokio::test(start_paused = true)]
async fn a_release_does_not_repeat_work_that_may_have_happened() {
    let (works, store) = (Works::default(), shared());
    let server = works.with(tasks(store.clone()));
    let task = Peer::modern(&server).task("charge", json!({})).await;
    until_noted(&works, 1).await;
    ServerTasks::of(&server).unwrap().release().await;
    let server = works.with(tasks(store));
    works.gate.add_permits(1);
    let failed = Peer::modern(&server).end(&task).await;
    let expected = "interrupted by a restart while `once(\"pay\")` ran; it may have happened";
    assert_eq!(failed["statusMessage"], expected);
    assert_eq!(works.notes(), ["pay"]);
}

#[tokio::test(start_paused = true)]
async fn a_released_task_whose_token_was_not_passed_on_fails_as_interrupted() {
    let (works, store) = (Works::default(), shared());
    let tasks = || tasks(store.clone()).token_key(RequestStateKey::new([7; 32]));
    let server = works.with(tasks());
    let task = Peer::modern(&server).task("outside_later", json!({})).await;
    until_noted(&works, 1).await;
    ServerTasks::of(&server).unwrap().release().await;
    let server = works.with(tasks());
    let mut peer = Peer::modern(&server);
    sleep(limits().lease * 2).await;
    let failed = peer.get(&task).await;
    assert_eq!(failed["statusMessage"], "interrupted by a restart");
}

async fn stored(store: &MemoryStore, task: &str) -> (StoredTask, Value) {
    let task = store.get(&task.parse().unwrap()).await;
    let task = task.unwrap().unwrap();
    let body = serde_json::from_slice(&task.body).unwrap();
    (task, body)
}

#[tokio::test(start_paused = true)]
async fn a_release_does_not_touch_a_task_that_another_process_owns() {
    let (works, store) = (Works::default(), shared());
    let server = works.with(tasks(store.clone()));
    let id = Peer::modern(&server).task("gated_again", json!({})).await;
    let (mut task, mut body) = stored(&store, &id).await;
    body["run"] = json!("another");
    task.version += 1;
    task.body = serde_json::to_vec(&body).unwrap();
    assert!(store.replace(task.clone(), limits().lease).await.unwrap());
    ServerTasks::of(&server).unwrap().release().await;
    let (now, body) = stored(&store, &id).await;
    assert_eq!(
        (now.version, &body["run"]),
        (task.version, &json!("another"))
    );
}

#[tokio::test(start_paused = true)]
async fn another_process_keeps_the_lease_of_the_run() {
    let (works, store) = (Works::default(), shared());
    let limits = TaskLimits::default().lease(Duration::from_secs(600));
    let tasks = || {
        let tasks = Tasks::new().store(store.clone()).limits(limits.clone());
        tasks.token_key(RequestStateKey::new([7; 32]))
    };
    let (here, _other) = (works.with(tasks()), works.with(tasks()));
    let mut peer = Peer::modern(&here);
    let task = peer.task("outside_later", json!({})).await;
    until_noted(&works, 1).await;
    let outside = ExternalTasks::new(store.clone(), RequestStateKey::new([7; 32]));
    let token = TaskToken::from(works.notes().remove(0));
    outside.report(&token, "early").await.unwrap();
    sleep(Duration::from_secs(100)).await;
    let state = peer.get(&task).await;
    assert_eq!(state["status"], "working", "{state}");
    assert_eq!(state["statusMessage"], "early");
}

/// Starts a task that may run again, and crashes. Its lease ends.
async fn interrupt(works: &Works, tasks: Tasks) -> String {
    let server = works.with(tasks);
    let task = Peer::modern(&server).task("gated_again", json!({})).await;
    until_noted(works, 1).await;
    crash(server).await;
    sleep(limits().lease).await;
    task
}

#[tokio::test(start_paused = true)]
async fn a_task_has_a_place_before_it_is_claimed() {
    let works = Works::default();
    let (store, slow) = slow_store();
    let limits = limits().attempts(2);
    let tasks = Tasks::new().store(store).limits(limits.clone());
    let task = interrupt(&works, tasks).await;
    slow.delay(Duration::from_millis(500));
    let tasks = Tasks::new().store(slow).limits(limits.clone().running(1));
    let server = works.with(tasks);
    let mut peer = Peer::modern(&server);
    // The first search claims the task.
    sleep(Duration::from_millis(100)).await;
    let call = json!({"name": "gated", "arguments": {}});
    peer.send("tools/call", call).await;
    sleep(limits.lease * 2).await;
    works.gate.add_permits(2);
    let done = peer.end(&task).await;
    assert_eq!(done["result"]["content"][0]["text"], "through", "{done}");
    let begun = works.notes();
    let begun = begun.iter().filter(|note| *note == "begin");
    assert_eq!(begun.count(), 3, "the task has run twice");
}

#[tokio::test(start_paused = true)]
async fn a_release_leaves_a_task_that_is_being_claimed() {
    let works = Works::default();
    let (store, slow) = slow_store();
    let task = interrupt(&works, tasks(store.clone())).await;
    slow.delay(Duration::from_millis(500));
    let server = works.with(tasks(slow.clone()));
    // The first search claims the task.
    sleep(Duration::from_millis(100)).await;
    ServerTasks::of(&server).unwrap().release().await;
    let (released, _) = stored(&store, &task).await;
    drop(server);
    let since = Instant::now();
    let server = works.with(tasks(store));
    works.gate.add_permits(1);
    let done = Peer::modern(&server).end(&task).await;
    assert_eq!(done["status"], "completed", "{done}");
    let took = since.elapsed();
    assert!(
        took < limits().lease,
        "version {}: {took:?}",
        released.version
    );
}

//! Tasks of a server that crashes, in a store that survives.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use treenail::prelude::*;
use treenail::tasks::{MemoryStore, ServerTasks, TaskStore, Tasks};

use crate::peer::Peer;
use crate::works::{Works, crash, limits, shared};

fn tasks(store: &Arc<MemoryStore>) -> Tasks {
    Tasks::new().store(store.clone()).limits(limits())
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_is_safe_to_repeat_runs_again() {
    let (works, store) = (Works::default(), shared());
    let server = works.with(tasks(&store));
    let task = Peer::modern(&server).task("gated_again", json!({})).await;
    crash(server).await;
    let server = works.with(tasks(&store));
    let mut peer = Peer::modern(&server);
    assert_eq!(peer.get(&task).await["status"], "working", "TASK-S-07");
    works.gate.add_permits(1);
    let done = peer.end(&task).await;
    assert_eq!(done["result"]["content"][0]["text"], "through", "TASK-B-05");
    assert_eq!(works.notes(), ["begin", "begin", "end"]);
}

#[tokio::test(start_paused = true)]
async fn any_other_tool_fails_as_interrupted() {
    let (works, store) = (Works::default(), shared());
    let server = works.with(tasks(&store));
    let task = Peer::modern(&server).task("gated", json!({})).await;
    crash(server).await;
    let server = works.with(tasks(&store));
    works.gate.add_permits(1);
    let failed = Peer::modern(&server).end(&task).await;
    assert_eq!(failed["status"], "failed", "TASK-B-05");
    assert_eq!(
        failed["statusMessage"], "interrupted by a restart",
        "TASK-S-13"
    );
    assert_eq!(works.notes(), ["begin"]);
}

#[tokio::test(start_paused = true)]
async fn the_number_of_attempts_is_bounded() {
    let (works, store) = (Works::default(), shared());
    let mut server = works.with(tasks(&store));
    let task = Peer::modern(&server).task("gated_again", json!({})).await;
    for _ in 0..2 {
        crash(server).await;
        let begun = works.notes().len();
        server = works.with(tasks(&store));
        while works.notes().len() == begun {
            tokio::time::sleep(limits().sweep_interval).await;
        }
    }
    crash(server).await;
    let server = works.with(tasks(&store));
    let failed = Peer::modern(&server).end(&task).await;
    assert_eq!(failed["statusMessage"], "interrupted by a restart 3 times");
    assert_eq!(works.notes().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn answers_and_values_of_earlier_runs_are_not_obtained_again() {
    let (works, store) = (Works::default(), shared());
    let server = works.with(tasks(&store));
    let mut peer = Peer::modern(&server);
    let first = peer.call("book", json!({})).await;
    let key = first["inputRequests"]
        .as_object()
        .unwrap()
        .keys()
        .next()
        .unwrap();
    let answer = json!({"action": "accept", "content": {"name": "Alice"}});
    let params = json!({
        "name": "book", "arguments": {},
        "requestState": first["requestState"], "inputResponses": {key: answer},
    });
    let created = peer.result("tools/call", params).await;
    let task = created["taskId"].as_str().unwrap();
    let asking = peer.until(task, &["input_required"]).await;
    crash(server).await;

    let server = works.with(tasks(&store));
    let mut peer = Peer::modern(&server);
    // The question is open while no process runs the task, and its answer is not lost.
    let still = peer.get(task).await;
    assert_eq!(still["inputRequests"], asking["inputRequests"], "TASK-S-21");
    let key = still["inputRequests"]
        .as_object()
        .unwrap()
        .keys()
        .next()
        .unwrap();
    peer.update(task, key, json!({"name": "12"})).await;
    let done = peer.end(task).await;
    assert_eq!(
        done["result"]["content"][0]["text"], "Alice 7 9 12",
        "{done}"
    );
    assert_eq!(works.notes(), ["reserve", "pay"]);
}

#[tokio::test(start_paused = true)]
async fn a_question_survives_a_restart_and_is_answered_after_it() {
    let (works, store) = (Works::default(), shared());
    let server = works.with(tasks(&store));
    let mut peer = Peer::modern(&server);
    let task = peer.task("ask_safely", json!({})).await;
    let asking = peer.until(&task, &["input_required"]).await;
    crash(server).await;
    let server = works.with(tasks(&store));
    let mut peer = Peer::modern(&server);
    while ServerTasks::of(&server).unwrap().running() == 0 {
        tokio::time::sleep(limits().sweep_interval).await;
    }
    tokio::time::sleep(limits().lease * 3).await;
    let again = peer.until(&task, &["input_required"]).await;
    assert_eq!(
        again["inputRequests"], asking["inputRequests"],
        "TASK-S-21: the same key"
    );
    let key = again["inputRequests"]
        .as_object()
        .unwrap()
        .keys()
        .next()
        .unwrap();
    peer.update(&task, key, json!({"name": "Bo"})).await;
    let done = peer.end(&task).await;
    assert_eq!(done["result"]["content"][0]["text"], "Hello, Bo!");
}

#[tokio::test(start_paused = true)]
async fn work_that_may_have_happened_fails_the_task() {
    let (works, store) = (Works::default(), shared());
    let server = works.with(tasks(&store));
    let task = Peer::modern(&server).task("charge", json!({})).await;
    while works.notes().is_empty() {
        tokio::task::yield_now().await;
    }
    crash(server).await;
    let server = works.with(tasks(&store));
    works.gate.add_permits(1);
    let failed = Peer::modern(&server).end(&task).await;
    assert_eq!(failed["status"], "failed");
    let expected = "interrupted by a restart while `once(\"pay\")` ran; it may have happened";
    assert_eq!(failed["statusMessage"], expected);
    assert_eq!(works.notes(), ["pay"], "it has not run twice");
}

#[tokio::test(start_paused = true)]
async fn work_that_is_safe_to_repeat_runs_again() {
    let (works, store) = (Works::default(), shared());
    let server = works.with(tasks(&store));
    let task = Peer::modern(&server).task("charge_again", json!({})).await;
    while works.notes().is_empty() {
        tokio::task::yield_now().await;
    }
    crash(server).await;
    let server = works.with(tasks(&store));
    works.gate.add_permits(1);
    let done = Peer::modern(&server).end(&task).await;
    assert_eq!(done["result"]["content"][0]["text"], "paid 9");
    assert_eq!(works.notes(), ["pay", "pay"]);
}

#[tokio::test(start_paused = true)]
async fn released_tasks_continue_without_a_wait() {
    let (works, store) = (Works::default(), shared());
    let server = works.with(tasks(&store));
    let task = Peer::modern(&server).task("gated_again", json!({})).await;
    ServerTasks::of(&server).unwrap().release().await;
    drop(server);
    let other = works.with(tasks(&store));
    works.gate.add_permits(1);
    let before = tokio::time::Instant::now();
    let done = Peer::modern(&other).end(&task).await;
    assert_eq!(done["status"], "completed");
    assert!(before.elapsed() < limits().lease, "the lease was released");
}

#[tokio::test(start_paused = true)]
async fn tasks_that_wait_for_a_process_do_not_delay_the_deletion_of_others() {
    let (works, store) = (Works::default(), shared());
    let server = works.with(tasks(&store));
    let mut peer = Peer::modern(&server);
    let short = peer.task("short", json!({"seconds": 1})).await;
    peer.end(&short).await;
    for _ in 0..70 {
        peer.task("gated_again", json!({})).await;
    }
    crash(server).await;
    let limits = limits().running(1);
    let server = works.with(Tasks::new().store(store.clone()).limits(limits));
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(ServerTasks::of(&server).unwrap().running(), 1);
    assert_eq!(store.usage("").await.unwrap().tasks, 70);
}

#[test]
fn a_server_is_released_although_its_tasks_have_not_ended() {
    let store = shared();
    let released = Arc::downgrade(&store);
    let builder = &mut tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async move {
        let server = Works::default().with(tasks(&store));
        Peer::modern(&server).task("gated", json!({})).await;
    });
    drop(runtime);
    assert!(released.upgrade().is_none(), "the server holds its store");
}

struct Other;

#[mcp_tool]
impl Other {
    #[tool(idempotent, task(always))]
    async fn change(&self, number: u8) -> String {
        std::future::pending::<()>().await;
        number.to_string()
    }
}

struct Changed;

#[mcp_tool]
impl Changed {
    #[tool(idempotent, task(always))]
    async fn change(&self, number: u8, unit: String) -> String {
        format!("{number} {unit}")
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_an_edit_adds_after_the_start_continues_its_task() {
    for is_late in [false, true] {
        let (works, store) = (Works::default(), shared());
        let server = works.with(tasks(&store));
        let task = Peer::modern(&server).task("gated_again", json!({})).await;
        crash(server).await;
        let builder = Server::builder("works", "1.0.0").dynamic();
        let server = builder.extension(tasks(&store)).build().unwrap();
        let wait = if is_late { 2 } else { 1 } * limits().lease;
        // The task is due after its lease, and its tool is awaited for another one at most.
        tokio::time::sleep(wait.saturating_sub(limits().sweep_interval / 2)).await;
        server.edit(|edit| edit.mount(works.clone())).unwrap();
        works.gate.add_permits(1);
        let end = Peer::modern(&server).end(&task).await;
        if is_late {
            let message = end["statusMessage"].as_str().unwrap();
            assert!(message.contains("does not exist"), "{message}");
        } else {
            assert_eq!(end["result"]["content"][0]["text"], "through");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_removed_or_changed_tool_ends_its_task_with_the_reason() {
    let removed = Server::builder("works", "1.0.0");
    let changed = Server::builder("works", "1.0.0").mount(Changed);
    for (next, reason) in [(removed, "does not exist"), (changed, "unit")] {
        let store = shared();
        let builder = Server::builder("works", "1.0.0").mount(Other);
        let server = builder.extension(tasks(&store)).build().unwrap();
        let task = Peer::modern(&server)
            .task("change", json!({"number": 7}))
            .await;
        crash(server).await;
        let server = next.extension(tasks(&store)).build().unwrap();
        let failed = Peer::modern(&server).end(&task).await;
        let message = failed["statusMessage"].as_str().unwrap();
        assert!(message.contains(reason), "{message}");
    }
}

//! Limits of tasks.

use serde_json::json;
use treenail::tasks::{ServerTasks, TaskStore, Tasks};

use crate::failing_store::FailingStore;
use crate::peer::Peer;
use crate::works::{Works, limits, shared};

#[tokio::test(start_paused = true)]
async fn a_task_beyond_those_of_its_owner_is_a_plain_call() {
    let works = Works::default();
    let server = works.with(Tasks::new().limits(limits().tasks_per_owner(1)));
    let mut alice = Peer::of(&server, "alice");
    alice.task("gated", json!({})).await;
    let id = alice
        .send("tools/call", json!({"name": "gated", "arguments": {}}))
        .await;
    Peer::of(&server, "bob").task("gated", json!({})).await;
    works.gate.add_permits(3);
    let response = alice.response(id).await;
    assert_eq!(response["result"]["resultType"], "complete", "{response}");
    let (mut older, _) = Peer::older(&server, "2025-11-25", Some("alice")).await;
    let params = json!({"name": "gated", "arguments": {}, "task": {}});
    assert_eq!(
        older.code("tools/call", params).await,
        -32_603,
        "LTASK-B-16"
    );
}

#[tokio::test(start_paused = true)]
async fn concurrent_calls_do_not_exceed_the_tasks_of_an_owner() {
    let (works, store) = (Works::default(), FailingStore::new(shared()));
    let held = store.hold();
    let tasks = Tasks::new().store(store.clone());
    let server = works.with(tasks.limits(limits().tasks_per_owner(2)));
    let mut peer = Peer::of(&server, "alice");
    let call = || json!({"name": "gated", "arguments": {}});
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(peer.send("tools/call", call()).await);
    }
    // Those that are refused run at once, while the others wait for the store.
    while works.notes().len() < 3 {
        tokio::task::yield_now().await;
    }
    held.add_permits(5);
    works.gate.add_permits(5);
    let mut kinds = Vec::new();
    for id in ids {
        let response = peer.response(id).await;
        kinds.push(response["result"]["resultType"].as_str().map(str::to_owned));
    }
    kinds.sort();
    let kinds: Vec<_> = kinds.iter().flatten().collect();
    assert_eq!(kinds, ["complete", "complete", "complete", "task", "task"]);
    assert_eq!(store.usage("alice").await.unwrap().tasks, 2);
}

#[tokio::test(start_paused = true)]
async fn a_task_beyond_those_of_the_process_is_a_plain_call() {
    let works = Works::default();
    let server = works.with(Tasks::new().limits(limits().running(1)));
    let mut peer = Peer::modern(&server);
    let task = peer.task("gated", json!({})).await;
    let result = peer.call("slow", json!({"seconds": 5})).await;
    assert_eq!(result["resultType"], "complete");
    works.gate.add_permits(1);
    peer.end(&task).await;
    peer.task("slow", json!({"seconds": 5})).await;
}

#[tokio::test(start_paused = true)]
async fn a_result_that_is_too_large_fails_the_task() {
    let server = Works::default().with(Tasks::new().limits(limits().result_bytes(10_000)));
    let mut peer = Peer::modern(&server);
    let task = peer.task("large", json!({"bytes": 20_000})).await;
    let failed = peer.end(&task).await;
    assert_eq!(failed["status"], "failed");
    let message = failed["statusMessage"].as_str().unwrap();
    assert!(message.contains("10000"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn questions_and_waiting_tasks_are_bounded() {
    for (limits, tool) in [
        (limits().questions(1), "two"),
        (limits().questions_in_all(1), "two"),
        (limits().waiting(0), "confirm"),
        (limits().journal_bytes(10), "confirm"),
    ] {
        let server = Works::default().with(Tasks::new().limits(limits));
        let mut peer = Peer::modern(&server);
        let task = peer.task(tool, json!({})).await;
        let done = peer.end(&task).await;
        assert_eq!(done["result"]["isError"], true, "{done}");
        assert_eq!(ServerTasks::of(&server).unwrap().running(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn one_owner_leaves_places_for_the_questions_of_others() {
    let server = Works::default().with(Tasks::new().limits(limits().waiting(8)));
    let (mut alice, mut bob) = (Peer::of(&server, "alice"), Peer::of(&server, "bob"));
    for _ in 0..2 {
        // The questions of a task share a place.
        let task = alice.task("two", json!({})).await;
        alice.until(&task, &["input_required"]).await;
    }
    let task = alice.task("confirm", json!({})).await;
    let refused = alice.end(&task).await;
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    let text = refused["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("too many tasks of this caller"), "{text}");
    let task = bob.task("confirm", json!({})).await;
    bob.until(&task, &["input_required"]).await;
}

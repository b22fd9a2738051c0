//! Tasks in a format of a newer version of the server.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;
use treenail::tasks::{MemoryStore, StoredTask, TaskId, TaskStore as _, Tasks};

use crate::peer::Peer;
use crate::works::{Works, limits, shared};

/// Record of a format that this program does not know.
const NEWER: &str = r#"{"other":[],"format":2}"#;
const REASON: &str = "the task belongs to a newer version of the server";
/// More than one search returns.
const MANY: usize = 1_030;

fn newer(state: &str, body: &str) -> StoredTask {
    let mut task = StoredTask::new(TaskId::random().unwrap(), "", 1, body);
    task.state = state.into();
    task
}

fn server(works: &Works, store: &Arc<MemoryStore>) -> treenail::Server {
    let limits = limits().tasks_per_owner(2 * MANY);
    let tasks = Tasks::new().store(Arc::clone(store)).limits(limits);
    works.with(tasks.enable_list())
}

#[tokio::test(start_paused = true)]
async fn a_task_of_a_newer_version_is_left_alone() {
    let (works, store) = (Works::default(), shared());
    let server = server(&works, &store);
    let mut peer = Peer::modern(&server);
    let ended = peer.task("slow", json!({"seconds": 2})).await;
    peer.end(&ended).await;
    let known = store.get(&ended.parse().unwrap()).await.unwrap().unwrap();
    let [state, body] = [&known.state, &known.body].map(|part| std::str::from_utf8(part).unwrap());
    let [newer_state, newer_body] =
        [state, body].map(|part| part.replace("\"format\":1", "\"format\":2"));
    for (state, body) in [
        (NEWER, NEWER),
        (&newer_state, &newer_body),
        (&newer_state, body),
        (state, &newer_body),
        ("{", NEWER),
    ] {
        let task = newer(state, body);
        store.insert(task.clone(), Duration::ZERO).await.unwrap();
        sleep(limits().lease * 2).await;
        assert_eq!(store.get(&task.id).await, Ok(Some(task.clone())));
        let id = task.id.as_str();
        let cancel = peer.request("tasks/cancel", json!({"taskId": id})).await;
        assert_eq!(cancel["error"]["message"], REASON, "{cancel}");
        assert_eq!(store.get(&task.id).await, Ok(Some(task)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_of_a_newer_version_is_an_error_for_its_request_only() {
    let (works, store) = (Works::default(), shared());
    let server = server(&works, &store);
    let task = newer(NEWER, NEWER);
    store.insert(task.clone(), Duration::ZERO).await.unwrap();
    let (mut peer, mut older) = (
        Peer::modern(&server),
        Peer::older(&server, "2025-11-25", None).await.0,
    );
    let other = peer.task("gated", json!({})).await;
    let params = json!({"taskId": task.id.as_str()});
    for peer in [&mut peer, &mut older] {
        let refused = peer.request("tasks/get", params.clone()).await;
        assert_eq!(refused["error"]["code"], -32_603);
        assert_eq!(refused["error"]["message"], REASON);
    }
    let listed = older.result("tasks/list", json!({})).await;
    assert_eq!(listed["tasks"].as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(listed["tasks"][0]["taskId"], *other);
}

#[tokio::test(start_paused = true)]
async fn tasks_of_a_newer_version_hide_no_expired_one() {
    let (works, store) = (Works::default(), shared());
    let mut tasks = Vec::new();
    for _ in 0..MANY {
        tasks.push(newer(NEWER, NEWER));
        let inserted = store.insert(tasks[tasks.len() - 1].clone(), Duration::ZERO);
        inserted.await.unwrap();
    }
    let server = server(&works, &store);
    let mut peer = Peer::modern(&server);
    let expiring = peer.task("short", json!({"seconds": 0})).await;
    peer.end(&expiring).await;
    sleep(Duration::from_secs(20)).await;
    let left = store.usage("").await.unwrap().tasks;
    assert_eq!(left, MANY as u64, "the expired task is deleted");
    for task in tasks {
        let found = store.get(&task.id).await.unwrap().unwrap();
        assert_eq!((found.state, found.body), (task.state, task.body));
    }
}

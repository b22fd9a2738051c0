//! Owners of tasks.

use serde_json::json;
use treenail::tasks::{MemoryStore, Tasks};

use crate::peer::Peer;
use crate::works::Works;

#[tokio::test(start_paused = true)]
async fn a_foreign_id_is_answered_as_an_unknown_one() {
    let server = Works::default().server(MemoryStore::new());
    let mut alice = Peer::of(&server, "alice");
    let task = alice.task("two", json!({})).await;
    alice.until(&task, &["input_required"]).await;
    let strangers = [Peer::of(&server, "bob"), Peer::modern(&server)];
    for mut stranger in strangers {
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let params = |id: &str| json!({"taskId": id, "inputResponses": {"first": {"action": "decline"}}});
            let foreign = stranger.request(method, params(&task)).await;
            let unknown = stranger
                .request(method, params("AAAAAAAAAAAAAAAAAAAAAA"))
                .await;
            assert_eq!(foreign["error"]["code"], -32_602, "TASK-S-32: {method}");
            assert_eq!(foreign["error"], unknown["error"], "TASK-S-32: {method}");
        }
    }
    assert_eq!(
        alice.get(&task).await["status"],
        "input_required",
        "TASK-S-32"
    );
    alice.update(&task, "first", json!({"name": "A"})).await;
    alice.update(&task, "second", json!({"name": "B"})).await;
    assert_eq!(alice.end(&task).await["status"], "completed");
}

#[tokio::test(start_paused = true)]
async fn a_task_without_an_owner_is_foreign_for_a_principal() {
    let server = Works::default().server(MemoryStore::new());
    let task = Peer::modern(&server).task("gated", json!({})).await;
    let code = Peer::of(&server, "alice")
        .code("tasks/get", json!({"taskId": task}))
        .await;
    assert_eq!(code, -32_602, "TASK-S-32");
}

#[tokio::test(start_paused = true)]
async fn the_older_form_separates_owners_too() {
    let tasks = Tasks::new().enable_list();
    let server = Works::default().with(tasks);
    let (mut alice, _) = Peer::older(&server, "2025-11-25", Some("alice")).await;
    let (mut bob, _) = Peer::older(&server, "2025-11-25", Some("bob")).await;
    let params = json!({"name": "gated", "arguments": {}, "task": {}});
    let created = alice.result("tools/call", params).await;
    let task = &created["task"]["taskId"];
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        let code = bob.code(method, json!({"taskId": task})).await;
        assert_eq!(code, -32_602, "LTASK-B-14: {method}");
    }
    assert_eq!(
        bob.result("tasks/list", json!({})).await["tasks"],
        json!([]),
        "LTASK-B-14"
    );
    let listed = alice.result("tasks/list", json!({})).await;
    assert_eq!(&listed["tasks"][0]["taskId"], task, "LTASK-B-09");
}

//! Tasks of revision 2025-11-25.

use std::sync::Arc;

use serde_json::{Value, json};
use treenail::tasks::{MemoryStore, TaskStore, Tasks};

use crate::failing_store::FailingStore;
use crate::peer::Peer;
use crate::works::{Works, limits, shared};

const RELATED: &str = "io.modelcontextprotocol/related-task";

pub(crate) async fn connect(works: &Works) -> (Peer, Value) {
    let server = works.server(MemoryStore::new());
    Peer::older(&server, "2025-11-25", None).await
}

async fn create(peer: &mut Peer, tool: &str) -> Value {
    let params = json!({"name": tool, "arguments": {}, "task": {"ttl": 60_000}});
    peer.result("tools/call", params).await["task"].clone()
}

async fn until(peer: &mut Peer, task: &Value, status: &str) -> Value {
    for _ in 0..100 {
        let state = peer.result("tasks/get", json!({"taskId": task})).await;
        if state["status"] == status {
            return state;
        }
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    }
    panic!("the task never became {status}");
}

#[tokio::test(start_paused = true)]
async fn an_augmented_call_is_a_task_from_its_start() {
    let works = Works::default();
    let (mut peer, _) = connect(&works).await;
    // The declaration of the extension enables nothing here.
    let plain = peer.call("slow", json!({"seconds": 9})).await;
    assert!(plain.get("content").is_some(), "TASK-S-34: {plain}");
    let params = json!({"name": "slow", "arguments": {"seconds": 0}, "task": {"ttl": 70_000}});
    let created = peer.result("tools/call", params).await;
    let task = &created["task"];
    assert_eq!(task["status"], "working", "LTASK-B-03");
    assert!(task["taskId"].as_str().unwrap().len() == 22, "LTASK-B-03");
    assert!(task["ttl"].as_u64().is_some(), "LTASK-B-04");
    assert!(task["pollInterval"].as_u64().is_some(), "LTASK-B-03");
    for key in ["ttlMs", "pollIntervalMs", "resultType"] {
        assert!(
            task.get(key).is_none() && created.get(key).is_none(),
            "LTASK-B-03: {created}"
        );
    }
    let done = until(&mut peer, &task["taskId"], "completed").await;
    assert!(done.get("result").is_none(), "LTASK-B-05: {done}");
    assert!(
        done["ttl"].as_u64().unwrap() < 100_000,
        "LTASK-B-04: {done}"
    );
    assert!(done.get("_meta").is_none(), "LTASK-B-07");
}

#[tokio::test(start_paused = true)]
async fn the_result_is_that_of_the_call_with_the_related_task() {
    let (mut peer, _) = connect(&Works::default()).await;
    let params = json!({"name": "slow", "arguments": {"seconds": 5}, "task": {}});
    let created = peer.result("tools/call", params).await;
    let task = &created["task"]["taskId"];
    // LTASK-B-06: it waits.
    let result = peer.result("tasks/result", json!({"taskId": task})).await;
    assert_eq!(result["content"][0]["text"], "slept 5 s", "LTASK-B-06");
    assert_eq!(result["_meta"][RELATED]["taskId"], *task, "LTASK-B-07");
    assert!(result.get("resultType").is_none(), "LTASK-B-06: {result}");
    let again = peer.result("tasks/result", json!({"taskId": task})).await;
    assert_eq!(again, result, "LTASK-B-06");
}

#[tokio::test(start_paused = true)]
async fn errors_of_both_kinds_fail_the_task() {
    let (mut peer, _) = connect(&Works::default()).await;
    let task = create(&mut peer, "failing").await["taskId"].clone();
    let result = peer.result("tasks/result", json!({"taskId": task})).await;
    assert_eq!(result["isError"], true, "LTASK-B-06");
    let state = peer.result("tasks/get", json!({"taskId": task})).await;
    assert_eq!(state["status"], "failed", "LTASK-B-08, XAMB-01");
    assert_eq!(state["statusMessage"], "no disk", "LTASK-B-08");

    let params = json!({"name": "short", "arguments": {"seconds": 60}, "task": {}});
    let created = peer.result("tools/call", params).await;
    let task = &created["task"]["taskId"];
    let response = peer.request("tasks/result", json!({"taskId": task})).await;
    assert_eq!(response["error"]["code"], -32_603, "LTASK-B-06");
    let state = peer.result("tasks/get", json!({"taskId": task})).await;
    assert_eq!(state["status"], "failed", "LTASK-B-08");
}

#[tokio::test(start_paused = true)]
async fn questions_are_requests_with_the_related_task() {
    let (mut peer, _) = connect(&Works::default()).await;
    let task = create(&mut peer, "two").await["taskId"].clone();
    let waiting = peer.send("tasks/result", json!({"taskId": task})).await;
    let mut messages = Vec::new();
    for name in ["A", "B"] {
        let asked = peer.next().await;
        assert_eq!(asked["method"], "elicitation/create", "LTASK-S-04");
        assert_eq!(
            asked["params"]["_meta"][RELATED]["taskId"], task,
            "LTASK-B-07"
        );
        messages.push(asked["params"]["message"].clone());
        let state = peer.result("tasks/get", json!({"taskId": task})).await;
        assert_eq!(state["status"], "input_required", "LTASK-S-04");
        let content = json!({"action": "accept", "content": {"name": name}});
        peer.answer(&asked, content).await;
    }
    assert_eq!(messages, ["First?", "Second?"], "each is asked once");
    let result = peer.response(waiting).await;
    assert_eq!(result["result"]["content"][0]["text"], "A B", "LTASK-S-04");
}

#[tokio::test(start_paused = true)]
async fn two_requests_for_the_result_ask_once() {
    let (mut peer, _) = connect(&Works::default()).await;
    let task = create(&mut peer, "confirm").await["taskId"].clone();
    let first = peer.send("tasks/result", json!({"taskId": task})).await;
    let second = peer.send("tasks/result", json!({"taskId": task})).await;
    let asked = peer.next().await;
    let content = json!({"action": "accept", "content": {"name": "Bo"}});
    peer.answer(&asked, content).await;
    for id in [first, second] {
        let response = peer.response(id).await;
        assert_eq!(
            response["result"]["content"][0]["text"], "Hello, Bo!",
            "LTASK-B-06"
        );
    }
    assert!(peer.messages.is_empty(), "{:?}", peer.messages);
}

#[tokio::test(start_paused = true)]
async fn a_closing_server_waits_for_a_result_only_if_it_would_be_lost() {
    let durable = Arc::new(FailingStore::new(shared()));
    let stores: [(Arc<dyn TaskStore>, _, _); 2] = [
        (shared(), "/result/content/0/text", json!("through")),
        (durable, "/error/code", json!(-32_603)),
    ];
    for (store, member, expected) in stores {
        let (works, ends) = (Works::default(), !store.is_durable());
        let server = works.server(store);
        let (mut peer, _) = Peer::older(&server, "2025-11-25", None).await;
        let task = create(&mut peer, "gated").await["taskId"].clone();
        let waiting = peer.send("tasks/result", json!({"taskId": task})).await;
        // The server has read the request before.
        until(&mut peer, &task, "working").await;
        server.close();
        works.gate.add_permits(usize::from(ends));
        let response = peer.response(waiting).await;
        assert_eq!(response.pointer(member), Some(&expected), "{response}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_is_final_and_a_second_one_refused() {
    let works = Works::default();
    let (mut peer, _) = connect(&works).await;
    let task = create(&mut peer, "gated").await["taskId"].clone();
    peer.notify("notifications/cancelled", json!({"requestId": 2}))
        .await;
    let state = peer.result("tasks/get", json!({"taskId": task})).await;
    assert_eq!(state["status"], "working", "LTASK-B-11");
    let cancelled = peer.result("tasks/cancel", json!({"taskId": task})).await;
    assert_eq!(cancelled["status"], "cancelled", "LTASK-B-10");
    works.gate.add_permits(1);
    assert_eq!(
        peer.code("tasks/cancel", json!({"taskId": task})).await,
        -32_602,
        "LTASK-B-10"
    );
    let code = peer.code("tasks/result", json!({"taskId": task})).await;
    assert_eq!(code, -32_602, "LTASK-B-06");
}

#[tokio::test(start_paused = true)]
async fn the_list_has_pages() {
    for (tasks, size, pages) in [(5, 2, 3), (4, 2, 2), (34, 16, 3), (50, 20, 3), (32, 40, 1)] {
        assert_eq!(count_pages(tasks, size).await, pages, "LTASK-B-09");
    }
}

/// Lists `count` tasks in pages of `size`. Returns the number of pages.
async fn count_pages(count: usize, size: usize) -> usize {
    let tasks = Tasks::new().enable_list().limits(limits().page_size(size));
    let server = Works::default().with(tasks);
    let (mut peer, _) = Peer::older(&server, "2025-11-25", None).await;
    let mut created = Vec::new();
    for _ in 0..count {
        created.push(create(&mut peer, "gated").await["taskId"].clone());
    }
    let (mut listed, mut cursor, mut pages) = (Vec::new(), json!(null), 0);
    loop {
        let params = if cursor.is_null() {
            json!({})
        } else {
            json!({"cursor": cursor})
        };
        let page = peer.result("tasks/list", params).await;
        let tasks = page["tasks"].as_array().unwrap().iter();
        listed.extend(tasks.map(|task| task["taskId"].clone()));
        pages += 1;
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    let sort = |ids: &mut Vec<Value>| ids.sort_by_key(ToString::to_string);
    sort(&mut listed);
    sort(&mut created);
    assert_eq!(listed, created, "LTASK-B-09");
    for cursor in ["x", "AAAAAAAAAAAAAAAAAAAAAA"] {
        let code = peer.code("tasks/list", json!({"cursor": cursor})).await;
        assert_eq!(code, -32_602, "LTASK-B-09");
    }
    pages
}

#[tokio::test(start_paused = true)]
async fn a_task_of_one_form_is_readable_in_the_other() {
    let server = Works::default().server(MemoryStore::new());
    let (mut older, _) = Peer::older(&server, "2025-11-25", None).await;
    let mut modern = Peer::modern(&server);
    let task = create(&mut older, "failing").await["taskId"].clone();
    let id = task.as_str().unwrap();
    let working = modern.get(id).await;
    assert!(
        working["ttlMs"].is_u64() && working.get("ttl").is_none(),
        "TASK-S-37, XAMB-09"
    );
    let done = modern.end(id).await;
    assert_eq!(done["status"], "completed", "XAMB-01");
    assert_eq!(done["result"]["resultType"], "complete", "TASK-S-16");
    let failed = older.result("tasks/get", json!({"taskId": id})).await;
    assert_eq!(failed["status"], "failed", "XAMB-01");
    let task = create(&mut older, "gated").await["taskId"].clone();
    modern.result("tasks/cancel", json!({"taskId": task})).await;
    let state = older.result("tasks/get", json!({"taskId": task})).await;
    assert_eq!(state["status"], "cancelled", "TASK-S-37");
}

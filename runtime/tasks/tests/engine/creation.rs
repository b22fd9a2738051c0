//! Negotiation and creation of tasks (2026-07-28).

use std::sync::Arc;

use serde_json::{Value, json};
use treenail::tasks::{MemoryStore, TaskStore};

use crate::failing_store::FailingStore;
use crate::peer::{Peer, TASKS};
use crate::works::{Works, shared};

#[tokio::test(start_paused = true)]
async fn the_extension_is_declared_and_not_the_older_capability() {
    let server = Works::default().server(MemoryStore::new());
    let found = Peer::modern(&server)
        .result("server/discover", json!({}))
        .await;
    let capabilities = &found["capabilities"];
    assert_eq!(capabilities["extensions"][TASKS], json!({}), "TASK-B-01");
    assert!(capabilities.get("tasks").is_none(), "TASK-S-35");
}

#[tokio::test(start_paused = true)]
async fn a_tool_with_task_support_brings_the_extension() {
    let server = treenail::Server::builder("works", "1.0.0");
    let server = server.mount(Works::default()).build().unwrap();
    let task = Peer::modern(&server)
        .task("slow", json!({"seconds": 9}))
        .await;
    assert_eq!(Peer::modern(&server).get(&task).await["status"], "working");
}

#[tokio::test(start_paused = true)]
async fn a_quick_call_is_answered_directly() {
    let server = Works::default().server(MemoryStore::new());
    let mut peer = Peer::modern(&server);
    for (tool, arguments) in [
        ("greet", json!({"name": "A"})),
        ("slow", json!({"seconds": 0})),
        ("slow", json!({"seconds": 0.3})),
    ] {
        let result = peer.call(tool, arguments).await;
        assert_eq!(
            result["resultType"], "complete",
            "TASK-S-01, TASK-S-10: {result}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_call_becomes_a_task_with_flat_members() {
    let server = Works::default().server(MemoryStore::new());
    let mut peer = Peer::modern(&server);
    let created = peer.call("slow", json!({"seconds": 9})).await;
    assert_eq!(created["resultType"], "task", "TASK-S-04");
    assert_eq!(created["status"], "working", "TASK-S-10");
    for key in ["createdAt", "lastUpdatedAt"] {
        let text = created[key].as_str().unwrap();
        assert!(text.len() == 24 && text.ends_with('Z'), "TASK-S-05: {text}");
    }
    assert!(created["ttlMs"].as_u64().unwrap() > 0, "TASK-S-05");
    assert!(created["pollIntervalMs"].as_u64().unwrap() > 0, "TASK-S-05");
    for key in [
        "task",
        "result",
        "error",
        "inputRequests",
        "requestState",
        "ttl",
        "pollInterval",
    ] {
        assert!(created.get(key).is_none(), "TASK-S-06: {created}");
    }
    // TASK-S-07: at once, and through another connection.
    let task = created["taskId"].as_str().unwrap();
    let read = Peer::modern(&server).get(task).await;
    assert_eq!(read["resultType"], "complete", "TASK-S-16, XAMB-02");
    assert_eq!(read["status"], "working", "TASK-S-11");
    // 128 bits; that each of them is random is a unit test of `TaskId`.
    assert!(task.len() == 22, "TASK-S-31: {task}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_closes_creates_only_tasks_that_outlive_it() {
    let stores: [(Arc<dyn TaskStore>, _); 2] = [
        (shared(), "complete"),
        (Arc::new(FailingStore::new(shared())), "task"),
    ];
    for (store, kind) in stores {
        let works = Works::default();
        let server = works.server(store);
        let mut peer = Peer::modern(&server);
        let params = json!({"name": "slow", "arguments": {"seconds": 9}});
        let call = peer.send("tools/call", params).await;
        while works.notes().is_empty() {
            tokio::task::yield_now().await;
        }
        server.close();
        let response = peer.response(call).await;
        assert_eq!(response["result"]["resultType"], kind, "{response}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_declare_tasks_gets_plain_results() {
    let works = Works::default();
    let server = works.server(MemoryStore::new());
    let mut peer = Peer::without_tasks(&server);
    let result = peer.call("slow", json!({"seconds": 9})).await;
    assert_eq!(
        result["resultType"], "complete",
        "TASK-S-02, TASK-S-35: {result}"
    );
    let params = json!({"name": "only_task", "arguments": {}});
    let refused = peer.request("tools/call", params).await;
    assert_eq!(refused["error"]["code"], -32_021, "TASK-S-03");
    let required = &refused["error"]["data"]["requiredCapabilities"];
    assert_eq!(required["extensions"][TASKS], json!({}), "TASK-S-03");
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let params = json!({"taskId": "AAAAAAAAAAAAAAAAAAAAAA", "inputResponses": {}});
        assert_eq!(
            peer.code(method, params).await,
            -32_021,
            "TASK-S-27, XAMB-06: {method}"
        );
    }
    let params = json!({"notifications": {"taskIds": ["x"]}});
    assert_eq!(
        peer.code("subscriptions/listen", params).await,
        -32_021,
        "TASK-S-27"
    );
}

#[tokio::test(start_paused = true)]
async fn methods_and_parameters_of_the_older_form_do_not_exist() {
    let server = Works::default().server(MemoryStore::new());
    let mut peer = Peer::modern(&server);
    for method in ["tasks/result", "tasks/list"] {
        let code = peer.code(method, json!({"taskId": "x"})).await;
        assert_eq!(code, -32_601, "TASK-S-33, TASK-S-36: {method}");
    }
    let params = json!({"name": "greet", "arguments": {"name": "A"}, "task": {"ttl": 5}});
    let result = peer.result("tools/call", params).await;
    assert_eq!(result["resultType"], "complete", "TASK-S-36");
}

#[tokio::test(start_paused = true)]
async fn without_the_extension_the_methods_do_not_exist() {
    let server = treenail::Server::builder("none", "1.0.0").build().unwrap();
    let mut peer = Peer::modern(&server);
    let code = peer.code("tasks/get", json!({"taskId": "x"})).await;
    assert_eq!(code, -32_601, "XAMB-06");
}

#[tokio::test(start_paused = true)]
async fn rounds_of_input_end_before_the_task() {
    let works = Works::default();
    let server = works.server(MemoryStore::new());
    let mut peer = Peer::modern(&server);
    let first = peer.call("book", json!({})).await;
    assert_eq!(first["resultType"], "input_required", "TASK-S-08: {first}");
    assert!(first.get("taskId").is_none(), "TASK-S-08");
    let key = first["inputRequests"]
        .as_object()
        .unwrap()
        .keys()
        .next()
        .unwrap();
    let answer = json!({"action": "accept", "content": {"name": "Alice"}});
    let second = peer
        .result(
            "tools/call",
            json!({
                "name": "book", "arguments": {},
                "requestState": first["requestState"], "inputResponses": {key: answer},
            }),
        )
        .await;
    assert_eq!(second["resultType"], "task", "TASK-S-09: {second}");
    assert!(second.get("requestState").is_none(), "TASK-S-09");
    let task = second["taskId"].as_str().unwrap();
    let asking = peer.until(task, &["input_required"]).await;
    let open: Vec<&String> = asking["inputRequests"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    let message = &asking["inputRequests"][open[0]]["params"]["message"];
    // The answer of the round has passed into the task, whose keys are another space.
    assert_eq!(message, "Room for Alice?", "TASK-B-03");
    peer.update(task, open[0], json!({"name": "12"})).await;
    let done = peer.end(task).await;
    assert_eq!(done["result"]["content"][0]["text"], "Alice 7 9 12");
    assert_eq!(works.notes(), ["reserve", "pay"]);
}

#[tokio::test(start_paused = true)]
async fn progress_of_a_task_is_its_status_message_only() {
    let server = Works::default().server(MemoryStore::new());
    let mut peer = Peer::modern(&server);
    let params = json!({"name": "report", "arguments": {}, "_meta": {"progressToken": "t"}});
    let created = peer.result("tools/call", params).await;
    let task = created["taskId"].as_str().unwrap().to_owned();
    let mut messages = Vec::new();
    loop {
        let state = peer.get(&task).await;
        messages.push(state["statusMessage"].clone());
        if state["status"] == "completed" {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    }
    messages.dedup();
    let expected = [
        Value::Null,
        json!("page 1"),
        json!("page 2"),
        json!("page 3"),
        Value::Null,
    ];
    assert_eq!(messages, expected, "TASK-S-26");
    assert!(
        peer.messages.is_empty(),
        "TASK-S-26, TASK-B-07: {:?}",
        peer.messages
    );
}

//! Support of tasks in revision 2025-11-25: the capability of the server, and the support of each tool.

use serde_json::{Value, json};
use treenail::prelude::*;
use treenail::tasks::{MemoryStore, Tasks};

use crate::older::connect;
use crate::peer::{Peer, TASKS};
use crate::works::Works;

/// A tool without task support.
struct Plain;

#[mcp_tool]
impl Plain {
    #[tool]
    async fn greet(&self) -> &'static str {
        "Hello!"
    }
}

#[tokio::test(start_paused = true)]
async fn the_capability_is_declared_in_its_revision_only() {
    let server = Works::default().server(MemoryStore::new());
    let (_, capabilities) = Peer::older(&server, "2025-11-25", None).await;
    let expected = json!({"cancel": {}, "requests": {"tools": {"call": {}}}});
    assert_eq!(
        capabilities["tasks"], expected,
        "LTASK-B-01, LTASK-B-15, LTASK-C-02"
    );
    let listing = Works::default().with(Tasks::new().enable_list());
    let (_, capabilities) = Peer::older(&listing, "2025-11-25", None).await;
    assert_eq!(capabilities["tasks"]["list"], json!({}), "LTASK-B-01");
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18"] {
        let (_, capabilities) = Peer::older(&server, revision, None).await;
        assert!(capabilities.get("tasks").is_none(), "TASK-S-38: {revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_without_the_capability_ignores_the_parameter() {
    let server = Server::builder("plain", "1.0.0")
        .mount(Plain)
        .build()
        .unwrap();
    let (mut peer, capabilities) = Peer::older(&server, "2025-11-25", None).await;
    assert!(capabilities.get("tasks").is_none(), "LTASK-B-02");
    let params = json!({"name": "greet", "arguments": {}, "task": {"ttl": 5}});
    let result = peer.result("tools/call", params).await;
    assert!(result.get("content").is_some(), "LTASK-B-02: {result}");
}

#[tokio::test(start_paused = true)]
async fn older_revisions_have_plain_calls() {
    let server = Works::default().server(MemoryStore::new());
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18"] {
        let (mut peer, _) = Peer::older(&server, revision, None).await;
        for tool in ["slow", "only_task"] {
            let arguments = json!({"seconds": 9});
            let params = json!({"name": tool, "arguments": arguments, "task": {}});
            let result = peer.result("tools/call", params).await;
            assert!(
                result.get("content").is_some(),
                "TASK-S-38: {revision} {tool} {result}"
            );
        }
        let code = peer.code("tasks/get", json!({"taskId": "x"})).await;
        assert_eq!(code, -32_601, "TASK-S-38: {revision}");
        // A function that only a token completes cannot be a plain call.
        let params = json!({"name": "outside", "arguments": {}, "task": {}});
        let error = peer.request("tools/call", params).await["error"].clone();
        let message = error["message"].as_str().unwrap();
        assert_eq!(error["code"], -32_601, "{revision}");
        assert!(
            message.contains(&format!("revision {revision} has no tasks")),
            "{message}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn the_tools_declare_their_support() {
    let (mut peer, capabilities) = connect(&Works::default()).await;
    assert_eq!(capabilities["extensions"][TASKS], json!({}));
    let listed = peer.result("tools/list", json!({})).await;
    let support = |name: &str| {
        let tools = listed["tools"].as_array().unwrap().iter();
        let tool = tools.clone().find(|tool| tool["name"] == name).unwrap();
        tool["execution"]["taskSupport"].clone()
    };
    assert_eq!(support("slow"), "optional", "LTASK-S-01");
    assert_eq!(support("only_task"), "required", "LTASK-S-01");
    assert_eq!(support("outside"), "required", "LTASK-S-01");
    assert_eq!(support("greet"), Value::Null, "LTASK-S-01");
}

#[tokio::test(start_paused = true)]
async fn calls_and_tools_must_fit() {
    let (mut peer, _) = connect(&Works::default()).await;
    let params = json!({"name": "only_task", "arguments": {}});
    assert_eq!(peer.code("tools/call", params).await, -32_601, "LTASK-S-02");
    let params = json!({"name": "greet", "arguments": {"name": "A"}, "task": {}});
    let refused = peer.request("tools/call", params).await;
    assert_eq!(refused["error"]["code"], -32_601, "LTASK-S-02");
    let expected = "the tool `greet` does not support tasks; call it without `params.task`";
    assert_eq!(refused["error"]["message"], expected);
    let greeted = peer.call("greet", json!({"name": "A"})).await;
    assert!(greeted.get("content").is_some(), "LTASK-C-01: {greeted}");
    let params = json!({"name": "slow", "arguments": {"seconds": 1}, "task": 7});
    assert_eq!(peer.code("tools/call", params).await, -32_602, "LTASK-B-03");
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        let code = peer
            .code(method, json!({"taskId": "AAAAAAAAAAAAAAAAAAAAAA"}))
            .await;
        assert_eq!(code, -32_602, "LTASK-B-14: {method}");
    }
    assert_eq!(
        peer.code("tasks/list", json!({})).await,
        -32_601,
        "LTASK-B-15"
    );
    assert_eq!(
        peer.code("tasks/update", json!({})).await,
        -32_601,
        "LTASK-B-01"
    );
}

//! States, results and errors of tasks (2026-07-28).

use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;
use treenail::prelude::*;
use treenail::schema::{CallToolResult, ContentBlock, ResultMetaObject};
use treenail::tasks::{MemoryStore, Tasks};
use treenail::tool::{Structured, WrapResults};

use crate::peer::Peer;
use crate::works::{Works, limits};

#[tokio::test(start_paused = true)]
async fn a_result_is_inlined_as_the_call_would_have_returned_it() {
    let server = Works::default().server(MemoryStore::new());
    let mut peer = Peer::modern(&server);
    let task = peer.task("slow", json!({"seconds": 2})).await;
    let done = peer.end(&task).await;
    assert_eq!(done["status"], "completed", "TASK-S-11");
    assert_eq!(
        done["result"]["content"][0]["text"], "slept 2 s",
        "TASK-S-16"
    );
    assert_eq!(done["resultType"], "complete", "TASK-S-16");
    for key in ["error", "inputRequests", "requestState"] {
        assert!(done.get(key).is_none(), "TASK-S-16: {done}");
    }
    let meta = &done["result"]["_meta"];
    assert!(
        meta.get("io.modelcontextprotocol/related-task").is_none(),
        "TASK-S-17"
    );
    assert_eq!(
        peer.get(&task).await,
        done,
        "TASK-S-17: a read has no effect"
    );
    for key in ["ttl", "cacheScope"] {
        assert!(done.get(key).is_none(), "XAMB-10: {done}");
    }
}

#[mcp_tool(task(always))]
async fn number() -> i64 {
    7
}

/// Returns a result with `_meta`.
#[mcp_tool(task(always))]
async fn marked() -> CallToolResult {
    let mut result = CallToolResult::new([ContentBlock::text("marked")]);
    let mark = json!({"com.example/mark": 1});
    result.meta = Some(serde_json::from_value(mark).unwrap());
    result
}

/// Returns a value with content of its own.
#[mcp_tool(task(always))]
async fn beside() -> Structured<Vec<i64>> {
    let meta = ResultMetaObject::from_iter([("com.example/mark", 1)]);
    Structured::new(vec![7]).with_text("seven").with_meta(meta)
}

#[tokio::test(start_paused = true)]
async fn a_result_has_the_format_of_its_server() {
    for wrap in [WrapResults::Never, WrapResults::Legacy, WrapResults::Always] {
        let builder = Server::builder("results", "1.0.0").wrap_results(wrap);
        let server = builder
            .tools(tools![number, marked, beside])
            .build()
            .unwrap();
        let (mut plain, mut peer) = (Peer::without_tasks(&server), Peer::modern(&server));
        for tool in ["number", "marked", "beside"] {
            let expected = plain.call(tool, json!({})).await;
            let task = peer.task(tool, json!({})).await;
            let done = peer.end(&task).await;
            assert_eq!(done["result"], expected, "TASK-S-16: {tool} {wrap:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_error_completes_the_task_and_a_protocol_error_fails_it() {
    let server = Works::default().server(MemoryStore::new());
    let mut peer = Peer::modern(&server);
    let task = peer.task("failing", json!({})).await;
    let done = peer.end(&task).await;
    assert_eq!(done["status"], "completed", "TASK-S-12");
    assert_eq!(done["result"]["isError"], true, "TASK-S-12");

    let task = peer.task("broken", json!({})).await;
    let failed = peer.end(&task).await;
    assert_eq!(failed["status"], "failed", "TASK-S-12");
    let required = json!({"extensions": {"com.example/none": {}}});
    assert_eq!(failed["error"]["code"], -32_021, "TASK-S-16, XAMB-07");
    assert_eq!(
        failed["error"]["data"]["requiredCapabilities"], required,
        "TASK-S-16"
    );
    let message = failed["error"]["message"].as_str().unwrap();
    assert!(failed.get("result").is_none(), "TASK-S-16");
    assert_eq!(failed["statusMessage"], message, "TASK-S-13");
}

#[tokio::test(start_paused = true)]
async fn a_finished_task_is_readable_until_its_time_is_over() {
    let server = Works::default().with(Tasks::new().limits(limits()));
    let mut peer = Peer::modern(&server);
    let task = peer.task("short", json!({"seconds": 2})).await;
    // XAMB-05: the longest run time, and the time to keep the result.
    assert_eq!(peer.get(&task).await["ttlMs"], 15_000, "TASK-S-05");
    let done = peer.end(&task).await;
    assert_eq!(done["status"], "completed");
    assert!(
        done["ttlMs"].as_u64().unwrap() >= 10_000,
        "TASK-S-14, XAMB-05"
    );
    sleep(Duration::from_secs(8)).await;
    assert_eq!(peer.get(&task).await["status"], "completed", "TASK-S-15");
    sleep(Duration::from_secs(8)).await;
    let code = peer.code("tasks/get", json!({"taskId": task})).await;
    assert_eq!(code, -32_602, "TASK-S-15, TASK-S-29");
}

#[tokio::test(start_paused = true)]
async fn a_task_fails_after_its_maximum_run_time() {
    let server = Works::default().with(Tasks::new().limits(limits()));
    let mut peer = Peer::modern(&server);
    let task = peer.task("short", json!({"seconds": 60})).await;
    let failed = peer.end(&task).await;
    assert_eq!(failed["status"], "failed", "TASK-S-15");
    let message = failed["statusMessage"].as_str().unwrap();
    assert!(message.contains("maximum run time"), "TASK-S-13: {message}");
}

#[tokio::test(start_paused = true)]
async fn unknown_ids_are_refused_with_a_reason() {
    let server = Works::default().server(MemoryStore::new());
    let mut peer = Peer::modern(&server);
    for id in ["AAAAAAAAAAAAAAAAAAAAAA", "", "x", "../etc"] {
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let params = json!({"taskId": id, "inputResponses": {}});
            let response = peer.request(method, params).await;
            assert_eq!(
                response["error"]["code"], -32_602,
                "TASK-S-29: {method} {id}"
            );
            let message = response["error"]["message"].as_str().unwrap();
            assert!(message.contains("taskId"), "TASK-S-30: {message}");
        }
    }
    assert_eq!(
        peer.code("tasks/get", json!({})).await,
        -32_602,
        "TASK-S-30"
    );
}

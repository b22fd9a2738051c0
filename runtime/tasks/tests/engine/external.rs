//! Tasks that a token completes.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use treenail::RpcError;
use treenail::elicit::RequestStateKey;
use treenail::schema::{CallToolResult, ContentBlock, TextContent};
use treenail::tasks::{
    ExternalTasks, MemoryStore, ParseTaskIdError, ServerTasks, TaskId, TaskLimits, TaskStore as _,
    TaskToken, Tasks,
};

use crate::peer::Peer;
use crate::works::{Works, crash, limits, shared};

fn key() -> RequestStateKey {
    RequestStateKey::new([7; 32])
}

fn text(text: &str) -> CallToolResult {
    CallToolResult::new(vec![ContentBlock::from(TextContent::new(text))])
}

async fn start(works: &Works, store: &Arc<MemoryStore>) -> (treenail::Server, String, TaskToken) {
    let tasks = Tasks::new()
        .store(store.clone())
        .limits(limits())
        .token_key(key());
    let server = works.with(tasks);
    let mut peer = Peer::modern(&server);
    let task = peer.task("outside", json!({})).await;
    while peer.get(&task).await["statusMessage"] != "queued" {
        tokio::task::yield_now().await;
    }
    let token = TaskToken::from(works.notes().remove(0));
    (server, task, token)
}

#[tokio::test(start_paused = true)]
async fn another_process_completes_the_task_with_its_token() {
    let (works, store) = (Works::default(), shared());
    let (server, task, token) = start(&works, &store).await;
    let mut peer = Peer::modern(&server);
    assert_eq!(peer.get(&task).await["status"], "working");
    // Longer than a lease, because no process runs it.
    tokio::time::sleep(limits().lease * 5).await;
    let outside = ExternalTasks::new(store.clone(), key());
    outside.report(&token, "half").await.unwrap();
    assert_eq!(peer.get(&task).await["statusMessage"], "half");
    outside.complete(&token, text("built")).await.unwrap();
    let done = peer.get(&task).await;
    assert_eq!(done["status"], "completed");
    assert_eq!(done["result"]["content"][0]["text"], "built");
    assert_eq!(done["result"]["resultType"], "complete");
    let error = outside.complete(&token, text("again")).await.unwrap_err();
    assert_eq!(error.code, -32_602);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_the_function_has_abandoned_is_withdrawn() {
    let (works, store) = (Works::default(), shared());
    let tasks = Tasks::new().store(store).limits(limits()).token_key(key());
    let server = works.with(tasks);
    let mut peer = Peer::modern(&server);
    let task = peer.task("outside_impatient", json!({})).await;
    peer.until(&task, &["input_required"]).await;
    while peer.get(&task).await["statusMessage"] != "queued" {
        tokio::time::sleep(limits().watch_interval).await;
    }
    let left = peer.get(&task).await;
    assert_eq!(left["status"], "working", "{left}");
}

#[tokio::test(start_paused = true)]
async fn the_token_survives_the_process_of_the_server() {
    let (works, store) = (Works::default(), shared());
    let (server, task, token) = start(&works, &store).await;
    crash(server).await;
    let tasks = Tasks::new()
        .store(store.clone())
        .limits(limits())
        .token_key(key());
    let server = works.with(tasks);
    let outside = ServerTasks::of(&server).unwrap().external().unwrap();
    let error = RpcError::new(-32_060, "the build failed");
    outside.fail(&token, error).await.unwrap();
    let failed = Peer::modern(&server).get(&task).await;
    assert_eq!(failed["error"]["code"], -32_060);
}

#[tokio::test(start_paused = true)]
async fn a_process_whose_clock_is_ahead_ends_no_task_with_its_report() {
    let (works, store) = (Works::default(), shared());
    let (server, task, token) = start(&works, &store).await;
    let mut reported = store.get(&task.parse().unwrap()).await.unwrap().unwrap();
    reported.version += 1;
    let mut overdue = reported.clone();
    // By the clock of that process, no run time is left.
    assert!(store.replace(reported, Duration::ZERO).await.unwrap());
    overdue.id = TaskId::random().unwrap();
    overdue.created_ms = 1;
    store.insert(overdue.clone(), Duration::ZERO).await.unwrap();
    tokio::time::sleep(limits().sweep_interval * 3).await;
    let mut peer = Peer::modern(&server);
    assert_eq!(peer.get(&task).await["status"], "working");
    let outside = ExternalTasks::new(store.clone(), key());
    outside.complete(&token, text("built")).await.unwrap();
    assert_eq!(peer.get(&task).await["status"], "completed");
    let failed = peer.get(overdue.id.as_str()).await;
    let reason = "the task was not completed in time";
    assert_eq!(failed["error"]["message"], reason, "{failed}");
}

#[tokio::test(start_paused = true)]
async fn other_tokens_and_keys_are_refused() {
    let (works, store) = (Works::default(), shared());
    let (_server, _, token) = start(&works, &store).await;
    let other = ExternalTasks::new(store.clone(), RequestStateKey::new([8; 32]));
    assert_eq!(
        other.complete(&token, text("x")).await.unwrap_err().code,
        -32_602
    );
    let outside = ExternalTasks::new(store.clone(), key());
    for text_of_token in ["", "x", &token.as_str()[1..]] {
        let token = TaskToken::from(text_of_token);
        assert_eq!(
            outside.complete(&token, text("x")).await.unwrap_err().code,
            -32_602
        );
    }
    assert_eq!(format!("{token:?}"), "TaskToken { .. }");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_task_cannot_be_completed() {
    let (works, store) = (Works::default(), shared());
    let (server, task, token) = start(&works, &store).await;
    let mut peer = Peer::modern(&server);
    peer.result("tasks/cancel", json!({"taskId": task})).await;
    let outside = ExternalTasks::new(store.clone(), key());
    assert!(outside.complete(&token, text("late")).await.is_err());
    assert_eq!(peer.get(&task).await["status"], "cancelled", "XAMB-04");
}

#[tokio::test(start_paused = true)]
async fn the_limits_of_another_process_are_those_it_is_given() {
    let (works, store) = (Works::default(), shared());
    let (server, task, token) = start(&works, &store).await;
    let large = text(&"x".repeat(5 << 20));
    let outside = ExternalTasks::new(store.clone(), key());
    let refused = outside.complete(&token, large.clone()).await.unwrap_err();
    assert_eq!(
        (refused.code, &*refused.message),
        (
            -32_603,
            "the result is longer than `TaskLimits::result_bytes` (4194304)"
        )
    );
    let outside = outside.limits(TaskLimits::default().result_bytes(8 << 20));
    let other = TaskToken::from("t");
    let refused = outside.complete(&other, large.clone()).await.unwrap_err();
    assert_eq!(refused.code, -32_602, "the token is refused: {refused}");
    outside.complete(&token, large).await.unwrap();
    let done = Peer::modern(&server).get(&task).await;
    assert_eq!(done["status"], "completed");
    let content = done["result"]["content"][0]["text"].as_str();
    assert_eq!(content.map(str::len), Some(5 << 20));
}

#[test]
fn the_error_of_an_id_is_one_of_the_crate() {
    fn parse(text: &str) -> treenail::Result<TaskId> {
        Ok(text.parse::<TaskId>()?)
    }

    let error = parse("7f3c").unwrap_err();
    assert!(matches!(error, treenail::Error::Other(error) if error.is::<ParseTaskIdError>()));
}

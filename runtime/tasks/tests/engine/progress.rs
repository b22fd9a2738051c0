//! Progress of calls that become tasks after a while.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;
use treenail::prelude::*;
use treenail::tasks::{MemoryStore, TaskStore, Tasks};

use crate::failing_store::FailingStore;
use crate::peer::Peer;
use crate::works::{limits, shared};

/// Tools that report their first steps at once.
struct Steps;

#[mcp_tool]
impl Steps {
    #[tool(task(after = "500ms"))]
    async fn steps(&self, cx: &Context) -> &'static str {
        for (done, step) in ["none", "first step"].into_iter().enumerate() {
            cx.progress(done).message(step).await;
        }
        sleep(Duration::from_secs(5)).await;
        cx.progress(2).message("second step").await;
        sleep(Duration::from_secs(5)).await;
        "done"
    }
}

fn server(store: impl TaskStore) -> Server {
    let tasks = Tasks::new().store(store).limits(limits());
    let builder = Server::builder("steps", "1.0.0").extension(tasks);
    builder.mount(Steps).build().unwrap()
}

async fn call(peer: &mut Peer, meta: Value) -> Value {
    let params = json!({"name": "steps", "arguments": {}, "_meta": meta});
    peer.result("tools/call", params).await
}

fn messages(peer: &Peer) -> Vec<&str> {
    let messages = peer.messages.iter();
    messages
        .map(|message| message["params"]["message"].as_str().unwrap())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn the_last_progress_of_a_call_is_the_first_status_of_its_task() {
    for meta in [json!({}), json!({"progressToken": "t"})] {
        let server = server(MemoryStore::new());
        let mut peer = Peer::modern(&server);
        let created = call(&mut peer, meta.clone()).await;
        assert_eq!(created["statusMessage"], "first step", "{meta}");
        let task = created["taskId"].as_str().unwrap();
        assert_eq!(peer.get(task).await["statusMessage"], "first step");
        sleep(Duration::from_secs(7)).await;
        assert_eq!(peer.get(task).await["statusMessage"], "second step");
        assert_eq!(peer.end(task).await["status"], "completed");
        let sent: &[_] = match meta.get("progressToken") {
            Some(_) => &["none", "first step"],
            None => &[],
        };
        assert_eq!(messages(&peer), sent, "TASK-S-26");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_task_cannot_be_created_reports_its_progress_to_its_client() {
    let store = FailingStore::new(shared());
    let server = server(store.clone());
    store.fail(true);
    let mut peer = Peer::modern(&server);
    let result = call(&mut peer, json!({"progressToken": "t"})).await;
    assert_eq!(result["resultType"], "complete", "{result}");
    assert_eq!(messages(&peer), ["none", "first step", "second step"]);
}

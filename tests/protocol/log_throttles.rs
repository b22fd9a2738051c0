//! Warnings that a client can trigger at will are logged once a minute.

use serde_json::json;
use treenail::Limits;
use treenail::elicit::AskError;
use treenail::prelude::*;
use treenail::tasks::{TaskLimits, Tasks};

use super::hotel::{guest, hotel_with};
use crate::support::log::Log;
use crate::support::peer::{MODERN, Peer, at_rest, error};

/// Takes the lines of the log with a text.
fn logged(text: &str) -> usize {
    let lines = Log::take();
    lines.iter().filter(|line| line.contains(text)).count()
}

#[tokio::test]
async fn rounds_beyond_their_limit() {
    Log::start();
    let (_, server) = hotel_with(Limits::default().input_rounds(3));
    let mut peer = guest(&server, MODERN).await;
    for _ in 0..3 {
        let (answer, _) = peer.call_and_agree("endless", json!({})).await;
        assert_eq!(error(&answer).0, -32603);
    }
    assert_eq!(logged("a function could not ask its client"), 1);
}

/// Stores a text of which a client chooses the size.
#[mcp_tool(task(always))]
async fn store(cx: &Context, size: usize) -> Result<String, AskError> {
    cx.once("text", async { Ok::<_, AskError>("x".repeat(size)) })
        .await
}

/// Returns a peer that supports tasks.
async fn with_tasks(limits: TaskLimits) -> Peer {
    let server = treenail::server!()
        .tools(tools![store])
        .extension(Tasks::new().limits(limits))
        .build()
        .unwrap();
    let tasks = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    Peer::connect_as(&server, MODERN, tasks).await
}

impl Peer {
    /// Starts a task, and returns its id.
    async fn store(&mut self, size: usize) -> Value {
        let params = json!({"name": "store", "arguments": {"size": size}});
        self.begin("tools/call", params).await;
        let mut answer = self.receive_any().await.unwrap();
        answer["result"]["taskId"].take()
    }
}

#[tokio::test(start_paused = true)]
async fn tasks_that_are_not_watched() {
    Log::start();
    let mut peer = with_tasks(TaskLimits::default().watched(0)).await;
    let id = peer.store(1).await;
    for _ in 0..3 {
        let params = json!({"notifications": {"taskIds": [id]}});
        peer.begin("subscriptions/listen", params).await;
        let acknowledged = peer.receive_any().await.unwrap();
        let accepted = &acknowledged["params"]["notifications"]["taskIds"];
        assert_eq!(*accepted, json!([]), "{acknowledged}");
    }
    assert_eq!(logged("too many tasks are watched"), 1);
}

#[tokio::test(start_paused = true)]
async fn full_journals() {
    Log::start();
    let mut peer = with_tasks(TaskLimits::default().journal_bytes(100)).await;
    for _ in 0..3 {
        let id = peer.store(200).await;
        let mut status = json!("working");
        while status == "working" {
            at_rest().await;
            peer.begin("tasks/get", json!({"taskId": id})).await;
            let task = peer.receive_any().await.unwrap();
            status = task["result"]["status"].clone();
        }
        assert_eq!(status, "failed");
    }
    assert_eq!(logged("the journal of a task is full"), 1);
}

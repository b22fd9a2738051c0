//! Tasks of a server, from the side of the client, with scripted peers of both eras.

mod dropped_calls;
mod handles;
mod hostile;
mod legacy;
mod questions;
mod refused_results;
mod server;
mod timeouts;
mod waiting;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use treenail::client::{ClientLimits, McpClientBuilder};
use treenail::prelude::*;

use crate::script::{Received, Reply, answer, scripted_with_limits};

/// Id of the task in all scripts.
pub(super) const ID: &str = "786512e2";

/// Returns the modern state of the task, with further members.
pub(super) fn state(status: &str, more: &Value) -> Value {
    let mut state = json!({
        "taskId": ID, "status": status, "createdAt": "2026-11-23T06:00:00Z",
        "lastUpdatedAt": "2026-11-23T06:00:00Z", "ttlMs": null, "pollIntervalMs": 1_000,
    });
    let more = more.as_object().unwrap().clone();
    state.as_object_mut().unwrap().extend(more);
    state
}

/// Returns a finished state, with a text as the result.
pub(super) fn completed(text: &str) -> Value {
    let result = json!({"resultType": "complete", "content": [{"type": "text", "text": text}]});
    state("completed", &json!({ "result": result }))
}

/// Returns a state as the result of a request.
pub(super) fn result(message: &Value, result_type: &str, state: &Value) -> Reply {
    let mut result = state.clone();
    result["resultType"] = json!(result_type);
    Reply::result(message, &result)
}

/// Returns the acknowledgement of a subscription.
pub(super) fn acknowledged(message: &Value, ids: &[&str]) -> String {
    let params = json!({
        "_meta": {"io.modelcontextprotocol/subscriptionId": message["id"]},
        "notifications": {"taskIds": ids},
    });
    let method = "notifications/subscriptions/acknowledged";
    json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
}

/// Returns a pushed state.
pub(super) fn pushed(message: &Value, state: &Value) -> String {
    let mut params = state.clone();
    params["_meta"] = json!({"io.modelcontextprotocol/subscriptionId": message["id"]});
    json!({"jsonrpc": "2.0", "method": "notifications/tasks", "params": params}).to_string()
}

/// Creates a builder of a client of a modern server that turns each call into a task, and pushes nothing. `reply` answers all
/// other requests.
pub(super) fn modern(
    mut reply: impl FnMut(&Value) -> Reply + Send + 'static,
) -> (McpClientBuilder, Received) {
    peer(move |message| match message["method"].as_str() {
        Some("tools/call") => result(message, "task", &state("working", &json!({}))),
        Some("subscriptions/listen") => Reply::Lines(vec![acknowledged(message, &[])]),
        Some("tasks/update" | "tasks/cancel") => {
            Reply::result(message, &json!({"resultType": "complete"}))
        }
        _ => reply(message),
    })
}

/// Creates a builder of a client of a modern server, which answers all requests after its discovery with `reply`.
pub(super) fn peer(
    mut reply: impl FnMut(&Value) -> Reply + Send + 'static,
) -> (McpClientBuilder, Received) {
    let limits = ClientLimits::default();
    let (session, received) = scripted_with_limits(&limits, move |message| {
        if message.get("id").is_none() {
            return Reply::nothing();
        }
        if message["method"] != "server/discover" {
            return reply(message);
        }
        let result = json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}, "prompts": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}},
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "script", "version": "1"}},
        });
        Reply::Lines(vec![answer(message, &result)])
    });
    (McpClient::builder().session(session).tasks(), received)
}

/// Replies that are sent one after the other; the last one is repeated.
pub(super) struct States(Vec<Value>);

impl States {
    /// Creates replies in this order.
    pub(super) fn new(states: impl IntoIterator<Item = Value>) -> Self {
        let mut states: Vec<_> = states.into_iter().collect();
        states.reverse();
        Self(states)
    }

    /// Returns the next reply.
    pub(super) fn next(&mut self) -> Value {
        if self.0.len() > 1 {
            return self.0.pop().unwrap();
        }
        self.0[0].clone()
    }
}

/// Times of events, in milliseconds since the start.
#[derive(Clone)]
pub(super) struct Times(Instant, Arc<Mutex<Vec<u128>>>);

impl Times {
    /// Starts now.
    pub(super) fn start() -> Self {
        Self(Instant::now(), Arc::default())
    }

    /// Notes an event.
    pub(super) fn note(&self) {
        self.1.lock().unwrap().push(self.0.elapsed().as_millis());
    }

    /// Returns all times.
    pub(super) fn all(&self) -> Vec<u128> {
        self.1.lock().unwrap().clone()
    }
}

/// Waits until the peer has received a message of this method, while time does not matter.
pub(super) async fn until_received(received: &Received, method: &str) {
    while !received.methods().iter().any(|it| it == method) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

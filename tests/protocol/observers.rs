//! Observers of the server: its sessions, and the outcomes of its requests.

use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::json;
use tokio::sync::Semaphore;
use treenail::context::Extensions;
use treenail::extension::Extension;
use treenail::observe::{Observation, ObservedRequest, ObservedSession, Outcome, ServerObserver};
use treenail::prelude::*;
use treenail::schema::{Method, Revision};
use treenail::transport::Handled;
use treenail::{Limits, RpcError};

use crate::support::peer::{MODERN, Peer, error, initialize, meta};

const EXTENSION: &str = "com.example/jobs";

#[derive(Clone, Debug, Default)]
struct Seen {
    is_disabled: Arc<AtomicBool>,
    events: Arc<Mutex<Vec<String>>>,
}

impl Seen {
    fn push(&self, event: impl Into<String>) {
        self.events.lock().unwrap().push(event.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.events.lock().unwrap())
    }
}

impl ServerObserver for Seen {
    fn is_enabled(&self) -> bool {
        !self.is_disabled.load(Ordering::SeqCst)
    }

    fn request(
        &self,
        request: &ObservedRequest<'_>,
        _: &mut Extensions,
    ) -> Option<Box<dyn Observation>> {
        let method = request.method.map_or("?", Method::as_str);
        let name = format!("{method} {}", request.id);
        Some(Box::new(SeenRequest {
            seen: self.clone(),
            name,
            is_ended: false,
        }))
    }

    fn session(&self, _: &ObservedSession) -> Option<Box<dyn Any + Send + Sync>> {
        self.push("session starts");
        Some(Box::new(SeenSession(self.clone())))
    }
}

struct SeenSession(Seen);

impl Drop for SeenSession {
    fn drop(&mut self) {
        self.0.push("session ends");
    }
}

struct SeenRequest {
    seen: Seen,
    name: String,
    is_ended: bool,
}

impl Observation for SeenRequest {
    fn in_scope(&self, run: &mut dyn FnMut()) {
        run();
    }

    fn end(mut self: Box<Self>, outcome: &Outcome) {
        let outcome = match outcome {
            Outcome::Error { code, .. } => code.to_string(),
            other => format!("{other:?}"),
        };
        self.seen.push(format!("{} {outcome}", self.name));
        self.is_ended = true;
    }
}

impl Drop for SeenRequest {
    fn drop(&mut self) {
        if !self.is_ended {
            self.seen.push(format!("{} cancelled", self.name));
        }
    }
}

/// Returns so many letters, after a while.
#[mcp_tool(read_only)]
async fn letters(count: usize) -> String {
    tokio::task::yield_now().await;
    "x".repeat(count)
}

#[tokio::test]
async fn a_disabled_observer_sees_no_session_although_it_is_shared() {
    let seen = Seen::default();
    let shared: Arc<dyn ServerObserver> = Arc::new(seen.clone());
    let server = treenail::server!().tools(tools![letters]);
    let server = server.observe(shared).build().unwrap();
    let mut connection = server.connect();
    let params = initialize(Revision::LATEST_LEGACY.as_str());
    let message = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let message = message.to_string();
    let mut start = |is_disabled| {
        seen.is_disabled.store(is_disabled, Ordering::SeqCst);
        let _ = connection.handle_message(message.as_bytes(), &mut Vec::new());
        seen.take()
    };
    assert_eq!(start(true), [] as [&str; 0]);
    assert_eq!(start(false), ["session starts", "initialize 0 Success"]);
    assert_eq!(start(true), ["session ends"]);
}

#[tokio::test]
async fn a_result_that_its_batch_leaves_out_is_an_error() {
    let seen = Seen::default();
    let server = treenail::server!()
        .tools(tools![letters])
        .limits(Limits::default().batch_response_bytes(500))
        .observe(seen.clone())
        .build()
        .unwrap();
    let mut connection = server.connect();
    let revision = Revision::V2025_03_26;
    let params = initialize(revision.as_str());
    let message = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let _ = connection.handle_message(message.to_string().as_bytes(), &mut Vec::new());
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let _ = connection.handle_message(initialized.to_string().as_bytes(), &mut Vec::new());
    seen.take();
    let call = |id: u8| {
        let params = json!({"name": "letters", "arguments": {"count": 900}});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    };
    let batch = json!([call(1), call(2)]).to_string();
    let handled = connection.handle_message(batch.as_bytes(), &mut Vec::new());
    let Handled::Pending(pending) = handled else {
        panic!("the calls are pending");
    };
    let responses: Value = serde_json::from_slice(&pending.await).unwrap();
    assert!(responses[0].get("result").is_some(), "{responses}");
    assert_eq!(error(&responses[1]).0, -32603);
    assert_eq!(seen.take(), ["tools/call 1 Success", "tools/call 2 -32603"]);
}

/// Server with topics that it accepts once `gate` is open, unless they are `fail`.
fn subscribable(seen: &Seen, gate: &Arc<Semaphore>) -> Server {
    let gate = Arc::clone(gate);
    let accept = move |_: Context, topics: Vec<String>| {
        let gate = Arc::clone(&gate);
        async move {
            drop(gate.acquire().await);
            if topics.iter().any(|topic| topic == "fail") {
                return Err(RpcError::internal("the store is not available"));
            }
            Ok(topics)
        }
    };
    let extension = Extension::new(EXTENSION).listen_member("jobIds", accept);
    let server = treenail::server!().dynamic().extension(extension);
    server.observe(seen.clone()).build().unwrap()
}

impl Peer {
    async fn subscribe(&mut self, notifications: Value) -> i64 {
        let params = json!({"notifications": notifications});
        self.begin("subscriptions/listen", params).await
    }
}

#[tokio::test]
async fn the_observation_of_a_subscription_ends_with_it() {
    let seen = Seen::default();
    let gate = Arc::new(Semaphore::new(0));
    let server = subscribable(&seen, &gate);
    let mut peer = Peer::silent(&server, MODERN);
    peer.capabilities = json!({"extensions": {EXTENSION: {}}});
    let lists = || json!({"toolsListChanged": true});

    for _ in 0..2 {
        peer.subscribe(lists()).await;
        peer.next_notification().await;
    }
    assert_eq!(seen.take(), [] as [&str; 0], "both are open");
    peer.cancel(1).await;
    peer.refused("subscriptions/listen", json!({})).await;
    let listen = "subscriptions/listen";
    let expected = [
        format!("{listen} 1 cancelled"),
        format!("{listen} 3 -32602"),
    ];
    assert_eq!(seen.take(), expected);

    // Refused at once, and later.
    let failing = || json!({"jobIds": ["fail"]});
    peer.subscribe(failing()).await;
    gate.add_permits(1);
    assert_eq!(error(&peer.receive_any().await.unwrap()).0, -32603);
    peer.subscribe(failing()).await;
    assert_eq!(error(&peer.receive_any().await.unwrap()).0, -32603);
    let expected = [format!("{listen} 4 -32603"), format!("{listen} 5 -32603")];
    assert_eq!(seen.take(), expected);

    server.close();
    let end = peer.receive_any().await.unwrap();
    assert_eq!(end["id"], 2, "{end}");
    assert_eq!(seen.take(), [format!("{listen} 2 Success")]);
}

#[tokio::test]
async fn a_subscription_of_a_lost_connection_is_cancelled() {
    let seen = Seen::default();
    let server = subscribable(&seen, &Arc::new(Semaphore::new(0)));
    let mut connection = server.connect();
    let mut params = json!({"notifications": {"toolsListChanged": true}});
    for (key, value) in meta(MODERN.as_str()) {
        params["_meta"][key] = value;
    }
    let listen =
        json!({"jsonrpc": "2.0", "id": "l", "method": "subscriptions/listen", "params": params});
    let _ = connection.handle_message(listen.to_string().as_bytes(), &mut Vec::new());
    assert_eq!(seen.take(), [] as [&str; 0]);
    drop(connection);
    assert_eq!(seen.take(), ["subscriptions/listen \"l\" cancelled"]);
}

//! Limit on calls in flight of the whole server.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tokio::task::JoinHandle;
use treenail::Limits;
use treenail::http::{HttpService, http_service};
use treenail::prelude::*;
use treenail::schema::Revision;

use crate::client::{CompleteResponse, Post, next};
use crate::legacy::Client;

/// Counts the calls in flight.
#[derive(Clone, Default)]
struct Gauge {
    running: Arc<AtomicUsize>,
    peak: Arc<AtomicUsize>,
}

struct Running(Arc<AtomicUsize>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[mcp_tool]
impl Gauge {
    /// Never returns.
    #[tool]
    async fn hang(&self, cx: &Context, tell: bool) {
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        let _running = Running(Arc::clone(&self.running));
        self.peak.fetch_max(running, Ordering::SeqCst);
        if tell {
            cx.progress(1).await;
        }
        std::future::pending::<()>().await;
    }

    /// Returns after yielding once.
    #[tool]
    async fn pass(&self) -> String {
        tokio::task::yield_now().await;
        "passed".to_owned()
    }
}

impl Gauge {
    fn service(&self, limits: Limits) -> HttpService {
        let server = Server::builder("gauge", "1").mount(self.clone());
        http_service(server.limits(limits).build().unwrap())
    }

    fn running(&self) -> usize {
        self.running.load(Ordering::SeqCst)
    }

    async fn until(&self, running: usize) {
        while self.running() != running {
            tokio::task::yield_now().await;
        }
    }
}

fn pass() -> Post {
    Post::tool("pass", json!({}))
}

fn hang(service: &HttpService) -> JoinHandle<CompleteResponse> {
    let service = service.clone();
    tokio::spawn(async move {
        Post::tool("hang", json!({"tell": false}))
            .send(&service)
            .await
    })
}

#[tokio::test]
async fn abandoned_calls_are_ended_for_other_clients() {
    const SESSIONS: usize = 20;
    const CALLS: usize = 256;
    let gauge = Gauge::default();
    let limits = Limits::default();
    assert!(SESSIONS * CALLS > limits.server_calls_in_flight);
    let most = limits.server_calls_in_flight;
    let service = gauge.service(limits);
    for _ in 0..SESSIONS {
        let client = Client::start(&service, Revision::LATEST_LEGACY).await;
        for id in 0..CALLS {
            let call = client.tool(id.try_into().unwrap(), "hang", &json!({"tell": false}));
            client.abandon(call).await;
        }
        // Other clients are served meanwhile, in both eras.
        assert_eq!(pass().send(&service).await.status, 200);
        let good = Client::start(&service, Revision::LATEST_LEGACY).await;
        let response = good.send(good.tool(1, "pass", &json!({}))).await;
        assert_eq!(response.status, 200, "{response:?}");
    }
    let peak = gauge.peak.load(Ordering::SeqCst);
    assert!(peak <= most, "{peak} calls went on at once");
    assert!(
        gauge.running() > most / 2,
        "only as many as necessary are ended"
    );
}

#[tokio::test]
async fn a_client_that_reconnects_to_an_ended_call_gets_an_error() {
    let gauge = Gauge::default();
    let service = gauge.service(Limits::default().server_calls_in_flight(1));
    let client = Client::start(&service, Revision::LATEST_LEGACY).await;
    let mut body = client
        .open(client.tool(7, "hang", &json!({"tell": true})))
        .await;
    let first = next(&mut body).await.unwrap();
    let first = std::str::from_utf8(&first).unwrap().to_owned();
    let id = first.lines().find_map(|line| line.strip_prefix("id: "));
    // Its stream is being read, so the call is not abandoned.
    let refused = pass().send(&service).await;
    assert_eq!(refused.status, 503, "{refused:?}");
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(refused.json()["error"]["code"], -32603);
    assert_eq!(refused.json()["id"], 1);
    assert_eq!(gauge.running(), 1);
    drop(body);
    assert_eq!(pass().send(&service).await.status, 200);
    gauge.until(0).await;
    let back = client.get().with("last-event-id", id.unwrap());
    let rest = client.send(back).await;
    let rest = rest.events();
    let last = rest.last().unwrap();
    assert_eq!(
        (&last["id"], &last["error"]["code"]),
        (&json!(7), &json!(-32603))
    );
}

#[tokio::test]
async fn calls_of_connected_clients_are_not_ended() {
    let gauge = Gauge::default();
    let service = gauge.service(Limits::default().server_calls_in_flight(4));
    let mut calls: Vec<_> = (0..4).map(|_| hang(&service)).collect();
    gauge.until(4).await;
    let refused = pass().send(&service).await;
    assert_eq!((refused.status.as_u16(), gauge.running()), (503, 4));
    // Other requests need no call permit.
    let list = Post::modern("tools/list", json!({}));
    assert_eq!(list.send(&service).await.status, 200);
    calls.pop().unwrap().abort();
    gauge.until(3).await;
    assert_eq!(pass().send(&service).await.status, 200);
    for call in calls {
        call.abort();
    }
}

#[tokio::test]
async fn a_client_with_many_calls_does_not_block_the_first_call_of_others() {
    let gauge = Gauge::default();
    let service = gauge.service(Limits::default().server_calls_in_flight(8));
    let greedy = Client::start(&service, Revision::V2025_03_26).await;
    let calls: Vec<_> = (0..8)
        .map(|id| greedy.spawn_send(greedy.tool(id, "hang", &json!({"tell": false}))))
        .collect();
    gauge.until(6).await;
    assert_eq!(gauge.peak.load(Ordering::SeqCst), 6);
    assert_eq!(pass().send(&service).await.status, 200);
    // The same applies to a batch, which is handled as a whole or not at all.
    let batch: Vec<_> = (10..12)
        .map(|id| {
            let params = json!({"name": "pass", "arguments": {}});
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
        })
        .collect();
    let other = Client::start(&service, Revision::V2025_03_26).await;
    let batch = other.post(&json!(batch));
    assert_eq!(other.send(batch.clone()).await.status, 503);
    for call in calls {
        call.abort();
        // The rejected calls have ended already.
        let _ = call.await;
    }
    // The calls of the greedy client are abandoned.
    let response = other.send(batch).await;
    assert_eq!(response.json().as_array().unwrap().len(), 2, "{response:?}");
}

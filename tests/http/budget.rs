//! How many calls a server has in flight as a whole, and what becomes of those that are too many.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tokio::task::JoinHandle;
use treenail::prelude::*;
use treenail::schema::Revision;
use treenail::{HttpService, Limits, http_service};

use crate::client::{Answer, Post, next};
use crate::legacy::Client;

/// Counts the calls that go on.
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
    /// Never ends.
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

    /// Is not ready at once.
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

fn hang(service: &HttpService) -> JoinHandle<Answer> {
    let service = service.clone();
    tokio::spawn(async move {
        Post::tool("hang", json!({"tell": false}))
            .send(&service)
            .await
    })
}

#[tokio::test]
async fn calls_that_are_left_alone_make_room_for_others() {
    const SESSIONS: usize = 20;
    const CALLS: usize = 256;
    let gauge = Gauge::default();
    let limits = Limits::default();
    assert!(SESSIONS * CALLS > limits.server_calls_in_flight);
    let most = limits.server_calls_in_flight;
    let service = gauge.service(limits);
    for _ in 0..SESSIONS {
        let client = Client::begin(&service, Revision::LATEST_LEGACY).await;
        for id in 0..CALLS {
            let call = client.tool(id.try_into().unwrap(), "hang", &json!({"tell": false}));
            client.leave(call).await;
        }
        // Others are served meanwhile, in both eras.
        assert_eq!(pass().send(&service).await.status, 200);
        let good = Client::begin(&service, Revision::LATEST_LEGACY).await;
        let answer = good.send(good.tool(1, "pass", &json!({}))).await;
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    let peak = gauge.peak.load(Ordering::SeqCst);
    assert!(peak <= most, "{peak} calls went on at once");
    assert!(gauge.running() > most / 2, "no more are ended than need be");
}

#[tokio::test]
async fn who_comes_back_for_a_call_that_was_ended_is_told_so() {
    let gauge = Gauge::default();
    let service = gauge.service(Limits::default().server_calls_in_flight(1));
    let client = Client::begin(&service, Revision::LATEST_LEGACY).await;
    let mut body = client
        .open(client.tool(7, "hang", &json!({"tell": true})))
        .await;
    let first = next(&mut body).await.unwrap();
    let first = std::str::from_utf8(&first).unwrap().to_owned();
    let id = first.lines().find_map(|line| line.strip_prefix("id: "));
    // It is read, so nobody else has its place.
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
async fn calls_whose_clients_wait_are_not_ended() {
    let gauge = Gauge::default();
    let service = gauge.service(Limits::default().server_calls_in_flight(4));
    let mut calls: Vec<_> = (0..4).map(|_| hang(&service)).collect();
    gauge.until(4).await;
    let refused = pass().send(&service).await;
    assert_eq!((refused.status.as_u16(), gauge.running()), (503, 4));
    // What is no call needs no place.
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
async fn a_client_with_many_calls_leaves_room_for_the_first_call_of_others() {
    let gauge = Gauge::default();
    let service = gauge.service(Limits::default().server_calls_in_flight(8));
    let greedy = Client::begin(&service, Revision::V2025_03_26).await;
    let calls: Vec<_> = (0..8)
        .map(|id| greedy.send_beside(greedy.tool(id, "hang", &json!({"tell": false}))))
        .collect();
    gauge.until(6).await;
    assert_eq!(gauge.peak.load(Ordering::SeqCst), 6);
    assert_eq!(pass().send(&service).await.status, 200);
    // So does a batch, which is answered as a whole or not at all.
    let batch: Vec<_> = (10..12)
        .map(|id| {
            let params = json!({"name": "pass", "arguments": {}});
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
        })
        .collect();
    let other = Client::begin(&service, Revision::V2025_03_26).await;
    let batch = other.post(&json!(batch));
    assert_eq!(other.send(batch.clone()).await.status, 503);
    for call in calls {
        call.abort();
        // Those that were refused have ended already.
        let _ = call.await;
    }
    // Nobody waits for the greedy calls any more.
    let answer = other.send(batch).await;
    assert_eq!(answer.json().as_array().unwrap().len(), 2, "{answer:?}");
}

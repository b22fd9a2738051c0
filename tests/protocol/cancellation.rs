//! Cancelled calls: they stop and get no response, and a cancellation has no other effect.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::{Value, json};
use treenail::Limits;

use super::faulty::fragile;
use crate::support::covering::covering;
use crate::support::peer::{Peer, at_rest, text};

#[tokio::test]
async fn a_panic_in_a_destructor_of_a_cancelled_call_is_contained() {
    for revision in covering("SRV-CANC-03") {
        let (server, watch) = fragile(Limits::default());
        let mut peer = Peer::connect(&server, revision).await;
        let id = peer.begin("tools/call", json!({"name": "clings"})).await;
        watch.begun.acquire().await.unwrap().forget();
        peer.cancel(id).await;
        let next = peer.call("measured", json!({"number": 1})).await;
        assert_eq!(text(&next), "1");
        assert_eq!(peer.finish().await, [] as [Value; 0], "SRV-CANC-03");
    }
}

#[tokio::test]
async fn cancelled_calls_are_dropped_without_a_response() {
    for revision in covering("SRV-CANC-03, SRV-STDIO-04, SRV-STDIO-05") {
        let (server, watch) = fragile(Limits::default().calls_in_flight(2_000));
        let mut peer = Peer::connect(&server, revision).await;
        let mut ids = Vec::new();
        for _ in 0..1_000 {
            ids.push(peer.begin("tools/call", json!({"name": "never"})).await);
        }
        watch.begun.acquire_many(1_000).await.unwrap().forget();
        for id in ids {
            peer.cancel(id).await;
        }
        watch.dropped.acquire_many(1_000).await.unwrap().forget();
        let next = peer.call("measured", json!({"number": 3})).await;
        assert_eq!(text(&next), "3");
        assert_eq!(peer.finish().await, [] as [Value; 0], "SRV-STDIO-05");
    }
}

#[tokio::test(start_paused = true)]
async fn calls_can_be_cancelled_while_the_call_limit_is_reached() {
    for revision in covering("SRV-CANC-03") {
        let (server, watch) = fragile(
            Limits::default()
                .calls_in_flight(2)
                .shutdown_timeout(Duration::ZERO),
        );
        let mut peer = Peer::connect(&server, revision).await;
        let first = peer.begin("tools/call", json!({"name": "never"})).await;
        peer.begin("tools/call", json!({"name": "never"})).await;
        watch.begun.acquire_many(2).await.unwrap().forget();
        let held = peer.begin("tools/call", json!({"name": "never"})).await;
        peer.cancel(held).await;
        peer.cancel(first).await;
        at_rest().await;
        assert_eq!(watch.dropped.available_permits(), 1, "SRV-CANC-03");
        assert_eq!(
            watch.begun.available_permits(),
            0,
            "SRV-CANC-03: it was held"
        );
        let next = peer.call("measured", json!({"number": 1})).await;
        assert_eq!(text(&next), "1");
        peer.finish().await;
    }
}

fn cancellation(id: &str) -> Value {
    let params = json!({"requestId": id});
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
}

#[tokio::test]
async fn early_and_late_cancellations_are_ignored() {
    for revision in covering("ALL-CANC-01, ALL-CANC-02, SRV-CANC-04") {
        let mut peer = Peer::connect(&fragile(Limits::default()).0, revision).await;
        for number in 0..100 {
            let id = format!("call {number}");
            let params = json!({"name": "measured", "arguments": {"number": number}});
            let call = peer.message(&json!(id), "tools/call", params);
            peer.send(&cancellation(&id)).await;
            peer.send(&call).await;
            let answer = peer.receive("tools/call").await;
            assert_eq!(text(&answer["result"]), number.to_string(), "ALL-CANC-02");
            peer.send(&cancellation(&id)).await;
        }
        assert_eq!(peer.finish().await, [] as [Value; 0], "ALL-CANC-02");
    }
}

#[tokio::test]
async fn a_cancellation_may_cross_the_response() {
    for revision in covering("ALL-CANC-01, ALL-CANC-02, SRV-CANC-04") {
        let mut peer = Peer::connect(&fragile(Limits::default()).0, revision).await;
        // Some calls finish immediately, so that the cancellation is too late; the others need several polls.
        let mut lines = Vec::new();
        for number in 0..100 {
            let id = format!("call {number}");
            let params = json!({"name": "measured", "arguments": {"number": number}});
            let call = peer.message(&json!(id), "tools/call", params);
            lines.push(format!("{call}\n{}\n", cancellation(&id)));
        }
        peer.send_bytes(lines.concat().as_bytes()).await;
        let mut answered = HashSet::new();
        for answer in peer.finish().await {
            let id = answer["id"].as_str().unwrap().to_owned();
            assert_eq!(id, format!("call {}", text(&answer["result"])));
            assert!(answered.insert(id), "ALL-CANC-01: answered twice: {answer}");
        }
        let at_once = (0..100).step_by(4).map(|number| format!("call {number}"));
        assert_eq!(answered, at_once.collect(), "ALL-CANC-01");
    }
}

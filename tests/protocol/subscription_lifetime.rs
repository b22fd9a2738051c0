//! Cost of a long-lived subscription, and its end at shutdown.

use std::time::Duration;

use serde_json::{Value, json};
use treenail::Limits;
use treenail::prelude::*;
use treenail::schema::Revision;

use super::notes::{dynamic, extra, first};
use crate::subscriptions::{TOOLS, UPDATED, everything};
use crate::support::covering::covering_one;
use crate::support::peer::{MODERN, Peer, text};
use crate::support::validator::{validate, validate_notification};

#[tokio::test]
async fn a_peer_that_does_not_read_uses_little_memory_and_misses_no_change() {
    for revision in [Revision::V2025_06_18, MODERN] {
        let limits = Limits::default().queued_output_bytes(1_000);
        let (server, _) = dynamic(limits);
        let mut peer = Peer::connect(&server, revision).await;
        if revision.is_modern() {
            peer.listen("slow", everything()).await;
        } else {
            for uri in ["notes://all", "notes://by-id/7"] {
                peer.request("resources/subscribe", json!({ "uri": uri }))
                    .await;
            }
        }
        for number in 0..10_000_u32 {
            server.resource_updated("notes://all");
            if number % 100 == 0 {
                let name = format!("n{number}");
                server
                    .edit(|offer| offer.namespace(name, |inner| inner.tools(tools![first])))
                    .unwrap();
            }
            // The session may write without blocking.
            tokio::task::yield_now().await;
        }
        // The peer's side of the pipe is full now; later changes are still reported.
        server.resource_updated("notes://by-id/7");
        let mut notifications = vec![peer.next_notification().await.0];
        let mut last = None;
        while last.is_none() {
            let (method, params) = peer.next_notification().await;
            if params["uri"] == "notes://by-id/7" {
                last = Some(method.clone());
            }
            notifications.push(method);
        }
        assert_eq!(last.as_deref(), Some(UPDATED));
        // 64 KiB in the pipe plus the queue, in messages of about 100 bytes.
        assert!(
            (2..1_000).contains(&notifications.len()),
            "{} messages",
            notifications.len()
        );
        peer.request_with_notifications("tools/list", json!({}))
            .await;
        peer.told_nothing().await;
    }
}

#[tokio::test(start_paused = true)]
async fn subscriptions_do_not_count_as_calls_or_keep_the_session_open() {
    let revision = covering_one("SRV-STDIO-06 in 2026-07-28");
    let limits = Limits::default().calls_in_flight(1);
    let (server, _) = dynamic(limits);
    let mut peer = Peer::connect(&server, revision).await;
    for id in 0..5 {
        peer.listen(id, everything()).await;
    }
    assert_eq!(text(&peer.call("notes.count", json!({})).await), "0");
    let begin = tokio::time::Instant::now();
    assert_eq!(peer.finish().await, [] as [Value; 0]);
    assert_eq!(begin.elapsed(), Duration::ZERO, "nothing was waited for");
}

#[tokio::test]
async fn closing_a_server_ends_each_subscription_with_a_result() {
    let revision = covering_one(
        "SRV-SUB-05, SRV-SUB-07, SRV-SUB-08, SRV-META-05, SRV-META-06, SRV-CANC-01 in 2026-07-28",
    );
    let (server, _) = dynamic(Limits::default());
    let mut peer = Peer::connect(&server, revision).await;
    for id in [json!(1), json!("1")] {
        peer.listen(id, json!({"toolsListChanged": true})).await;
    }
    assert!(!server.is_closed());
    server.edit(extra).unwrap();
    server.close();
    server.close();
    assert!(server.is_closed());
    server.resource_updated("notes://all");
    let messages = peer.finish().await;
    assert_eq!(messages.len(), 6, "{messages:#?}");
    for id in [json!(1), json!("1")] {
        let of_id = |message: &&Value| {
            message["id"] == id
                || message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == id
        };
        let own: Vec<_> = messages.iter().filter(of_id).collect();
        let [changed, result, cancelled] = own[..] else {
            panic!("{own:#?}");
        };
        // Earlier changes are reported before the end.
        assert_eq!(changed["method"], TOOLS);
        validate(revision, "subscriptions/listen", result);
        assert_eq!(result["result"]["resultType"], "complete");
        let meta = &result["result"]["_meta"];
        assert_eq!(meta["io.modelcontextprotocol/subscriptionId"], id);
        assert_eq!(
            meta["io.modelcontextprotocol/serverInfo"]["name"],
            "treenail"
        );
        validate_notification(revision, cancelled);
        assert_eq!(cancelled["method"], "notifications/cancelled");
        assert_eq!(cancelled["params"]["requestId"], id);
    }
    // A closed server accepts no connections.
    let late = Peer::silent(&server, revision);
    assert_eq!(late.finish().await, [] as [Value; 0]);
    server.closed().await;
}

#[tokio::test]
async fn closing_a_server_finishes_calls_and_stops_reading() {
    for revision in Revision::ALL {
        let (server, gate) = dynamic(Limits::default());
        let mut peer = Peer::connect(&server, revision).await;
        let wait = json!({"name": "notes.wait"});
        let waiting = peer.begin("tools/call", wait.clone()).await;
        peer.told_nothing().await;
        server.close();
        tokio::task::yield_now().await;
        peer.begin("tools/call", json!({"name": "notes.count"}))
            .await;
        gate.add_permits(1);
        // The input stays open, so it is the server that ends the session.
        let answer = peer.receive("tools/call").await;
        assert_eq!(answer["id"], waiting);
        assert_eq!(text(&answer["result"]), "waited");
        assert_eq!(peer.receive_any().await, None, "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn closing_a_server_does_not_wait_for_endless_calls() {
    let limits = Limits::default().shutdown_timeout(Duration::from_secs(5));
    let (server, _) = dynamic(limits);
    let mut peer = Peer::connect(&server, MODERN).await;
    peer.begin("tools/call", json!({"name": "notes.wait"}))
        .await;
    peer.told_nothing().await;
    server.close();
    let begin = tokio::time::Instant::now();
    assert_eq!(peer.receive_any().await, None);
    assert_eq!(begin.elapsed().as_secs(), 5);
}

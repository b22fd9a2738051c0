//! A connection over time: concurrent calls, cancellation, the end of the input, and slow peers.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;
use treenail::Limits;
use treenail::schema::Revision;

use super::weather::{fixture, server};
use crate::support::covering::{covering, covering_one};
use crate::support::peer::{MODERN, Peer, at_rest, text};

#[tokio::test]
async fn calls_run_concurrently_and_each_gets_its_response() {
    for revision in covering("SRV-STATE-02, ALL-TRN-03, ALL-TRN-05, ALL-TRN-06") {
        let fixture = fixture(Limits::default());
        let mut peer = Peer::connect(&fixture.server, revision).await;
        let mut waiting = HashSet::new();
        for _ in 0..100 {
            waiting.insert(
                peer.begin("tools/call", json!({"name": "weather.wait"}))
                    .await,
            );
        }
        // A call that finishes immediately overtakes waiting ones.
        assert_eq!(text(&peer.call("motto", json!({})).await), "one\ntwo");
        fixture.gate.add_permits(100);
        while !waiting.is_empty() {
            let answer = peer.receive("tools/call").await;
            let id = answer["id"].as_i64().unwrap();
            assert_eq!(text(&answer["result"]), id.to_string());
            assert!(waiting.remove(&id), "{id} was answered twice");
        }
    }
}

#[tokio::test]
async fn no_more_calls_than_the_limit_are_in_flight() {
    let fixture = fixture(Limits::default().calls_in_flight(3));
    let mut peer = Peer::connect(&fixture.server, MODERN).await;
    for _ in 0..3 {
        peer.begin("tools/call", json!({"name": "weather.wait"}))
            .await;
    }
    let fourth = peer.begin("tools/call", json!({"name": "motto"})).await;
    // The fourth call is not even read before one of the three is finished.
    fixture.gate.add_permits(1);
    assert_ne!(peer.receive("tools/call").await["id"], fourth);
    assert_eq!(peer.receive("tools/call").await["id"], fourth);
    fixture.gate.add_permits(2);
    assert_eq!(peer.finish().await.len(), 2);
}

#[tokio::test]
async fn connections_share_the_call_limit_of_the_server() {
    let fixture = fixture(Limits::default().server_calls_in_flight(1));
    let mut first = Peer::connect(&fixture.server, MODERN).await;
    let mut second = Peer::connect(&fixture.server, MODERN).await;
    let wait = || json!({"name": "weather.wait"});
    let begun = first.begin("tools/call", wait()).await;
    let ping = first.begin("server/discover", json!({})).await;
    assert_eq!(first.receive("server/discover").await["id"], ping);
    let held = second.begin("tools/call", json!({"name": "motto"})).await;
    let cancelled = second.begin("tools/call", wait()).await;
    let last = second.begin("tools/call", wait()).await;
    let params = json!({"requestId": cancelled});
    second
        .send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
        .await;
    // Other requests do not wait.
    let ping = second.begin("server/discover", json!({})).await;
    assert_eq!(second.receive("server/discover").await["id"], ping);
    fixture.gate.add_permits(1);
    assert_eq!(first.receive("tools/call").await["id"], begun);
    // The permit passes from one connection to the other.
    assert_eq!(second.receive("tools/call").await["id"], held);
    fixture.gate.add_permits(1);
    assert_eq!(second.receive("tools/call").await["id"], last);
    assert_eq!(first.finish().await, [] as [serde_json::Value; 0]);
    assert_eq!(second.finish().await, [] as [serde_json::Value; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_read_holds_no_permit_of_the_server() {
    let limits = Limits::default().server_calls_in_flight(1);
    let fixture = fixture(limits.queued_output_bytes(1_000));
    let mut first = Peer::connect(&fixture.server, MODERN).await;
    let mut second = Peer::connect(&fixture.server, MODERN).await;
    let begun = first
        .begin("tools/call", json!({"name": "weather.wait"}))
        .await;
    at_rest().await;
    let deferred = second.begin("tools/call", json!({"name": "motto"})).await;
    for _ in 0..100 {
        second.begin("tools/list", json!({})).await;
    }
    at_rest().await;
    fixture.gate.add_permits(1);
    assert_eq!(first.receive("tools/call").await["id"], begun);
    at_rest().await;
    let next = first.begin("tools/call", json!({"name": "motto"})).await;
    let answer = timeout(Duration::from_secs(9), first.receive("tools/call")).await;
    assert_eq!(answer.expect("the permit is free")["id"], next);
    // Once the second peer reads, its call starts too.
    let received = second.finish().await;
    assert_eq!(received.len(), 101);
    assert!(received.iter().any(|answer| answer["id"] == deferred));
}

#[tokio::test]
async fn a_cancelled_call_is_dropped_without_a_response() {
    // CLI-STDIO-07
    for revision in covering("SRV-STDIO-04, SRV-STDIO-05, SRV-CANC-03, SRV-CANC-04, ALL-CANC-02") {
        let fixture = fixture(Limits::default());
        let mut peer = Peer::connect(&fixture.server, revision).await;
        let cancelled = peer
            .begin("tools/call", json!({"name": "weather.wait"}))
            .await;
        let kept = peer
            .begin("tools/call", json!({"name": "weather.wait"}))
            .await;
        for id in [
            json!(cancelled),
            json!(cancelled.to_string()),
            json!(12345),
            json!({}),
        ] {
            let params = json!({"requestId": id, "reason": "enough"});
            peer.send(
                &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}),
            )
            .await;
        }
        assert_eq!(text(&peer.call("motto", json!({})).await), "one\ntwo");
        fixture.gate.add_permits(2);
        assert_eq!(peer.receive("tools/call").await["id"], kept);
        assert_eq!(peer.finish().await, [] as [serde_json::Value; 0]);
        assert_eq!(
            fixture.gate.available_permits(),
            1,
            "the cancelled call took none"
        );
    }
}

#[tokio::test]
async fn blocking_functions_hold_their_permits_when_cancelled() {
    let fixture = fixture(Limits::default().blocking_calls(1));
    let mut peer = Peer::connect(&fixture.server, MODERN).await;
    let first = peer
        .begin("tools/call", json!({"name": "weather.hold"}))
        .await;
    fixture.hold.begun.acquire().await.unwrap().forget();
    let params = json!({"requestId": first});
    peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
        .await;
    let second = peer
        .begin("tools/call", json!({"name": "weather.hold"}))
        .await;
    assert_eq!(text(&peer.call("motto", json!({})).await), "one\ntwo");
    assert_eq!(
        fixture.hold.begun.available_permits(),
        0,
        "the second waits for the first"
    );
    for _ in 0..2 {
        fixture.let_go.send(()).unwrap();
    }
    assert_eq!(peer.receive("tools/call").await["id"], second);
    assert_eq!(peer.finish().await, [] as [serde_json::Value; 0]);
}

#[tokio::test]
async fn ids_may_be_reused_after_the_response() {
    // CLI-BASE-01
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server(), revision).await;
        let request = peer.message(&json!("same"), "tools/call", json!({"name": "motto"}));
        for _ in 0..3 {
            peer.send(&request).await;
            assert_eq!(peer.receive("tools/call").await["id"], "same");
        }
    }
}

#[tokio::test]
async fn the_end_of_the_input_finishes_calls_in_flight() {
    let revision = covering_one("SRV-STDIO-06 in 2026-07-28");
    let fixture = fixture(Limits::default());
    let mut peer = Peer::connect(&fixture.server, revision).await;
    let waiting = peer
        .begin("tools/call", json!({"name": "weather.wait"}))
        .await;
    // The last line has no line break.
    let last =
        json!({"jsonrpc": "2.0", "id": "last", "method": "nothing", "params": {}}).to_string();
    peer.send_bytes(last.as_bytes()).await;
    peer.end_input().await;
    assert_eq!(peer.receive("").await["id"], "last");
    fixture.gate.add_permits(1);
    let rest = peer.finish().await;
    assert_eq!((rest.len(), &rest[0]["id"]), (1, &json!(waiting)));
}

#[tokio::test(start_paused = true)]
async fn endless_calls_do_not_prevent_shutdown() {
    // Nor if there are so many that no further call is answered.
    for (calls, calls_in_flight) in [(1, 8), (8, 8), (20, 8)] {
        let shutdown_timeout = Duration::from_secs(5);
        let limits = Limits::default()
            .shutdown_timeout(shutdown_timeout)
            .calls_in_flight(calls_in_flight);
        let fixture = fixture(limits);
        let mut peer = Peer::connect(&fixture.server, MODERN).await;
        for _ in 0..calls {
            peer.begin("tools/call", json!({"name": "weather.wait"}))
                .await;
        }
        let begin = tokio::time::Instant::now();
        assert_eq!(peer.finish().await, [] as [serde_json::Value; 0]);
        assert_eq!(begin.elapsed().as_secs(), 5, "{calls}");
    }
}

#[tokio::test]
async fn an_unlimited_timeout_does_not_overflow() {
    let fixture = fixture(
        Limits::default()
            .shutdown_timeout(Duration::MAX)
            .elicitation_timeout(Duration::MAX)
            .call_timeout(Some(Duration::MAX)),
    );
    let mut peer = Peer::connect(&fixture.server, MODERN).await;
    let waiting = peer
        .begin("tools/call", json!({"name": "weather.wait"}))
        .await;
    peer.end_input().await;
    fixture.gate.add_permits(1);
    let rest = peer.finish().await;
    assert_eq!((rest.len(), &rest[0]["id"]), (1, &json!(waiting)));
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_read_applies_back_pressure() {
    let limits = Limits::default().queued_output_bytes(10_000);
    let mut peer = Peer::connect(&fixture(limits).server, MODERN).await;
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
    }}});
    let line = format!("{request}\n");
    // Each direction buffers 64 KiB, and the server buffers one read plus 10,000 bytes; beyond that, sending blocks.
    let mut sent = 0_usize;
    while timeout(Duration::from_millis(100), peer.send_bytes(line.as_bytes()))
        .await
        .is_ok()
    {
        sent += 1;
        assert!(sent * line.len() < 1_000_000, "the server took everything");
    }
    // Nothing is lost: every complete line is answered once the peer reads.
    for _ in 0..sent {
        assert_eq!(peer.receive("server/discover").await["id"], 1);
    }
}

#[tokio::test]
async fn a_disconnect_ends_the_session_without_an_error() {
    let fixture = fixture(Limits::default());
    let (here, there) = tokio::io::duplex(1_000);
    let (reader, writer) = tokio::io::split(there);
    let server = fixture.server.clone();
    let session = tokio::spawn(async move { server.serve(reader, writer).await });
    drop(here);
    session.await.unwrap().unwrap();
}

//! Timeouts and concurrency limits of tools. The clock is paused: it advances only when nothing else can progress.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use treenail::prelude::*;
use treenail::schema::Revision;
use treenail::{Error, Limits};

use super::slow::{Fixture, fixture};
use crate::support::covering::{covering, covering_one};
use crate::support::peer::{MODERN, Peer, text};

async fn begin(peer: &mut Peer, name: &str, call: u32) -> i64 {
    let params = json!({"name": name, "arguments": {"call": call}});
    peer.begin("tools/call", params).await
}

async fn cancel(peer: &mut Peer, id: i64) {
    let params = json!({"requestId": id});
    peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
        .await;
}

#[track_caller]
fn check_failure(result: &Value, expected: &str) {
    assert_eq!(result["isError"], true, "SRV-TOOL-16: {result}");
    assert_eq!(text(result), expected, "SRV-TOOL-16");
}

#[tokio::test(start_paused = true)]
async fn calls_time_out() {
    let Fixture { server, seen, .. } = fixture(Limits::default());
    let gave_up = "the tool `limited` did not finish within its limit of 5s; the call was given up";
    for (round, revision) in (1..).zip(covering("SRV-TOOL-16")) {
        let mut peer = Peer::connect(&server, revision).await;
        let start = tokio::time::Instant::now();
        let result = peer.call("limited", json!({"call": 1})).await;
        check_failure(&result, gave_up);
        assert_eq!(start.elapsed().as_secs(), 5);
        assert_eq!(seen.dropped.load(Ordering::SeqCst), round, "it is dropped");

        let result = peer.call("waits_itself", json!({"seconds": 4})).await;
        assert_eq!(text(&result), "4");
        let result = peer.call("limited", json!({"call": "x"})).await;
        assert!(text(&result).starts_with("Wrong arguments for the tool `limited`"));
    }
}

/// Never waits, and yields only when its budget is used up.
#[mcp_tool(timeout = Duration::from_millis(1))]
async fn busy() -> i64 {
    loop {
        tokio::task::coop::consume_budget().await;
    }
}

#[tokio::test]
async fn a_call_that_is_always_ready_times_out() {
    let server = treenail::server!().tools(tools![busy]).build().unwrap();
    let mut peer = Peer::connect(&server, MODERN).await;
    check_failure(
        &peer.call("busy", json!({})).await,
        "the tool `busy` did not finish within its limit of 1ms; the call was given up",
    );
}

#[tokio::test(start_paused = true)]
async fn a_stream_times_out() {
    let Fixture { server, seen, .. } = fixture(Limits::default());
    for (round, revision) in (1..).zip(covering("SRV-TOOL-16")) {
        let mut peer = Peer::connect(&server, revision).await;
        let start = tokio::time::Instant::now();
        let result = peer.call("limited_stream", json!({"call": 1})).await;
        check_failure(
            &result,
            "the tool `limited_stream` did not finish within its limit of 5s; the call was given up",
        );
        assert_eq!(start.elapsed().as_secs(), 5);
        assert_eq!(seen.dropped.load(Ordering::SeqCst), round, "it is dropped");
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_after_a_timeout_still_gets_a_response() {
    let mut peer = Peer::connect(&fixture(Limits::default()).server, MODERN).await;
    let result = peer.call("explodes_when_dropped", json!({})).await;
    let name = "explodes_when_dropped";
    check_failure(
        &result,
        &format!("the tool `{name}` did not finish within its limit of 5s; the call was given up"),
    );
    assert_eq!(text(&peer.call("at_once", json!({"call": 1})).await), "1");
}

#[tokio::test(start_paused = true)]
async fn the_server_timeout_is_the_default_for_tools() {
    let hour = 3600;
    let unlimited = fixture(Limits::default()).server;
    let limited = fixture(Limits::default().call_timeout(Some(Duration::from_millis(2500))));
    let mut peer = Peer::connect(&unlimited, MODERN).await;
    let result = peer.call("plain", json!({"seconds": hour})).await;
    assert_eq!(text(&result), "3600");

    let mut peer = Peer::connect(&limited.server, MODERN).await;
    check_failure(
        &peer.call("plain", json!({"seconds": hour})).await,
        "the tool `plain` did not finish within its limit of 2.5s; the call was given up",
    );
    // A longer timeout of the tool itself works like a shorter one.
    for (tool, seconds) in [("plain", 2), ("waits_itself", 4), ("patient", hour)] {
        let result = peer.call(tool, json!({"seconds": seconds})).await;
        assert_eq!(text(&result), seconds.to_string(), "{tool}");
    }
}

#[tokio::test]
async fn calls_beyond_the_limit_wait_in_order() {
    let Fixture { server, seen, .. } = fixture(Limits::default());
    // The limit applies across connections.
    let mut peers = [
        Peer::connect(&server, MODERN).await,
        Peer::connect(&server, Revision::V2025_11_25).await,
    ];
    for call in 1..=6 {
        let peer = &mut peers[usize::from(call > 4)];
        begin(peer, "two", call).await;
        // Another tool is not blocked. Its response shows that the previous call has been received.
        assert_eq!(
            text(&peer.call("at_once", json!({"call": call})).await),
            call.to_string()
        );
    }
    assert_eq!(*seen.started.lock().unwrap(), [1, 2]);
    for call in 1..=6_u32 {
        seen.gate.0.add_permits(1);
        let peer = &mut peers[usize::from(call > 4)];
        let answer = peer.receive("tools/call").await;
        assert_eq!(text(&answer["result"]), call.to_string());
    }
    assert_eq!(*seen.started.lock().unwrap(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(seen.most.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_waiting_call_can_be_cancelled() {
    let revision = covering_one("SRV-CANC-03 in 2026-07-28");
    let Fixture { server, seen, .. } = fixture(Limits::default());
    let mut peer = Peer::connect(&server, revision).await;
    let mut ids = Vec::new();
    for call in 1..=4 {
        ids.push(begin(&mut peer, "two", call).await);
    }
    // One call waits and one runs, whose permit passes to the last one.
    cancel(&mut peer, ids[2]).await;
    cancel(&mut peer, ids[0]).await;
    while seen.dropped.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    seen.gate.0.add_permits(2);
    for _ in 0..2 {
        let answer = peer.receive("tools/call").await;
        assert!([ids[1], ids[3]].contains(&answer["id"].as_i64().unwrap()));
    }
    let started = seen.started.lock().unwrap().clone();
    assert_eq!(started, [1, 2, 4], "SRV-CANC-03: the third never runs");
    assert_eq!(seen.dropped.load(Ordering::SeqCst), 1, "SRV-CANC-03");
    assert_eq!(peer.finish().await, [] as [Value; 0], "SRV-CANC-03");
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_permit_counts_towards_the_timeout() {
    let Fixture { server, seen, .. } = fixture(Limits::default());
    let mut peer = Peer::connect(&server, MODERN).await;
    let first = begin(&mut peer, "one", 1).await;
    let second = begin(&mut peer, "one", 2).await;
    let mut answers = [
        peer.receive("tools/call").await,
        peer.receive("tools/call").await,
    ];
    answers.sort_by_key(|answer| answer["id"].as_i64());
    assert_eq!([&answers[0]["id"], &answers[1]["id"]], [first, second]);
    check_failure(
        &answers[0]["result"],
        "the tool `one` did not finish within its limit of 5s; the call was given up",
    );
    check_failure(
        &answers[1]["result"],
        "the tool `one` was not started within its limit of 5s: at most 1 of its calls run at once",
    );
    assert_eq!(*seen.started.lock().unwrap(), [1]);

    // The permit of the call that timed out is free again.
    seen.gate.0.add_permits(1);
    assert_eq!(text(&peer.call("one", json!({"call": 3})).await), "3");
}

#[tokio::test]
async fn a_blocked_thread_holds_its_permit() {
    let Fixture {
        server,
        seen,
        unblock,
    } = fixture(Limits::default());
    let mut peer = Peer::connect(&server, MODERN).await;
    let first = begin(&mut peer, "blocks", 1).await;
    while seen.started.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    cancel(&mut peer, first).await;
    let second = begin(&mut peer, "blocks", 2).await;
    // Its response shows that both previous messages have been processed.
    peer.call("at_once", json!({"call": 0})).await;
    assert_eq!(*seen.started.lock().unwrap(), [1], "the first still runs");
    unblock.send(()).unwrap();
    unblock.send(()).unwrap();
    let answer = peer.receive("tools/call").await;
    assert_eq!(answer["id"], second);
    assert_eq!(seen.most.load(Ordering::SeqCst), 1);
}

#[mcp_tool(max_concurrency = none())]
async fn never() {}

#[mcp_tool(timeout = Duration::ZERO)]
async fn no_time() {}

fn none() -> usize {
    0
}

#[test]
fn impossible_policies_do_not_build() {
    for (tools, expected) in [
        (
            tools![never],
            "tool `never`: its `max_concurrency` is 0, so it could never run",
        ),
        (tools![no_time], "tool `no_time`: its `timeout` is zero"),
    ] {
        match treenail::server!().tools(tools).build() {
            Err(Error::Build(message)) => assert_eq!(message, expected),
            other => panic!("{other:?}"),
        }
    }
}

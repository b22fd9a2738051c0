//! A second `initialize` on a connection, which bridges send for each of their clients.

use serde_json::{Value, json};
use treenail::Limits;
use treenail::schema::Revision;

use crate::support::peer::{Peer, error, initialize, text};
use crate::support::weather::fixture;

const LEGACY: Revision = Revision::LATEST_LEGACY;

#[tokio::test]
async fn a_second_handshake_restarts_the_session() {
    let fixture = fixture(Limits::default());
    let mut peer = Peer::connect(&fixture.server, LEGACY).await;
    assert_eq!(text(&peer.call("motto", json!({})).await), "one\ntwo");
    for revision in [Revision::V2025_03_26, LEGACY] {
        peer.revision = revision;
        let params = initialize(revision.as_str());
        let answer = peer.request("initialize", params).await;
        let agreed = &answer["result"]["protocolVersion"];
        assert_eq!(*agreed, revision.as_str(), "{answer}");
        let (code, actual) = peer.refused("tools/call", json!({"name": "motto"})).await;
        assert_eq!(code, -32600, "the handshake is not finished: {actual}");
        peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await;
        assert_eq!(text(&peer.call("motto", json!({})).await), "one\ntwo");
    }
    let unreadable = peer.request("initialize", json!({})).await;
    assert_eq!(error(&unreadable).0, -32602);
    let text = text(&peer.call("motto", json!({})).await).to_owned();
    assert_eq!(text, "one\ntwo", "the session continues");
    assert_eq!(peer.finish().await, [] as [Value; 0]);
}

#[tokio::test]
async fn calls_of_the_previous_session_are_dropped() {
    let limits = Limits::default().calls_in_flight(2);
    let fixture = fixture(limits);
    let mut peer = Peer::connect(&fixture.server, LEGACY).await;
    // Two calls run, the third is deferred.
    for _ in 0..3 {
        let params = json!({"name": "weather.wait", "arguments": {}});
        peer.begin("tools/call", params).await;
    }
    let answer = peer
        .request("initialize", initialize(LEGACY.as_str()))
        .await;
    assert!(answer.get("result").is_some(), "{answer}");
    peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        .await;
    // The call limit is free again, and the earlier calls get no response.
    fixture.gate.add_permits(2);
    for _ in 0..2 {
        let params = json!({"name": "weather.wait", "arguments": {}});
        let id = peer.begin("tools/call", params).await;
        let answer = peer.receive("tools/call").await;
        assert_eq!(answer["id"], id, "{answer}");
    }
    assert_eq!(fixture.gate.available_permits(), 0);
    assert_eq!(peer.finish().await, [] as [Value; 0]);
}

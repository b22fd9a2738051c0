//! Streams over time: cancellation, back-pressure, and disconnects.

use std::ops::RangeInclusive;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use treenail::Limits;
use treenail::limits::StreamLimits;

use super::station::fixture;
use crate::support::covering::covering;
use crate::support::peer::{MODERN, Peer};

/// Receives the progress of all these items: none is lost.
async fn hear(peer: &mut Peer, items: RangeInclusive<usize>) {
    for item in items {
        let told = peer.receive_any().await.unwrap();
        assert_eq!(told["params"]["progress"], item);
    }
}

async fn cancel(peer: &mut Peer, id: i64) {
    let params = json!({"requestId": id});
    peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
        .await;
}

#[tokio::test]
async fn cancellation_drops_a_stream_and_stops_its_notifications() {
    // SRV-STDIO-04, SRV-STDIO-05, SRV-CANC-03: for a stream that waits, never waits, or waits for its reader.
    for (name, queued_messages, token) in [
        ("station.endless", 64, json!(1)),
        ("station.endless", 64, json!(null)),
        ("station.eager", 64, json!(null)),
    ] {
        for revision in covering("SRV-STDIO-04, SRV-STDIO-05, SRV-CANC-03") {
            let fixture = fixture(
                Limits::default()
                    .queued_messages(queued_messages)
                    .streams(StreamLimits::default().items(usize::MAX)),
            );
            let mut peer = Peer::connect(&fixture.server, revision).await;
            let params = json!({"name": name, "_meta": {"progressToken": token}});
            let id = peer.begin("tools/call", params).await;
            if token.is_number() {
                fixture.gate.add_permits(2);
                hear(&mut peer, 1..=2).await;
            }
            cancel(&mut peer, id).await;
            fixture.dropped.notified().await;
            assert!(!fixture.open.load(Ordering::SeqCst));
            fixture.gate.add_permits(10);
            assert_eq!(
                peer.finish().await,
                [] as [Value; 0],
                "{name} in {revision}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_applies_back_pressure_to_a_stream() {
    let limits = Limits::default()
        .queued_messages(2)
        .queued_output_bytes(1_000)
        .streams(StreamLimits::default().items(usize::MAX));
    let fixture = fixture(limits);
    let mut peer = Peer::connect(&fixture.server, MODERN).await;
    let params = json!({"name": "station.eager", "_meta": {"progressToken": "t", "dev.treenail/items": true}});
    let id = peer.begin("tools/call", params).await;
    // The clock advances only when nothing can progress.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let made = fixture.made.load(Ordering::SeqCst);
    // The pipe buffers 64 KiB, and a message has more than 100 bytes.
    assert!((100..700).contains(&made), "{made} items were made");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(
        fixture.made.load(Ordering::SeqCst),
        made,
        "the stream stands still"
    );
    hear(&mut peer, 1..=made).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(fixture.made.load(Ordering::SeqCst) > made, "it goes on");
    cancel(&mut peer, id).await;
    while fixture.open.load(Ordering::SeqCst) {
        peer.receive_any().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_ends_when_the_client_disconnects() {
    for (name, meta) in [
        ("station.endless", json!({})),
        ("station.eager", json!({})),
        ("station.eager", json!({"progressToken": 1})),
    ] {
        let fixture = fixture(
            Limits::default()
                .streams(StreamLimits::default().items(usize::MAX))
                .shutdown_timeout(Duration::ZERO),
        );
        let mut peer = Peer::connect(&fixture.server, MODERN).await;
        peer.begin("tools/call", json!({"name": name, "_meta": meta}))
            .await;
        while fixture.made.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        drop(peer);
        fixture.dropped.notified().await;
    }
}

//! Streams that are stopped early, and the items that are preserved.

use std::sync::atomic::Ordering;

use serde_json::json;
use treenail::Limits;
use treenail::limits::StreamLimits;
use treenail::schema::Revision;

use super::station::{fixture, server};
use super::{downgraded, frame, structured, texts};
use crate::support::covering::covering;
use crate::support::peer::{MODERN, Peer, text};

#[tokio::test]
async fn a_failure_preserves_earlier_items() {
    let two = json!([frame(1), frame(2)]);
    let table = [
        ("words_fail", 3, json!(["c\\d e", "no item 3"]), json!(null)),
        ("words_fail", 1, json!(["no item 1"]), json!(null)),
        (
            "frames_fail",
            3,
            json!([two.to_string(), "no item 3"]),
            two.clone(),
        ),
        ("frames_fail", 1, json!(["no item 1"]), json!(null)),
        ("frames_fail", 0, json!(["no stream"]), json!(null)),
        (
            "last_frame_fails",
            3,
            json!([frame(2).to_string(), "no item 3"]),
            frame(2),
        ),
        ("last_frame_fails", 1, json!(["no item 1"]), json!(null)),
        (
            "blocks_fail",
            2,
            json!(["c\\d ", "no item 2", "audio"]),
            json!(null),
        ),
        ("blocks_fail", 1, json!(["no item 1", "audio"]), json!(null)),
    ];
    for revision in covering("SRV-TOOL-16") {
        let mut peer = Peer::connect(&server(), revision).await;
        for (name, at, content, value) in &table {
            let result = peer.call(name, json!({"at": at})).await;
            let content = downgraded(content, revision);
            assert_eq!(texts(&result), content, "{name} at {at} in {revision}");
            let expected = structured(value, revision);
            assert_eq!(
                result.get("structuredContent"),
                expected.as_ref(),
                "{name} at {at} in {revision}"
            );
            assert_eq!(result["isError"], true, "{name} at {at}");
        }
        let result = peer.call("unwritable", json!({})).await;
        let unwritable = "an item could not be written as JSON: key must be a string";
        assert_eq!(texts(&result), json!([unwritable]));
        let result = peer.call("last_frame", json!({"to": 0})).await;
        assert_eq!(texts(&result), json!(["the stream ended without an item"]));
        assert_eq!(result["isError"], true);
    }
}

#[tokio::test]
async fn a_panic_preserves_earlier_items_and_hides_its_message() {
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server(), revision).await;
        for later in [false, true] {
            let failed = "the tool `words_panic` failed unexpectedly; this is a bug in the server";
            let result = peer
                .call("words_panic", json!({"at": 3, "later": later}))
                .await;
            assert_eq!(texts(&result), json!(["c\\d e", failed]));
            assert_eq!(result["isError"], true);
            let result = peer
                .call("words_panic", json!({"at": 1, "later": later}))
                .await;
            assert_eq!(texts(&result), json!([failed]));
        }
        assert_eq!(text(&peer.call("words", json!({"to": 1})).await), "c\\d ");
    }
}

#[tokio::test]
async fn limits_stop_a_stream_and_preserve_earlier_items() {
    let limits = Limits::default().streams(StreamLimits::default().items(3).bytes(60));
    let items = "stopped after 3 items, the maximum that the server accepts from one stream";
    let bytes = |items| {
        format!(
            "stopped after {items} items; with the next one there would be more than 60 bytes, the maximum that the server \
             accepts from one stream"
        )
    };
    let three = json!(["c\\d ea \"b\"\n", items]);
    // A frame without a note has 20 bytes, the second one 28: {"at":2,"note":"a \"b\""}.
    let table = [
        ("words", 3, json!(["c\\d ea \"b\"\n"])),
        ("words", 4, three),
        ("last_number", 9, json!(["30", items])),
        (
            "frames",
            2,
            json!([json!([frame(1), frame(2)]).to_string()]),
        ),
        (
            "frames",
            4,
            json!([json!([frame(1), frame(2)]).to_string(), bytes(2)]),
        ),
        (
            "frame_lines",
            4,
            json!([format!("{}\n{}", frame(1), frame(2)), bytes(2)]),
        ),
        ("blocks", 3, json!(["c\\d ", "e", bytes(2)])),
        ("long_word", 61, json!([bytes(0)])),
    ];
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&fixture(limits.clone()).server, revision).await;
        for (name, to, content) in &table {
            let result = peer.call(name, json!({"to": to})).await;
            assert_eq!(texts(&result), *content, "{name} to {to} in {revision}");
            let failed = content.to_string().contains("stopped");
            assert_eq!(result.get("isError").is_some(), failed, "{name} to {to}");
        }
    }
}

#[tokio::test]
async fn a_stream_that_never_waits_stops_at_the_limit() {
    let fixture = fixture(Limits::default().streams(StreamLimits::default().items(1_000)));
    let mut peer = Peer::connect(&fixture.server, MODERN).await;
    let result = peer.call("station.eager", json!({})).await;
    assert_eq!(result["structuredContent"], 1_000);
    assert_eq!(fixture.made.load(Ordering::SeqCst), 1_001);
    assert!(!fixture.open.load(Ordering::SeqCst));
}

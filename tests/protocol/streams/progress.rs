//! Progress notifications for stream items.

use serde_json::{Value, json};
use treenail::Limits;
use treenail::schema::Revision;

use super::frame;
use super::station::{fixture, server};
use crate::support::covering::{covering, covering_one};
use crate::support::peer::{Peer, text};
use crate::support::stream_tools::word;

/// Returns the progress notifications of a call, and its result.
async fn call_with_progress(
    peer: &mut Peer,
    name: &str,
    arguments: Value,
    meta: Value,
) -> (Vec<Value>, Value) {
    let params = json!({"name": name, "arguments": arguments, "_meta": meta});
    let (notifications, mut answer) = peer.request_with_notifications("tools/call", params).await;
    let params = notifications
        .into_iter()
        .map(|mut told| told["params"].take());
    (params.collect(), answer["result"].take())
}

#[tokio::test]
async fn items_are_reported_as_progress_on_request() {
    // SRV-PROG-01 to SRV-PROG-06: also if the queue has room for only one message.
    for queued_messages in [1, 64] {
        let limits = Limits::default().queued_messages(queued_messages);
        for revision in covering("SRV-PROG-01, SRV-PROG-02, SRV-PROG-03, SRV-PROG-04") {
            let mut peer = Peer::connect(&fixture(limits.clone()).server, revision).await;
            for token in [json!(7), json!("seven")] {
                let meta = json!({"progressToken": token});
                let (notifications, result) =
                    call_with_progress(&mut peer, "words", json!({"to": 3}), meta.clone()).await;
                let progress =
                    |at: u32| json!({"progressToken": token, "progress": at, "message": word(at)});
                assert_eq!(notifications, [progress(1), progress(2), progress(3)]);
                assert_eq!(text(&result), "c\\d ea \"b\"\n");

                let (notifications, _) =
                    call_with_progress(&mut peer, "frames", json!({"to": 2}), meta).await;
                let progress = |at: u32| json!({"progressToken": token, "progress": at});
                assert_eq!(notifications, [progress(1), progress(2)]);
            }
            for meta in [
                json!({}),
                json!({"progressToken": null}),
                json!({"dev.treenail/items": true}),
            ] {
                let (notifications, _) =
                    call_with_progress(&mut peer, "words", json!({"to": 3}), meta).await;
                assert_eq!(notifications, [] as [Value; 0]);
            }
        }
    }
}

#[tokio::test]
async fn items_are_attached_to_progress_on_request() {
    // ALL-META-08: a client that sends `dev.treenail/items` in its `_meta` understands `dev.treenail/item` in ours.
    let item = |at: u32, value: Value, message: Option<String>| {
        let mut params =
            json!({"progressToken": 1, "progress": at, "_meta": {"dev.treenail/item": value}});
        if let Some(message) = message {
            params["message"] = message.into();
        }
        params
    };
    let text_block = |at: u32| json!({"type": "text", "text": word(at)});
    let table = [
        ("frames", [item(1, frame(1), None), item(2, frame(2), None)]),
        (
            "last_frame",
            [item(1, frame(1), None), item(2, frame(2), None)],
        ),
        (
            "frame_lines",
            [item(1, frame(1), None), item(2, frame(2), None)],
        ),
        (
            "words",
            [1, 2].map(|at| item(at, word(at).into(), Some(word(at)))),
        ),
        (
            "last_word",
            [1, 2].map(|at| item(at, word(at).into(), Some(word(at)))),
        ),
        (
            "blocks",
            [1, 2].map(|at| item(at, text_block(at), Some(word(at)))),
        ),
        (
            "blocks_joined",
            [1, 2].map(|at| item(at, text_block(at), Some(word(at)))),
        ),
        ("ticks", [1, 2].map(|at| item(at, Value::Null, None))),
    ];
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server(), revision).await;
        for (name, expected) in &table {
            let meta = json!({"progressToken": 1, "dev.treenail/items": true});
            let (notifications, _) =
                call_with_progress(&mut peer, name, json!({"to": 2}), meta).await;
            assert_eq!(notifications, expected, "{name} in {revision}");
        }
        for wanted in [json!(false), json!("true"), json!(1)] {
            let meta = json!({"progressToken": 1, "dev.treenail/items": wanted});
            let (notifications, _) =
                call_with_progress(&mut peer, "frames", json!({"to": 1}), meta).await;
            assert_eq!(notifications, [json!({"progressToken": 1, "progress": 1})]);
        }
    }
}

#[tokio::test]
async fn long_text_is_truncated_in_the_message_but_not_in_the_item() {
    let revision = covering_one("SRV-PROG-04 in 2026-07-28");
    // SRV-PROG-04: the message is for display.
    let mut peer = Peer::connect(&server(), revision).await;
    let meta = json!({"progressToken": 1, "dev.treenail/items": true});
    for (to, message) in [(30, 30), (3_072, 3_072), (6_000, 3_072)] {
        let (notifications, result) =
            call_with_progress(&mut peer, "long_word", json!({"to": to}), meta.clone()).await;
        let whole = text(&result);
        assert_eq!(notifications[0]["_meta"]["dev.treenail/item"], whole);
        let told = notifications[0]["message"].as_str().unwrap();
        assert_eq!(told.trim_end_matches('…').len(), message);
        assert!(whole.starts_with(told.trim_end_matches('…')));
        assert_eq!(told.ends_with('…'), whole.len() > message);
    }
}

#[tokio::test]
async fn progress_of_the_function_and_of_its_items_is_one_sequence() {
    // SRV-PROG-02: progress from the function that is not greater than before is not sent; that of an item always is.
    for revision in covering("SRV-PROG-02") {
        let mut peer = Peer::connect(&server(), revision).await;
        let meta = json!({"progressToken": 1});
        let (notifications, _) =
            call_with_progress(&mut peer, "station.telling", json!({}), meta).await;
        let progress: Vec<_> = notifications
            .iter()
            .map(|params| params["progress"].as_f64().unwrap())
            .collect();
        assert_eq!(progress, [1.0, 50.0, 51.0, 52.0], "{notifications:?}");
    }
}

#[tokio::test]
async fn a_progress_token_that_is_too_long_is_refused() {
    let limits = Limits::default().progress_token_bytes(16);
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&fixture(limits.clone()).server, revision).await;
        let call = |meta: Value| json!({"name": "words", "arguments": {"to": 1}, "_meta": meta});
        let long = json!({"progressToken": "x".repeat(17)});
        let (code, message) = peer.refused("tools/call", call(long)).await;
        assert_eq!(code, -32602, "{revision}: {message}");
        assert!(message.contains("progressToken"), "{revision}: {message}");
        for meta in [
            json!({"progressToken": "x".repeat(16)}),
            json!({"progressToken": 1, "com.example/note": "x".repeat(1_000)}),
        ] {
            let (notifications, result) =
                call_with_progress(&mut peer, "words", json!({"to": 1}), meta.clone()).await;
            let token = &notifications[0]["progressToken"];
            assert_eq!(*token, meta["progressToken"], "{revision}: {result}");
        }
    }
}

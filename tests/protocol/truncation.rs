//! Long input in errors: at most a truncated piece is repeated. Request IDs are repeated completely, and limited for
//! that reason.

use serde_json::{Value, json};
use treenail::Limits;
use treenail::schema::Revision;

use super::{library, weather};
use crate::support::peer::{Peer, error};

const LONG: usize = 100_000;

/// Receives the next message as text without validation; long messages are compared by length.
async fn answered(peer: &mut Peer, line: &str) -> Value {
    peer.send_line(line).await;
    peer.receive_any().await.unwrap()
}

#[tokio::test]
async fn errors_do_not_repeat_long_input() {
    let long = "x".repeat(LONG);
    let longest = "x".repeat(3_000_000);
    let requests = [
        ("completion/complete", json!({"ref": {"type": longest}})),
        ("completion/complete", json!({"ref": long, "argument": {}})),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": long}, "argument": {"name": "a", "value": ""}}),
        ),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/resource", "uri": long}, "argument": {"name": "a", "value": ""}}),
        ),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": "library.recommend"}, "argument": {"name": long, "value": ""}}),
        ),
        (&*long, json!({})),
        ("tools/call", json!({"name": long})),
        ("prompts/get", json!({"name": long})),
        (
            "prompts/get",
            json!({"name": "library.recommend", "arguments": {"subject": "a", "count": long}}),
        ),
        ("resources/read", json!({"uri": long})),
        (
            "resources/read",
            json!({"uri": format!("library://books/{long}")}),
        ),
        ("resources/subscribe", json!({"uri": format!("x:{long}")})),
        ("tools/list", json!({"cursor": long})),
        ("logging/setLevel", json!({"level": long})),
        ("initialize", json!({"protocolVersion": {"x": long}})),
    ];
    let server = library::server();
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let mut peer = Peer::connect(&server, revision).await;
        for (method, params) in &requests {
            let message = peer.message(&json!(1), method, params.clone());
            let answer = answered(&mut peer, &message.to_string()).await;
            let length = answer.to_string().len();
            let method = &method[..method.len().min(40)];
            assert!(length < 5_000, "{method} in {revision}: {length} bytes");
        }
    }
}

#[tokio::test]
async fn long_ids_are_rejected() {
    let limits = Limits::default();
    assert_eq!(limits.request_id_bytes, 4 << 10);
    let fits = "x".repeat(limits.request_id_bytes - 2);
    let server = weather::server();
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server, revision).await;
        for method in ["ping", "tools/list", "tools/call", "no/such"] {
            let params = json!({"name": "motto"});
            let message = peer.message(&json!(fits), method, params.clone());
            let answer = answered(&mut peer, &message.to_string()).await;
            assert_eq!(answer["id"], fits, "{method} in {revision}");
            for id in [format!("\"{fits}x\""), "7".repeat(5_000)] {
                let message = peer.message(&json!("@"), method, params.clone());
                let message = message.to_string().replace("\"@\"", &id);
                let answer = answered(&mut peer, &message).await;
                assert_eq!(error(&answer).0, -32600, "{answer}");
                assert_eq!(answer.get("id"), None, "{answer}");
            }
        }
    }
}

#[tokio::test]
async fn long_ids_in_batches_are_rejected() {
    let mut peer = Peer::connect(&weather::server(), Revision::V2025_03_26).await;
    let id = "x".repeat(5_000);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let batch = json!([{"jsonrpc": "2.0", "id": id, "method": "ping"}, ping]);
    let answers = answered(&mut peer, &batch.to_string()).await;
    assert_eq!(answers.as_array().map(Vec::len), Some(2), "{answers}");
    assert_eq!(error(&answers[0]).0, -32600);
    assert_eq!(answers[1]["id"], 1);
}

//! Errors for subscriptions that are invalid, or beyond the limits of the server.

use serde_json::json;
use treenail::Limits;
use treenail::limits::SubscriptionLimits;

use crate::subscriptions::{cancel, listen};
use crate::support::notes::dynamic;
use crate::support::peer::{MODERN, Peer, error};

#[tokio::test]
async fn invalid_and_excess_subscriptions_are_rejected() {
    let limits = Limits::default()
        .subscriptions(SubscriptionLimits::default().open(2).resources(3).bytes(30));
    let (server, _) = dynamic(limits);
    let mut peer = Peer::connect(&server, MODERN).await;
    let uris = |uris: &[&str]| json!({"resourceSubscriptions": uris});
    let long = format!("notes://by-id/{}", "1".repeat(30));
    let two = uris(&["notes://by-id/1", "notes://by-id/2"]);
    let four = uris(&[
        "notes://by-id/1",
        "notes://by-id/2",
        "notes://by-id/3",
        "a://b",
    ]);
    let table = [
        (
            json!(1),
            json!(null),
            -32602,
            "`params.notifications` is not an object",
        ),
        (
            json!(1),
            json!([]),
            -32602,
            "`params.notifications` is not an object",
        ),
        (
            json!(1),
            json!({"toolsListChanged": 1}),
            -32602,
            "invalid type",
        ),
        (
            json!(1),
            json!({"resourceSubscriptions": "notes://all"}),
            -32602,
            "invalid type",
        ),
        (json!(1), uris(&[&long]), -32602, "at most 30 bytes"),
        (json!("x".repeat(40)), json!({}), -32600, "too long"),
        (json!(1), four, -32602, "at most 3 resources"),
        (json!(1), two.clone(), 0, ""),
        (json!(2), two, -32602, "at most 3 resources"),
        (json!(1), json!({}), -32600, "is open already"),
        (json!(2), uris(&["notes://by-id/3"]), 0, ""),
        (json!(3), json!({}), -32600, "at most 2 subscriptions"),
    ];
    for (id, notifications, code, message) in table {
        if code == 0 {
            peer.listen(id, notifications).await;
            continue;
        }
        peer.send(&listen(id.clone(), &notifications)).await;
        let answer = peer.receive("subscriptions/listen").await;
        assert_eq!(answer["id"], id);
        let refused = error(&answer);
        assert!(
            refused.0 == code && refused.1.contains(message),
            "{notifications}: {answer}"
        );
    }
    let missing = peer.refused("subscriptions/listen", json!({})).await;
    assert_eq!(
        missing,
        (-32602, "`params.notifications` is missing".to_owned())
    );
    // A cancelled subscription frees its slot.
    peer.send(&cancel(1)).await;
    peer.listen(3, uris(&["notes://by-id/4", "notes://by-id/5"]))
        .await;
}

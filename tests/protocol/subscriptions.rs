//! Subscriptions: `subscriptions/listen` of the modern era, and its legacy equivalents.

use serde_json::{Value, json};
use treenail::Limits;
use treenail::prelude::*;
use treenail::server::Component;

use crate::support::covering::covering_one;
use crate::support::notes::{dynamic, extra, first, fixed};
use crate::support::peer::{MODERN, Peer, meta};

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
pub(crate) const UPDATED: &str = "notifications/resources/updated";
pub(crate) const TOOLS: &str = "notifications/tools/list_changed";
const PROMPTS: &str = "notifications/prompts/list_changed";
const RESOURCES: &str = "notifications/resources/list_changed";

pub(crate) fn listen(id: impl Into<Value>, notifications: &Value) -> Value {
    let meta: serde_json::Map<_, _> = meta(MODERN.as_str())
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect();
    let params = json!({"notifications": notifications, "_meta": meta});
    json!({"jsonrpc": "2.0", "id": id.into(), "method": "subscriptions/listen", "params": params})
}

pub(crate) fn cancel(id: impl Into<Value>) -> Value {
    let params = json!({"requestId": id.into()});
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
}

/// Filter of a subscription to everything.
pub(crate) fn everything() -> Value {
    json!({
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourcesListChanged": true,
        "resourceSubscriptions": ["notes://all", "notes://by-id/7"],
    })
}

impl Peer {
    /// Starts a subscription and returns the acknowledged filter.
    pub(crate) async fn listen(&mut self, id: impl Into<Value>, notifications: Value) -> Value {
        let id = id.into();
        self.send(&listen(id.clone(), &notifications)).await;
        let mut params = self.tagged(&id, ACKNOWLEDGED).await;
        params["notifications"].take()
    }

    /// Receives the next notification of the subscription `id` and returns its params.
    async fn tagged(&mut self, id: &Value, method: &str) -> Value {
        let (received, params) = self.next_notification().await;
        assert_eq!(received, method, "{params}");
        let tag = &params["_meta"]["io.modelcontextprotocol/subscriptionId"];
        assert_eq!(tag, id, "SRV-META-06, SRV-SUB-05: {params}");
        params
    }

    /// Receives `notifications/resources/updated`, with or without a subscription ID.
    pub(crate) async fn told_update(&mut self, uri: &str) {
        let (method, params) = self.next_notification().await;
        assert_eq!((&*method, &params["uri"]), (UPDATED, &json!(uri)));
    }
}

#[tokio::test]
async fn the_acknowledgement_is_first_and_lists_accepted_subscriptions() {
    let revision =
        covering_one("SRV-SUB-02, SRV-SUB-03, SRV-SUB-04, SRV-SUB-05, SRV-META-06 in 2026-07-28");
    let table = [
        (everything(), everything()),
        (json!({}), json!({})),
        (
            json!({"toolsListChanged": false, "promptsListChanged": true, "other": 1}),
            json!({"promptsListChanged": true}),
        ),
        (
            // Unknown, not subscribable, duplicate, and one of a template.
            json!({"resourceSubscriptions": [
                "notes://none", "notes://fixed", "notes://old/1",
                "notes://all", "notes://all", "notes://by-id/1",
            ]}),
            json!({"resourceSubscriptions": ["notes://all", "notes://by-id/1"]}),
        ),
    ];
    let (server, _) = dynamic(Limits::default());
    let mut peer = Peer::connect(&server, revision).await;
    for (number, (asked, honoured)) in table.into_iter().enumerate() {
        // An event directly after the request does not overtake the acknowledgement.
        let id = json!(number);
        peer.send(&listen(id.clone(), &asked)).await;
        server.resource_updated("notes://all");
        let params = peer.tagged(&id, ACKNOWLEDGED).await;
        assert_eq!(params["notifications"], honoured);
        peer.send(&cancel(id)).await;
        peer.told_nothing().await;
    }
}

#[tokio::test]
async fn subscriptions_to_static_items_are_not_accepted() {
    let revision = covering_one("SRV-SUB-04 in 2026-07-28");
    let (server, _) = fixed(Limits::default());
    let mut peer = Peer::connect(&server, revision).await;
    let honoured = peer.listen(1, everything()).await;
    let uris = json!({"resourceSubscriptions": ["notes://all", "notes://by-id/7"]});
    assert_eq!(honoured, uris);

    let nothing = treenail::server!().tools(tools![first]).build().unwrap();
    let mut peer = Peer::connect(&nothing, revision).await;
    assert_eq!(peer.listen("id", everything()).await, json!({}));
    peer.told_nothing().await;
}

#[tokio::test]
async fn only_requested_events_are_sent() {
    let revision = covering_one(
        "SRV-SUB-01, SRV-SUB-09, SRV-RES-09, SRV-RES-10, SRV-TOOL-04, SRV-PRM-08 in 2026-07-28",
    );
    let table = [
        (json!({"toolsListChanged": true}), &[TOOLS][..]),
        (json!({"promptsListChanged": true}), &[PROMPTS]),
        (json!({"resourcesListChanged": true}), &[RESOURCES]),
        (
            json!({"resourceSubscriptions": ["notes://by-id/7"]}),
            &[UPDATED],
        ),
        (everything(), &[TOOLS, PROMPTS, RESOURCES, UPDATED, UPDATED]),
        (json!({}), &[]),
    ];
    for (asked, expected) in table {
        let (server, _) = dynamic(Limits::default());
        let mut peer = Peer::connect(&server, revision).await;
        let mut other = Peer::connect(&server, revision).await;
        peer.listen("s", asked).await;
        other.told_nothing().await;
        server.edit(extra).unwrap();
        for uri in [
            "notes://all",
            "notes://by-id/7",
            "notes://by-id/8",
            "notes://by-id/",
        ] {
            server.resource_updated(uri);
        }
        for method in expected {
            peer.tagged(&json!("s"), method).await;
        }
        peer.told_nothing().await;
        other.told_nothing().await;
    }
}

#[tokio::test]
async fn subscriptions_of_one_connection_are_distinguished() {
    let revision = covering_one("SRV-SUB-05, SRV-SUB-06, SRV-META-06, ALL-BASE-03 in 2026-07-28");
    let (server, _) = dynamic(Limits::default());
    let mut peer = Peer::connect(&server, revision).await;
    let tools = json!({"toolsListChanged": true});
    let both = json!({"toolsListChanged": true, "promptsListChanged": true});
    let (number, string) = (json!(1), json!("1"));
    peer.listen(1, tools).await;
    peer.listen("1", both).await;
    // A number that no other type can represent is returned unchanged too.
    let huge = "123456789012345678901234567890";
    let line = listen(0, &json!({})).to_string();
    peer.send_line(&line.replace("\"id\":0", &format!("\"id\":{huge}")))
        .await;
    let huge: Value = serde_json::from_str(huge).unwrap();
    peer.tagged(&huge, ACKNOWLEDGED).await;

    server.edit(extra).unwrap();
    let mut notifications = Vec::new();
    for _ in 0..3 {
        let (method, params) = peer.next_notification().await;
        let tag = params["_meta"]["io.modelcontextprotocol/subscriptionId"].clone();
        notifications.push((method, tag));
    }
    for expected in [(TOOLS, &number), (TOOLS, &string), (PROMPTS, &string)] {
        let count = notifications
            .iter()
            .filter(|(method, tag)| (&**method, tag) == expected);
        assert_eq!(count.count(), 1, "{expected:?}: {notifications:?}");
    }

    peer.send(&cancel("1")).await;
    peer.told_nothing().await;
    server
        .edit(|offer| offer.remove(Component::tool("extra_tool")))
        .unwrap();
    peer.tagged(&number, TOOLS).await;
    peer.told_nothing().await;

    // A pending event is not sent after a cancellation.
    server.edit(|offer| offer.tools(tools![first])).unwrap();
    peer.tagged(&number, TOOLS).await;
    for id in [json!(1), json!(1), json!("unknown"), json!(null)] {
        peer.send(&cancel(id)).await;
    }
    peer.told_nothing().await;
    server
        .edit(|offer| offer.remove(Component::tool("first")))
        .unwrap();
    peer.told_nothing().await;
    // The ID is free again.
    peer.listen(1, json!({})).await;
}

#[tokio::test]
async fn functions_publish_their_changes() {
    let revision = covering_one("SRV-RES-09 in 2026-07-28");
    let (server, _) = fixed(Limits::default());
    let mut peer = Peer::connect(&server, revision).await;
    peer.listen(1, everything()).await;
    let arguments = json!({"uri": "notes://all", "times": 3});
    let params = json!({"name": "notes.touch", "arguments": arguments});
    let (notifications, _) = peer.request_with_notifications("tools/call", params).await;
    assert!(
        notifications
            .iter()
            .all(|notification| notification["method"] == UPDATED)
    );
    // The last notification may follow the response.
    let (later, _) = peer
        .request_with_notifications("tools/list", json!({}))
        .await;
    assert!((1..=3).contains(&(notifications.len() + later.len())));
}

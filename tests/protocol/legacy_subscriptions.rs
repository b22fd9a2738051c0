//! Subscriptions of the legacy era: `resources/subscribe`, and notifications without a subscription ID.

use serde_json::{Value, json};
use treenail::Limits;
use treenail::limits::SubscriptionLimits;
use treenail::prelude::*;
use treenail::schema::Revision;
use treenail::server::Component;

use super::notes::{dynamic, first, fixed};
use crate::subscriptions::{TOOLS, UPDATED};
use crate::support::covering::covering;
use crate::support::peer::{MODERN, Peer};

#[tokio::test]
async fn legacy_peers_subscribe_to_several_resources() {
    for revision in covering("SRV-RES-01 until 2025-11-25") {
        for (server, _) in [fixed(Limits::default()), dynamic(Limits::default())] {
            let mut peer = Peer::connect(&server, revision).await;
            let mut other = Peer::connect(&server, revision).await;
            for peer in [&mut peer, &mut other] {
                peer.told_nothing().await;
            }
            let uri = |uri: &str| json!({ "uri": uri });
            for one in ["notes://all", "notes://by-id/7", "notes://all"] {
                let answer = peer.request("resources/subscribe", uri(one)).await;
                assert_eq!(answer["result"], json!({}));
            }
            let refused = peer
                .refused("resources/subscribe", uri("notes://none"))
                .await;
            assert_eq!(refused.0, -32002, "{refused:?}");
            let refused = peer
                .refused("resources/subscribe", uri("notes://fixed"))
                .await;
            let message = "resource `notes://fixed` does not support subscriptions".to_owned();
            assert_eq!(refused, (-32602, message));
            assert_eq!(
                peer.refused("resources/subscribe", json!({})).await.0,
                -32602
            );

            for one in [
                "notes://all",
                "notes://all",
                "notes://by-id/8",
                "notes://by-id/7",
            ] {
                server.resource_updated(one);
            }
            for one in ["notes://all", "notes://by-id/7"] {
                let (method, params) = peer.next_notification().await;
                assert_eq!((&*method, params), (UPDATED, uri(one)), "not tagged");
            }
            peer.told_nothing().await;
            for one in ["notes://all", "notes://none"] {
                let answer = peer.request("resources/unsubscribe", uri(one)).await;
                assert_eq!(answer["result"], json!({}));
            }
            server.resource_updated("notes://all");
            server.resource_updated("notes://by-id/7");
            peer.told_update("notes://by-id/7").await;
            peer.told_nothing().await;
            other.told_nothing().await;
        }
    }
}

#[tokio::test]
async fn legacy_subscriptions_are_limited() {
    let limits = Limits::default().subscriptions(SubscriptionLimits::default().resources(2));
    let (server, _) = fixed(limits);
    let mut peer = Peer::connect(&server, Revision::V2025_11_25).await;
    let uri = |number: u32| json!({"uri": format!("notes://by-id/{number}")});
    for number in [1, 2, 1] {
        let answer = peer.request("resources/subscribe", uri(number)).await;
        assert!(answer.get("result").is_some(), "{answer}");
    }
    let refused = peer.refused("resources/subscribe", uri(3)).await;
    assert_eq!(refused.0, -32602);
    peer.request("resources/unsubscribe", uri(1)).await;
    let answer = peer.request("resources/subscribe", uri(3)).await;
    assert!(answer.get("result").is_some(), "{answer}");
}

#[tokio::test]
async fn removed_resources_can_be_unsubscribed() {
    let (server, _) = dynamic(Limits::default());
    let mut peer = Peer::connect(&server, Revision::V2025_11_25).await;
    let all = json!({"uri": "notes://all"});
    peer.request("resources/subscribe", all.clone()).await;
    server
        .edit(|offer| offer.remove(Component::namespace("notes")))
        .unwrap();
    server.resource_updated("notes://all");
    let (notifications, answer) = peer
        .request_with_notifications("resources/unsubscribe", all.clone())
        .await;
    assert_eq!(
        notifications.len(),
        4,
        "three lists, and that it is gone: {notifications:?}"
    );
    assert_eq!(answer["result"], json!({}));
    server.resource_updated("notes://all");
    assert_eq!(peer.refused("resources/subscribe", all).await.0, -32601);
}

#[tokio::test]
async fn both_eras_of_one_connection_are_notified_in_their_own_format() {
    // ALL-ERA-01
    let (server, _) = dynamic(Limits::default());
    let mut peer = Peer::connect(&server, Revision::V2025_11_25).await;
    peer.revision = MODERN;
    peer.listen(7, json!({"toolsListChanged": true})).await;
    server.edit(|offer| offer.tools(tools![first])).unwrap();
    let mut tags = Vec::new();
    for _ in 0..2 {
        let message = peer.receive_any().await.unwrap();
        assert_eq!(message["method"], TOOLS);
        tags.push(message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].clone());
    }
    assert!(
        tags.contains(&json!(7)) && tags.contains(&Value::Null),
        "{tags:?}"
    );
}

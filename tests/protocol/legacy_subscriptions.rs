//! Subscriptions of the legacy era: `resources/subscribe`, and notifications without a tag.

use serde_json::{Value, json};
use treenail::prelude::*;
use treenail::schema::Revision;
use treenail::{Component, Limits, SubscriptionLimits};

use crate::covering::covering;
use crate::notes::{dynamic, first, fixed};
use crate::peer::{MODERN, Peer};
use crate::subscriptions::{TOOLS, UPDATED};

#[tokio::test]
async fn a_legacy_peer_subscribes_to_one_resource_after_the_other() {
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
                let (method, params) = peer.told().await;
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
async fn a_legacy_peer_subscribes_to_no_more_than_the_limit() {
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
async fn what_is_gone_can_still_be_unsubscribed_from() {
    let (server, _) = dynamic(Limits::default());
    let mut peer = Peer::connect(&server, Revision::V2025_11_25).await;
    let all = json!({"uri": "notes://all"});
    peer.request("resources/subscribe", all.clone()).await;
    server
        .edit(|offer| offer.remove(Component::namespace("notes")))
        .unwrap();
    server.resource_updated("notes://all");
    let (told, answer) = peer
        .request_told("resources/unsubscribe", all.clone())
        .await;
    assert_eq!(told.len(), 4, "three lists, and that it is gone: {told:?}");
    assert_eq!(answer["result"], json!({}));
    server.resource_updated("notes://all");
    assert_eq!(peer.refused("resources/subscribe", all).await.0, -32601);
}

#[tokio::test]
async fn both_eras_of_one_connection_are_told_in_their_own_way() {
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

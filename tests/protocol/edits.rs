//! Edits while peers are connected: notifications, calls in flight, and atomicity.

use std::sync::Arc;

use serde_json::{Value, json};
use treenail::prelude::*;
use treenail::schema::Revision;
use treenail::server::{Component, Edit};
use treenail::{Limits, Server};

use crate::dynamic::{empty, tool_names};
use crate::support::covering::covering;
use crate::support::notes::{Extra, Notes, dynamic, extra, first, second};
use crate::support::peer::{MODERN, Peer, initialize, text};

impl Peer {
    /// Receives one notification for each changed list.
    async fn told_lists(&mut self) -> Vec<String> {
        let mut lists = Vec::new();
        for _ in 0..3 {
            let (method, params) = self.next_notification().await;
            assert_eq!(params, Value::Null, "CLI-SUB-07: not tagged");
            lists.push(method);
        }
        lists
    }
}

const LISTS: [&str; 3] = [
    "notifications/tools/list_changed",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
];

#[tokio::test]
async fn legacy_peers_are_notified_of_changed_lists() {
    for revision in covering("SRV-TOOL-04, SRV-RES-10, SRV-PRM-08, SRV-LIFE-03 until 2025-11-25") {
        let (server, _) = dynamic(Limits::default());
        let mut early = Peer::silent(&server, revision);
        let mut modern = Peer::connect(&server, MODERN).await;
        let mut peer = Peer::connect(&server, revision).await;
        early.request("ping", json!({})).await;
        early
            .request("initialize", initialize(revision.as_str()))
            .await;
        modern.told_nothing().await;

        server.edit(extra).unwrap();
        assert_eq!(peer.told_lists().await, LISTS, "{revision}");
        server
            .edit(|offer| offer.disable(Component::prompt("notes.summary")))
            .unwrap();
        assert_eq!(peer.next_notification().await.0, LISTS[1]);
        // The net effect is empty, so there is no notification.
        for _ in 0..2 {
            server
                .edit(|offer| {
                    offer
                        .disable(Component::tool("notes.wait"))
                        .enable(Component::tool("notes.wait"))
                })
                .unwrap();
            server
                .edit(|offer| offer.disable(Component::prompt("notes.summary")))
                .unwrap();
        }
        peer.told_nothing().await;
        // SRV-LIFE-03: not before the end of the handshake; ALL-ERA-01: nor to a modern peer without a subscription.
        early.request("ping", json!({})).await;
        modern.told_nothing().await;
    }
}

#[tokio::test]
async fn calls_in_flight_are_unaffected_by_edits() {
    for revision in [Revision::V2025_06_18, MODERN] {
        let (server, gate) = dynamic(Limits::default());
        let mut peer = Peer::connect(&server, revision).await;
        let id = peer
            .begin("tools/call", json!({"name": "notes.wait"}))
            .await;
        peer.request("prompts/list", json!({})).await;
        server
            .edit(|offer| offer.remove(Component::mounted::<Notes>()))
            .unwrap();
        gate.add_permits(1);
        let (mut notifications, mut answer) = (0, Value::Null);
        while answer.is_null() {
            let message = peer.receive_any().await.unwrap();
            if message.get("id").is_some() {
                answer = message;
            } else {
                notifications += 1;
            }
        }
        assert_eq!(answer["id"], id);
        assert_eq!(text(&answer["result"]), "waited");
        assert!(notifications <= if revision.is_modern() { 0 } else { 3 });
    }
}

#[tokio::test]
async fn functions_can_edit_their_own_server() {
    for revision in Revision::ALL {
        let server = empty();
        let mut peer = Peer::connect(&server, revision).await;
        peer.told_nothing().await;
        server.edit(extra).unwrap();
        if !revision.is_modern() {
            peer.told_lists().await;
        }
        assert_eq!(text(&peer.call("go_away", json!({})).await), "gone");
        if !revision.is_modern() {
            assert_eq!(peer.next_notification().await.0, LISTS[0]);
        }
        assert_eq!(peer.tools().await, [] as [&str; 0]);
    }
}

#[tokio::test]
async fn unreferenced_servers_are_dropped() {
    let (server, gate) = dynamic(Limits::default());
    assert_eq!(Arc::strong_count(&gate), 2);
    let mut peer = Peer::connect(&server, Revision::V2025_11_25).await;
    peer.call("notes.touch", json!({"uri": "notes://all"}))
        .await;
    let waiting = json!({"name": "notes.wait"});
    peer.begin("tools/call", waiting).await;
    server
        .edit(|offer| offer.remove(Component::mounted::<Notes>()))
        .unwrap();
    gate.add_permits(1);
    drop(server);
    peer.finish().await;
    assert_eq!(Arc::strong_count(&gate), 1, "the state is gone with it");
}

#[tokio::test]
async fn edits_are_atomic_and_none_is_lost() {
    let server = empty();
    server.edit(|offer| offer.tools(tools![first])).unwrap();
    let swap = |server: &Server| {
        for _ in 0..100 {
            let there = |offer: Edit| offer.remove(Component::tool("first")).tools(tools![second]);
            server.edit(there).unwrap();
            let back = |offer: Edit| offer.remove(Component::tool("second")).tools(tools![first]);
            server.edit(back).unwrap();
        }
    };
    let add = |server: &Server| {
        for number in 0..100 {
            let name = format!("n{number}");
            server
                .edit(|offer| offer.namespace(name, |inner| inner.tools(tools![first])))
                .unwrap();
        }
    };
    let (one, two) = (server.clone(), server.clone());
    let swap = std::thread::spawn(move || swap(&one));
    let add = std::thread::spawn(move || add(&two));
    let mut peer = Peer::connect(&server, MODERN).await;
    let mut count = 0;
    while !(swap.is_finished() && add.is_finished()) {
        let tools = peer.tools().await;
        let both = ["first", "second"].map(|name| tools.iter().any(|tool| tool == name));
        assert!(both == [true, false] || both == [false, true], "{tools:?}");
        assert!(tools.len() >= count, "an older offer came back");
        count = tools.len();
    }
    swap.join().unwrap();
    add.join().unwrap();
    assert_eq!(peer.tools().await.len(), 101);
}

#[tokio::test]
async fn cursors_outlive_edits_unless_their_item_is_gone() {
    // SRV-PAGE-02, CLI-CACHE-10: the client restarts when a cursor becomes invalid.
    let tools = |offer: Edit| offer.tools(tools![first, second]).mount(Extra);
    for revision in covering("SRV-PAGE-01, SRV-PAGE-02") {
        let limits = Limits::default().page_size(2);
        let server = treenail::server!().dynamic().limits(limits);
        let server = server.build().unwrap();
        server.edit(tools).unwrap();
        let mut peer = Peer::connect(&server, revision).await;
        let page = peer.request("tools/list", json!({})).await;
        let cursor = json!({"cursor": page["result"]["nextCursor"]});
        assert_eq!(tool_names(&page), ["first", "second"]);

        // The item is in the middle of a page now; no item is omitted or repeated.
        server
            .edit(|offer| offer.remove(Component::tool("first")))
            .unwrap();
        let (_, page) = peer
            .request_with_notifications("tools/list", cursor.clone())
            .await;
        assert_eq!(tool_names(&page), ["extra_tool", "go_away"]);
        assert_eq!(page["result"].get("nextCursor"), None);

        server
            .edit(|offer| offer.disable(Component::tool("extra_tool")))
            .unwrap();
        let (_, answer) = peer.request_with_notifications("tools/list", cursor).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
}

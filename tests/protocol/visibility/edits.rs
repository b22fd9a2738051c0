//! Edits of a server with rules, and changes of a rule.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use treenail::schema::{CacheScope, Revision};
use treenail::server::{Component, Edit};
use treenail::{Limits, Server};

use super::{add_desk, add_late, builder, is_admin, office, peer};
use crate::support::covering::covering;
use crate::support::peer::{MODERN, text};

#[tokio::test]
async fn an_edit_notifies_only_callers_whose_lists_have_changed() {
    let server = office().dynamic().build().unwrap();
    for revision in covering("SRV-TOOL-02, SRV-SUB-02 in 2025-06-18, 2026-07-28") {
        let mut guest = peer(&server, "guest", revision).await;
        let mut admin = peer(&server, "admin", revision).await;
        for peer in [&mut guest, &mut admin] {
            if revision.is_modern() {
                drop(peer.listen("all", json!({"toolsListChanged": true})).await);
            } else {
                peer.told_nothing().await;
            }
        }
        let secret = |edit: Edit| edit.disable(Component::namespace("desk_close"));
        server.edit(secret).unwrap();
        for _ in 0..admin_changes(revision) {
            admin.next_notification().await;
        }
        guest.told_nothing().await;
        server
            .edit(|edit| edit.disable(Component::tool("desk.open")))
            .unwrap();
        let expected = "notifications/tools/list_changed";
        assert_eq!(guest.next_notification().await.0, expected);
        assert_eq!(admin.next_notification().await.0, expected);
        server
            .edit(|edit| edit.enable(Component::tool("desk.open")))
            .unwrap();
        server
            .edit(|edit| edit.enable(Component::namespace("desk_close")))
            .unwrap();
    }
}

fn set_open(server: &Server, is_open: bool) {
    let desk = Component::tool("desk.open");
    let edit = |edit: Edit| {
        if is_open {
            edit.enable(desk)
        } else {
            edit.disable(desk)
        }
    };
    server.edit(edit).unwrap();
}

#[tokio::test]
async fn no_list_stays_out_of_date() {
    const CHANGED: &str = "notifications/tools/list_changed";
    let is_open = |tools: Vec<_>| tools.iter().any(|name| name == "desk.open");
    let server = office().dynamic().build().unwrap();
    let wanted = json!({"toolsListChanged": true});

    // An edit while a notification of another change is pending.
    let mut guest = peer(&server, "guest", MODERN).await;
    guest.listen("a", wanted.clone()).await;
    server.visibility_changed();
    set_open(&server, false);
    assert_eq!(guest.next_notification().await.0, CHANGED);
    assert!(!is_open(guest.tools().await));
    set_open(&server, true);
    assert_eq!(guest.next_notification().await.0, CHANGED, "SRV-TOOL-04");
    guest.cancel("a").await;
    assert!(is_open(guest.tools().await));

    // An edit between two subscriptions.
    set_open(&server, false);
    assert!(!is_open(guest.tools().await));
    guest.listen("b", wanted.clone()).await;
    set_open(&server, true);
    assert_eq!(guest.next_notification().await.0, CHANGED, "SRV-SUB-09");

    // The caller may have listed the tools between two edits that cancel each other out.
    set_open(&server, false);
    set_open(&server, true);
    assert_eq!(guest.next_notification().await.0, CHANGED, "SRV-TOOL-04");

    // More edits than are compared.
    for _ in 0..20 {
        set_open(&server, false);
        set_open(&server, true);
    }
    assert_eq!(guest.next_notification().await.0, CHANGED, "SRV-TOOL-04");
}

/// A legacy peer is notified of all lists.
fn admin_changes(revision: Revision) -> usize {
    if revision.is_modern() { 1 } else { 3 }
}

#[tokio::test]
async fn an_addition_by_an_edit_obeys_the_rules() {
    let server = office().dynamic().build().unwrap();
    let mut guest = peer(&server, "guest", MODERN).await;
    server.edit(add_late).unwrap();
    let (_, message) = guest.refused("tools/call", json!({"name": "late"})).await;
    assert!(message.contains("unknown tool"), "{message}");
    let mut admin = peer(&server, "admin", MODERN).await;
    assert_eq!(text(&admin.call("late", json!({})).await), "late");
}

#[tokio::test]
async fn a_replacement_has_the_rules_of_its_edit() {
    let server = add_late(builder()).dynamic().build().unwrap();
    let mut guest = peer(&server, "guest", MODERN).await;
    assert_eq!(guest.tools().await, ["late"]);
    server
        .edit(|edit| edit.replace(|all| add_late(all).visible(|_, caller| is_admin(caller))))
        .unwrap();
    assert!(guest.tools().await.is_empty());
    let mut admin = peer(&server, "admin", MODERN).await;
    assert_eq!(admin.tools().await, ["late"]);
}

#[tokio::test]
async fn an_edit_with_a_rule_makes_lists_private() {
    let caching = (Duration::from_secs(60), CacheScope::Public);
    let server = add_desk(builder()).dynamic();
    let server = server.cache_lists(caching.0, caching.1).build().unwrap();
    let mut guest = peer(&server, "guest", MODERN).await;
    let list = guest.request("prompts/list", json!({})).await;
    assert_eq!(list["result"]["cacheScope"], "public");
    server
        .edit(|edit| {
            edit.namespace("late", |late| {
                add_late(late).visible(|_, caller| is_admin(caller))
            })
        })
        .unwrap();
    let list = guest.request("prompts/list", json!({})).await;
    assert_eq!(list["result"]["cacheScope"], "private");
    let params = json!({"name": "late.late"});
    assert_eq!(guest.refused("tools/call", params).await.0, -32602);
    let mut admin = peer(&server, "admin", MODERN).await;
    assert_eq!(text(&admin.call("late.late", json!({})).await), "late");
}

#[tokio::test]
async fn a_change_of_a_rule_is_announced() {
    let open = Arc::new(AtomicBool::new(false));
    let is_open = Arc::clone(&open);
    let server = add_desk(builder())
        .dynamic()
        .visible(move |_, caller| is_admin(caller) || is_open.load(Ordering::Relaxed))
        .build()
        .unwrap();
    for revision in covering("SRV-TOOL-02 in 2025-06-18, 2026-07-28") {
        open.store(false, Ordering::Relaxed);
        let mut guest = peer(&server, "guest", revision).await;
        if revision.is_modern() {
            guest.listen(1, json!({"toolsListChanged": true})).await;
        }
        assert!(guest.tools().await.is_empty());
        open.store(true, Ordering::Relaxed);
        server.visibility_changed();
        let (method, _) = guest.next_notification().await;
        assert_eq!(method, "notifications/tools/list_changed");
        for _ in 1..admin_changes(revision) {
            guest.next_notification().await;
        }
        assert_eq!(guest.tools().await, ["desk.open"]);
    }
}

#[tokio::test]
async fn a_rule_can_edit_the_server() {
    let slot = Arc::new(std::sync::OnceLock::<Server>::new());
    let own = Arc::clone(&slot);
    let server = office()
        .dynamic()
        .limits(Limits::default())
        .visible(move |feature, _| {
            if let (Some(server), "desk.open") = (own.get(), feature.name()) {
                let open = Component::prompt("desk.greet");
                server.edit(|edit| edit.disable(open)).unwrap();
            }
            true
        })
        .build()
        .unwrap();
    slot.set(server.clone()).unwrap();
    for revision in covering("SRV-TOOL-03") {
        let mut guest = peer(&server, "guest", revision).await;
        assert_eq!(guest.tools().await, ["desk.open", "desk.close_drawer"]);
    }
}

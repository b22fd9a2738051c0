//! States of features that were removed: they are dropped, even if they panic.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::sync::Notify;
use treenail::dynamic::{Feature, Prompt, ResourceTemplate, Tool};
use treenail::layer::LogLayer;
use treenail::prelude::*;
use treenail::schema::{PromptArgument, Revision};
use treenail::server::{Component, Namespace};

use crate::support::peer::{MODERN, Peer, meta};

/// Makes a tool that owns a value.
fn owner(name: &str, value: impl Send + Sync + 'static) -> Feature {
    Tool::new(name).handler(move |_, _| {
        let _ = &value;
        async { "done" }
    })
}

fn server(features: impl IntoIterator<Item = Feature>) -> Server {
    let builder = treenail::server!().dynamic().add(features);
    builder.build().unwrap()
}

fn remove(server: &Server, component: Component) {
    server.edit(|edit| edit.remove(component)).unwrap();
}

async fn is_served(peer: &mut Peer, tool: &str) -> bool {
    let (_, listed) = peer
        .request_with_notifications("tools/list", json!({}))
        .await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    tools.iter().any(|one| one["name"] == tool)
}

#[tokio::test]
async fn a_subscription_does_not_retain_removed_features() {
    let filters = [
        json!({}),
        json!({"promptsListChanged": true}),
        json!({"toolsListChanged": true, "promptsListChanged": true}),
    ];
    for (is_filtered, filter) in [true, false]
        .into_iter()
        .flat_map(|is_filtered| filters.iter().map(move |filter| (is_filtered, filter)))
    {
        let state = Arc::new(());
        let plan = Prompt::new("plan").handler(|_, _| async { "plan" });
        let mut builder = treenail::server!()
            .dynamic()
            .add([owner("x", Arc::clone(&state)), plan]);
        if is_filtered {
            builder = builder.visible(|_, _| true);
        }
        let server = builder.build().unwrap();
        let mut peer = Peer::connect(&server, MODERN).await;
        peer.listen(1, filter.clone()).await;
        remove(&server, Component::tool("x"));
        for _ in 0..3 {
            assert!(!is_served(&mut peer, "x").await);
        }
        let place = format!("{filter}, filtered: {is_filtered}");
        assert_eq!(Arc::strong_count(&state), 1, "{place}");
        // It is still notified of the lists that it includes.
        remove(&server, Component::prompt("plan"));
        if filter["promptsListChanged"] == true {
            let (method, _) = peer.next_notification().await;
            assert_eq!(method, "notifications/prompts/list_changed", "{place}");
        }
        peer.told_nothing().await;
    }
}

#[tokio::test]
async fn an_idle_connection_does_not_retain_removed_features() {
    for revision in Revision::ALL {
        let state = Arc::new(());
        let server = server([owner("x", Arc::clone(&state))]);
        let mut peer = Peer::connect(&server, revision).await;
        if revision.is_modern() {
            peer.listen(1, json!({"toolsListChanged": true})).await;
        }
        assert!(is_served(&mut peer, "x").await);
        remove(&server, Component::tool("x"));
        assert_eq!(Arc::strong_count(&state), 1, "{revision}");
        let (method, _) = peer.next_notification().await;
        assert_eq!(method, "notifications/tools/list_changed");
    }
}

#[test]
fn a_subscriber_that_reads_nothing_retains_removed_features_for_seven_edits() {
    let state = Arc::new(());
    let plan = Prompt::new("plan").handler(|_, _| async { "plan" });
    let builder = treenail::server!().dynamic().visible(|_, _| true).add([
        owner("x", Arc::clone(&state)),
        owner("y", ()),
        plan,
    ]);
    let server = builder.build().unwrap();
    let mut connection = server.connect();
    let meta: HashMap<_, _> = meta(MODERN.as_str()).into();
    let params = json!({"notifications": {"promptsListChanged": true}, "_meta": meta});
    let listen =
        json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params});
    let mut out = Vec::new();
    let _ = connection.handle_message(listen.to_string().as_bytes(), &mut out);
    assert_eq!(out, b"");
    remove(&server, Component::prompt("plan"));
    remove(&server, Component::tool("x"));
    assert_eq!(
        Arc::strong_count(&state),
        2,
        "it may have listed `x` before"
    );
    for number in 0..7 {
        let y = Component::tool("y");
        let edited = server.edit(|edit| match number % 2 {
            0 => edit.disable(y),
            _ => edit.enable(y),
        });
        edited.unwrap();
    }
    assert_eq!(Arc::strong_count(&state), 1);
}

#[tokio::test]
async fn a_call_in_flight_retains_its_own_feature_only() {
    for is_layered in [false, true] {
        let state = Arc::new(());
        let (started, release) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (starts, released) = (Arc::clone(&started), Arc::clone(&release));
        let slow = Tool::new("slow").handler(move |_, _| {
            let (starts, released) = (Arc::clone(&starts), Arc::clone(&released));
            async move {
                starts.notify_one();
                released.notified().await;
                "done"
            }
        });
        let features = [owner("x", Arc::clone(&state)), slow];
        let mut builder = treenail::server!().dynamic().add(features);
        if is_layered {
            builder = builder.layer(LogLayer::new());
        }
        let server = builder.build().unwrap();
        let mut peer = Peer::connect(&server, MODERN).await;
        let call = json!({"name": "slow", "arguments": {}});
        let id = peer.begin("tools/call", call).await;
        started.notified().await;
        remove(&server, Component::tool("x"));
        assert!(!is_served(&mut peer, "x").await);
        assert_eq!(Arc::strong_count(&state), 1, "layered: {is_layered}");
        release.notify_one();
        assert_eq!(peer.receive("tools/call").await["id"], id);
    }
}

#[tokio::test]
async fn an_edit_without_a_changed_list_leaves_nothing_behind() {
    let state = Arc::new(());
    let own = Arc::clone(&state);
    let page = ResourceTemplate::new("docs://{id}", "page").unlisted();
    let page = page.handler(move |_, _| {
        let _ = &own;
        async { "page" }
    });
    let server = server([page]);
    let mut peers = [
        Peer::connect(&server, Revision::LATEST_LEGACY).await,
        Peer::connect(&server, MODERN).await,
    ];
    let filter = json!({"resourcesListChanged": true});
    peers[1].listen(1, filter).await;
    remove(&server, Component::resource("docs://{id}"));
    for peer in &mut peers {
        peer.request("tools/list", json!({})).await;
        peer.told_nothing().await;
    }
    assert_eq!(Arc::strong_count(&state), 1);
}

/// Counts the values that were dropped, each with a panic.
struct Panicking(Arc<AtomicUsize>);

impl Drop for Panicking {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
        panic!("a state");
    }
}

#[tokio::test]
async fn a_state_that_panics_when_dropped_ends_no_connection() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let value = || Panicking(Arc::clone(&dropped));
    let (first, second, third) = (value(), value(), value());
    let plan = Prompt::new("plan")
        .argument(PromptArgument::new("a"))
        .argument(PromptArgument::new("b"))
        .complete("a", move |_| {
            let _ = &first;
            Vec::<String>::new()
        })
        .complete("b", move |_| {
            let _ = &second;
            Vec::<String>::new()
        })
        .handler(|_, _| async { "plan" });
    let page = ResourceTemplate::new("docs://{id}", "page")
        .accepts(move |_| {
            let _ = &third;
            true
        })
        .handler(|_, _| async { "page" });
    let server = server([owner("x", value()), plan, page]);
    let mut peers = [
        Peer::connect(&server, Revision::LATEST_LEGACY).await,
        Peer::connect(&server, MODERN).await,
    ];
    peers[1].listen(1, json!({"toolsListChanged": true})).await;
    for peer in &mut peers {
        assert!(is_served(peer, "x").await);
    }
    remove(&server, Component::tool("x"));
    remove(&server, Component::prompt("plan"));
    remove(&server, Component::resource("docs://{id}"));
    for peer in &mut peers {
        for _ in 0..2 {
            assert!(!is_served(peer, "x").await, "the connection is served");
        }
    }
    assert_eq!(dropped.load(Ordering::SeqCst), 4, "each one was dropped");
}

#[tokio::test]
async fn an_edit_that_drops_a_panicking_state_is_announced() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let server = server([]);
    let mut peer = Peer::connect(&server, MODERN).await;
    peer.listen(1, json!({"toolsListChanged": true})).await;
    // No connection has used the snapshot with this tool, so the edit drops it.
    let tool = owner("x", Panicking(Arc::clone(&dropped)));
    server.edit(|edit| edit.add(tool)).unwrap();
    let (method, _) = peer.next_notification().await;
    remove(&server, Component::tool("x"));
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
    let (again, params) = peer.next_notification().await;
    assert_eq!(again, method);
    assert_ne!(params, Value::Null);
    assert!(!is_served(&mut peer, "x").await);
}

#[tokio::test]
async fn a_rule_that_panics_when_dropped_ends_no_connection() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let value = Panicking(Arc::clone(&dropped));
    let server = server([]);
    let fill = move |all: Namespace| {
        let all = all.visible(move |_, _| {
            let _ = &value;
            true
        });
        all.add(owner("x", ()))
    };
    server.edit(|edit| edit.namespace("a", fill)).unwrap();
    let mut peer = Peer::connect(&server, MODERN).await;
    assert!(is_served(&mut peer, "a.x").await);
    remove(&server, Component::tool("a.x"));
    assert!(!is_served(&mut peer, "a.x").await);
    assert!(!is_served(&mut peer, "a.x").await);
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
}

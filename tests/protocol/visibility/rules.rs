//! Rules: the facts they decide by, the items they apply to, and the caching of their lists.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use treenail::Limits;
use treenail::schema::CacheScope;
use treenail::server::FeatureDescriptor;

use super::{add_desk, add_late, add_safe, builder, is_admin, office, peer};
use crate::support::covering::{covering, covering_one};
use crate::support::peer::{MODERN, Peer};

#[tokio::test]
async fn lists_of_callers_are_private() {
    let revision = covering_one("SRV-CACHE-01, SRV-CACHE-03, SRV-CACHE-05 in 2026-07-28");
    let caching = (Duration::from_secs(60), CacheScope::Public);
    let server = office().cache_lists(caching.0, caching.1).build().unwrap();
    for principal in ["admin", "guest"] {
        let mut peer = peer(&server, principal, revision).await;
        for method in [
            "tools/list",
            "prompts/list",
            "resources/list",
            "resources/templates/list",
            "server/discover",
        ] {
            let answer = peer.request(method, json!({})).await;
            assert_eq!(answer["result"]["cacheScope"], "private", "{method}");
            assert_eq!(answer["result"]["ttlMs"], 60_000, "{method}");
        }
    }
}

#[tokio::test]
async fn a_rule_of_a_namespace_applies_to_everything_in_it() {
    let server = add_late(builder().limits(Limits::default()))
        .namespace("outer", |outer| {
            let outer = outer.visible(|_, caller| is_admin(caller));
            add_late(outer.namespace("inner", add_desk))
        })
        .namespace("other", add_late)
        .build()
        .unwrap();
    let mut guest = peer(&server, "guest", MODERN).await;
    assert_eq!(guest.tools().await, ["late", "other.late"]);
    let unknown = guest
        .refused("resources/read", json!({"uri": "desk://lamp"}))
        .await;
    assert!(!unknown.1.contains("did you mean"), "{unknown:?}");
    let mut admin = peer(&server, "admin", MODERN).await;
    assert_eq!(admin.tools().await.len(), 5);
}

#[tokio::test]
async fn a_rule_sees_the_item_and_the_caller() {
    #[derive(Debug)]
    struct Tenant(&'static str);

    let server = add_desk(builder().name_separator("__"))
        .visible(|feature, caller| {
            let tenant = caller.extension::<Tenant>().map(|tenant| tenant.0);
            let client = caller.client_info().map(|client| &*client.name);
            assert!(caller.has_scope("anything") && caller.has_scopes(feature.scopes()));
            match feature.descriptor() {
                FeatureDescriptor::Tool(tool) => {
                    assert_eq!(feature.tool().unwrap().name, tool.name);
                    assert_eq!(tool.name, feature.name().replace('.', "__"));
                    feature.name() == "desk.open"
                        && tenant == Some("acme")
                        && client == Some("test")
                }
                FeatureDescriptor::Prompt(_) => feature.uri().is_none() && tenant.is_none(),
                FeatureDescriptor::Resource(_) => feature.uri() == Some("desk://lamp"),
                _ => feature.uri() == Some("desk://drawer/{name}") && feature.meta().is_none(),
            }
        })
        .build()
        .unwrap();
    for revision in covering("SRV-TOOL-03") {
        let mut connection = server.connect();
        connection.extensions_mut().insert(Tenant("acme"));
        let mut peer = Peer::over(connection, revision);
        if !revision.is_modern() {
            peer.shake_hands().await;
        }
        assert_eq!(peer.tools().await, ["desk__open"]);
        let prompts = peer.request("prompts/list", json!({})).await;
        assert_eq!(prompts["result"]["prompts"], json!([]));
        let resources = peer.request("resources/list", json!({})).await;
        assert_eq!(resources["result"]["resources"][0]["uri"], "desk://lamp");
    }
}

#[tokio::test]
async fn a_rule_that_panics_hides_the_item() {
    let server = add_desk(builder())
        .visible(|feature, _| match feature.name() {
            "desk.close_drawer" => panic!("a secret"),
            _ => true,
        })
        .build()
        .unwrap();
    let mut peer = peer(&server, "", MODERN).await;
    assert_eq!(peer.tools().await, ["desk.open"]);
    let params = json!({"name": "desk.close_drawer"});
    let (code, message) = peer.refused("tools/call", params).await;
    assert_eq!(code, -32602);
    assert!(message.starts_with("unknown tool"), "{message}");
}

#[tokio::test]
async fn a_call_checks_its_own_item_only() {
    let evaluations = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&evaluations);
    let server = add_desk(add_safe(builder()))
        .visible(move |_, _| counter.fetch_add(1, Ordering::Relaxed) < usize::MAX)
        .build()
        .unwrap();
    let mut peer = peer(&server, "", MODERN).await;
    peer.call("desk.open", json!({})).await;
    assert_eq!(evaluations.swap(0, Ordering::Relaxed), 1);
    peer.tools().await;
    assert_eq!(evaluations.load(Ordering::Relaxed), 10);
}

//! Rules for all requests: error codes, cache hints, `_meta`, and statelessness.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use treenail::Server;

use super::library::add_library;
use super::weather::add_weather;
use crate::support::covering::{covering, covering_one};
use crate::support::peer::{MODERN, Peer, text};

/// Creates a server with all features.
fn whole() -> Server {
    let builder = add_library(add_weather(treenail::server!()));
    builder.build().unwrap()
}

/// One request of each kind that succeeds on a server with all features, in every revision.
fn requests() -> [(&'static str, Value); 8] {
    let reference = json!({"type": "ref/prompt", "name": "library.recommend"});
    let argument = json!({"name": "in", "value": ""});
    [
        ("tools/list", json!({})),
        ("prompts/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("tools/call", json!({"name": "weather.name"})),
        ("prompts/get", json!({"name": "library.motto"})),
        ("resources/read", json!({"uri": "library://motto"})),
        (
            "completion/complete",
            json!({"ref": reference, "argument": argument}),
        ),
    ]
}

async fn results(peer: &mut Peer, meta: &Value) -> Vec<Value> {
    let mut results = Vec::new();
    for (method, mut params) in requests() {
        params["_meta"] = meta.clone();
        let mut answer = peer.request(method, params).await;
        assert!(answer["result"].is_object(), "SRV-BASE-02: {answer}");
        results.push(answer["result"].take());
    }
    results
}

#[tokio::test]
async fn invalid_params_have_one_standard_code() {
    // The validator rejects reserved codes that the revision does not define.
    let log_level = json!({"io.modelcontextprotocol/logLevel": "loud"});
    let reference = json!({"type": "ref/prompt", "name": "no-such"});
    let argument = json!({"name": "a", "value": ""});
    let table = [
        ("tools/call", json!({"name": "no-such"})),
        ("tools/call", json!({})),
        ("prompts/get", json!({"name": "no-such"})),
        ("prompts/get", json!({"name": "library.recommend"})),
        (
            "completion/complete",
            json!({"ref": reference, "argument": argument}),
        ),
        ("resources/read", json!({"uri": "library://no-such"})),
        ("resources/read", json!({"uri": "library://books/many"})),
        ("tools/list", json!({"cursor": "no such"})),
        ("prompts/list", json!({"cursor": 7})),
        (
            "tools/call",
            json!({"name": "weather.name", "_meta": log_level}),
        ),
    ];
    let server = whole();
    let revision =
        covering_one("SRV-ERR-04, ALL-ERR-03, ALL-ERR-04, ALL-ERR-05, ALL-ERR-07 in 2026-07-28");
    let mut peer = Peer::connect(&server, revision).await;
    for (method, params) in table {
        let (code, _) = peer.refused(method, params.clone()).await;
        assert_eq!(code, -32602, "SRV-ERR-04: {method} {params}");
    }
    let no_meta = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    peer.send(&no_meta).await;
    let answer = peer.receive("tools/list").await;
    assert_eq!(answer["error"]["code"], -32602, "SRV-ERR-04, SRV-META-02");
}

#[tokio::test]
async fn only_cacheable_results_have_cache_hints() {
    let kept = [
        "server/discover",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "resources/read",
    ];
    let revision = covering_one("SRV-CACHE-01 in 2026-07-28");
    let mut peer = Peer::connect(&whole(), revision).await;
    for (method, params) in requests()
        .into_iter()
        .chain([("server/discover", json!({}))])
    {
        let result = peer.request(method, params).await["result"].take();
        let hints = (result["ttlMs"].is_u64(), result["cacheScope"].is_string());
        let expected = kept.contains(&method);
        assert_eq!(hints, (expected, expected), "SRV-CACHE-01: {method}");
    }
}

#[tokio::test]
async fn results_are_the_same_on_each_connection_and_after_other_calls() {
    let server = whole();
    for revision in covering("SRV-STATE-03, SRV-STATE-04") {
        let mut first = Peer::connect(&server, revision).await;
        let mut second = Peer::connect(&server, revision).await;
        let results_of_first = results(&mut first, &json!({})).await;
        assert_eq!(results(&mut first, &json!({})).await, results_of_first);
        let results_of_second = results(&mut second, &json!({})).await;
        assert_eq!(results_of_second, results_of_first, "SRV-STATE-04");
        // Another instance of the same program works as well: SRV-STATE-03.
        let mut replica = Peer::connect(&whole(), revision).await;
        assert_eq!(results(&mut replica, &json!({})).await, results_of_first);
    }
}

#[tokio::test]
async fn a_cursor_means_the_same_on_every_replica() {
    let paged = || {
        let limits = treenail::Limits::default().page_size(2);
        let builder = add_library(treenail::server!());
        builder.limits(limits).build().unwrap()
    };
    for revision in covering("SRV-STATE-03, SRV-PAGE-02") {
        let mut first = Peer::connect(&paged(), revision).await;
        let page = first.request("resources/list", json!({})).await["result"].take();
        let params = json!({"cursor": page["nextCursor"]});
        let next = first.request("resources/list", params.clone()).await["result"].take();
        assert_ne!(next["resources"], page["resources"]);
        let mut replica = Peer::connect(&paged(), revision).await;
        let elsewhere = replica.request("resources/list", params).await["result"].take();
        assert_eq!(elsewhere, next, "SRV-STATE-03, SRV-PAGE-02");
    }
}

#[tokio::test]
async fn client_names_have_no_effect() {
    let revision = covering_one("ALL-META-01 in 2026-07-28");
    let mut peer = Peer::connect(&whole(), revision).await;
    let expected = results(&mut peer, &json!({})).await;
    for name in [Some("treenail"), Some("../../admin"), Some(""), None] {
        for ((method, params), expected) in requests().into_iter().zip(&expected) {
            let mut request = peer.message(&json!("x"), method, params);
            let meta = request["params"]["_meta"].as_object_mut().unwrap();
            let key = "io.modelcontextprotocol/clientInfo";
            match name {
                Some(name) => meta[key]["name"] = name.into(),
                None => drop(meta.remove(key)),
            }
            peer.send(&request).await;
            let answer = peer.receive(method).await;
            assert_eq!(answer["result"], *expected, "ALL-META-01: {name:?}");
        }
    }
}

#[tokio::test]
async fn unknown_reserved_meta_keys_are_ignored() {
    let metas = [
        json!({"io.modelcontextprotocol/unknown": {"a": [1]}}),
        json!({"dev.mcp/x": null, "tools.mcp.com/": true, "modelcontextprotocol.io/y": "z"}),
        json!({"": 1, "traceparent": 7, "baggage": []}),
        json!({"io.modelcontextprotocol/subscriptionId": 1, "io.modelcontextprotocol/related-task": {"taskId": "x"}}),
    ];
    let server = whole();
    for revision in covering("ALL-META-02, ALL-META-08") {
        let mut peer = Peer::connect(&server, revision).await;
        let expected = results(&mut peer, &json!({})).await;
        for meta in &metas {
            let found = results(&mut peer, meta).await;
            assert_eq!(found, expected, "ALL-META-02: {meta}");
        }
    }
}

/// Collects the keys of all `_meta` objects in a message.
fn keys_of_meta(value: &Value, keys: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            if let Some(Value::Object(meta)) = members.get("_meta") {
                keys.extend(meta.keys().cloned());
            }
            for member in members.values() {
                keys_of_meta(member, keys);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keys_of_meta(item, keys)),
        _ => {}
    }
}

#[tokio::test]
async fn the_server_adds_only_its_name_to_meta() {
    let server = whole();
    let revisions = covering(
        "SRV-META-05, ALL-META-03, ALL-META-04, ALL-META-05, ALL-META-06 since 2025-06-18",
    );
    for revision in revisions {
        let mut peer = Peer::connect(&server, revision).await;
        let expected: BTreeSet<_> = revision
            .is_modern()
            .then(|| "io.modelcontextprotocol/serverInfo".to_owned())
            .into_iter()
            .collect();
        for result in results(&mut peer, &json!({})).await {
            let mut keys = BTreeSet::new();
            keys_of_meta(&result, &mut keys);
            assert_eq!(keys, expected, "SRV-META-05, ALL-META-06: {result}");
        }
    }
}

#[tokio::test]
async fn requests_are_answered_while_another_is_running() {
    // A waiting call blocks no other request of any kind.
    let fixture = crate::support::weather::fixture(treenail::Limits::default());
    for revision in covering("SRV-STATE-02") {
        let mut peer = Peer::connect(&fixture.server, revision).await;
        let waiting = peer
            .begin("tools/call", json!({"name": "weather.wait"}))
            .await;
        let list = peer.request("tools/list", json!({})).await;
        assert!(list["result"]["tools"].is_array());
        if revision < MODERN {
            assert_eq!(peer.request("ping", json!({})).await["result"], json!({}));
        }
        fixture.gate.add_permits(1);
        let answer = peer.receive("tools/call").await;
        assert_eq!(text(&answer["result"]), waiting.to_string());
    }
}

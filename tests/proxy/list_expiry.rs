//! Lists with a TTL, which are fetched again when it has passed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use treenail::client::ClientLimits;
use treenail::proxy::Remote;

use crate::script::{Line, scripted, tools};
use crate::station::{LEGACY, MODERN, client_of, gateway};

/// Server of the modern era that announces no changes. `fetch` returns the number of its only tool for each request.
fn with_ttl(ttl_ms: &Value, fetch: impl FnMut() -> usize + Send + 'static) -> Remote {
    let (ttl_ms, fetch) = (ttl_ms.clone(), Arc::new(Mutex::new(fetch)));
    Remote::new("script", move || {
        let (ttl_ms, fetch) = (ttl_ms.clone(), Arc::clone(&fetch));
        let react = move |message: &Value, line: &Line| {
            let mut result = json!({"resultType": "complete", "cacheScope": "public"});
            match message["method"].as_str() {
                Some("server/discover") => {
                    result["supportedVersions"] = json!(["2026-07-28"]);
                    result["capabilities"] = json!({"tools": {}});
                }
                Some("tools/list") => {
                    let number = (fetch.lock().unwrap())();
                    result["tools"] = tools(&[&format!("tool{number}")]);
                    if !ttl_ms.is_null() {
                        result["ttlMs"] = ttl_ms.clone();
                    }
                }
                _ => {
                    let error = json!({"code": -32601, "message": "no such method"});
                    line.send(&json!({"jsonrpc": "2.0", "id": message["id"], "error": error}));
                    return true;
                }
            }
            line.answer(message, &result);
            true
        };
        scripted(Box::new(react), &ClientLimits::default()).protocol_version(MODERN)
    })
}

#[tokio::test(start_paused = true)]
async fn a_list_is_fetched_again_after_its_ttl() {
    for (ttl, expected) in [(json!(30_000), 11), (json!(0), 1), (Value::Null, 1)] {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let remote = with_ttl(&ttl, move || counted.fetch_add(1, Ordering::SeqCst) + 1);
        let (gateway, proxy) = gateway();
        let mut mounted = proxy.mount(remote).unwrap();
        assert!(mounted.changed().await.unwrap().is_connected());
        // The clock is paused, so this takes no time.
        tokio::time::sleep(Duration::from_secs(316)).await;
        assert_eq!(count.load(Ordering::SeqCst), expected, "{ttl}");
        let changed = tokio::time::timeout(Duration::ZERO, mounted.changed()).await;
        assert!(changed.is_err(), "there is one tool, as before");
        let client = client_of(&gateway, LEGACY).build().await.unwrap();
        let name = format!("script.tool{expected}");
        assert!(client.tool(&name).await.unwrap().is_some(), "{ttl}");
    }
}

#[tokio::test(start_paused = true)]
async fn replicas_fetch_an_expired_list_at_different_times() {
    let mut replicas = Vec::new();
    for _ in 0..2 {
        let times = Arc::<Mutex<Vec<Instant>>>::default();
        let fetched = Arc::clone(&times);
        let remote = with_ttl(&json!(30_000), move || {
            fetched.lock().unwrap().push(Instant::now());
            1
        });
        let (gateway, proxy) = gateway();
        let mut mounted = proxy.mount(remote).unwrap();
        assert!(mounted.changed().await.unwrap().is_connected());
        replicas.push((gateway, mounted, times));
    }
    tokio::time::sleep(Duration::from_secs(316)).await;
    let times = |index: usize| replicas[index].2.lock().unwrap().clone();
    let (one, other) = (times(0), times(1));
    for times in [&one, &other] {
        for pair in times.windows(2) {
            let elapsed = pair[1] - pair[0];
            let expected = Duration::from_secs(30)..=Duration::from_millis(31_510);
            assert!(expected.contains(&elapsed), "CLI-CACHE-04: {elapsed:?}");
        }
    }
    assert_eq!(one[0], other[0], "the first fetches are at one time");
    assert_ne!(one, other, "CLI-CACHE-05");
}

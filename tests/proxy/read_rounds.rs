//! Resources of a server of the modern era that is called again for its result.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use treenail::client::ClientLimits;
use treenail::proxy::Remote;

use crate::script::{Line, scripted};
use crate::station::{MODERN, client_of, gateway};

/// Server whose results may be cached for a minute. It requests a retry with a state before that of `data://retried`.
fn with_retry(reads: &Arc<AtomicUsize>) -> Remote {
    let reads = Arc::clone(reads);
    Remote::new("script", move || {
        let reads = Arc::clone(&reads);
        let react = move |message: &Value, line: &Line| {
            let mut result = json!({"resultType": "complete"});
            let (uri, state) = (
                &message["params"]["uri"],
                &message["params"]["requestState"],
            );
            match message["method"].as_str() {
                Some("server/discover") => {
                    result["supportedVersions"] = json!(["2026-07-28"]);
                    result["capabilities"] = json!({"resources": {}});
                }
                Some("resources/list") => {
                    let resource =
                        |name: &str| json!({"name": name, "uri": format!("data://{name}")});
                    result["resources"] = json!([resource("retried"), resource("direct")]);
                }
                Some("resources/read") if uri == "data://retried" && state.is_null() => {
                    result = json!({"resultType": "input_required", "requestState": "state"});
                }
                Some("resources/read") => {
                    reads.fetch_add(1, Ordering::SeqCst);
                    result["contents"] = json!([{"uri": uri, "text": "read"}]);
                    result["ttlMs"] = json!(60_000);
                    result["cacheScope"] = json!("public");
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

#[tokio::test]
async fn a_result_after_a_retry_is_not_cached() {
    let reads = Arc::<AtomicUsize>::default();
    let (gateway, proxy) = gateway();
    let remote = with_retry(&reads);
    proxy.mount(remote).unwrap().connected().await;
    let client = client_of(&gateway, MODERN).build().await.unwrap();
    for (uri, expected) in [("data://direct", 1), ("data://retried", 2)] {
        reads.store(0, Ordering::SeqCst);
        for _ in 0..2 {
            let read = client.read_resource(uri).await.unwrap();
            assert_eq!(json!(*read)["contents"][0]["text"], "read");
        }
        assert_eq!(reads.load(Ordering::SeqCst), expected, "CLI-MRTR-08: {uri}");
    }
}

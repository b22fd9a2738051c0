//! Cancellation, limits and batches of requests in layers.

use std::time::Duration;

use serde_json::{Value, json};
use tower::limit::ConcurrencyLimitLayer;
use tower::{ServiceBuilder, ServiceExt};
use treenail::layer::{Request, RequestService, only};
use treenail::schema::Revision;
use treenail::transport::Handled;

use super::{build, requests, server};
use crate::support::peer::{MODERN, Peer, error, meta};

#[tokio::test]
async fn requests_within_layers_can_be_cancelled() {
    for revision in [Revision::V2025_11_25, MODERN] {
        let prompts = only(
            |request: &Request| request.name().is_some(),
            ConcurrencyLimitLayer::new(1),
        );
        let server = build(|server| server.layer(prompts));
        let mut peer = Peer::connect(&server, revision).await;
        let params = json!({"name": "wait", "_meta": {"progressToken": 1}});
        let first = peer.begin("prompts/get", params).await;
        assert_eq!(peer.receive_any().await.unwrap()["params"]["progress"], 1);
        let second = peer
            .begin(
                "prompts/get",
                json!({"name": "greet", "arguments": {"name": "x"}}),
            )
            .await;
        // Other requests bypass the layer.
        peer.request("prompts/list", json!({})).await;
        peer.cancel(first).await;
        let answer = peer.receive("prompts/get").await;
        assert_eq!(answer["id"], second, "SRV-CANC-03");
        assert_eq!(peer.finish().await, [] as [Value; 0], "SRV-CANC-03");
    }
}

#[tokio::test(start_paused = true)]
async fn generic_layers_of_tower_work_for_every_kind() {
    let layers = ServiceBuilder::new()
        .buffer(8)
        .concurrency_limit(4)
        .timeout(Duration::from_secs(3));
    let server = build(|server| server.layer(layers));
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server, revision).await;
        for (method, params, _) in requests(revision) {
            peer.request(method, params).await;
        }
        let answer = peer.request("prompts/get", json!({"name": "wait"})).await;
        assert_eq!(error(&answer), (-32603, "request timed out".to_owned()));
    }
}

#[tokio::test]
async fn a_batch_of_layered_requests_has_one_response() {
    let server = server(async |request: Request, inner: RequestService| {
        tokio::task::yield_now().await;
        inner.oneshot(request).await
    });
    let mut peer = Peer::connect(&server, Revision::V2025_03_26).await;
    let message = |id: u8, method: &str| json!({"jsonrpc": "2.0", "id": id, "method": method});
    peer.send(&json!([
        message(7, "tools/list"),
        message(8, "ping"),
        message(9, "prompts/list")
    ]))
    .await;
    let answers = peer.receive_any().await.unwrap();
    let mut ids: Vec<_> = answers
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].as_u64())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, [Some(7), Some(8), Some(9)]);
}

#[tokio::test]
async fn layered_lists_count_as_calls_in_flight() {
    let server = server(async |request: Request, inner: RequestService| {
        if request.is_list() {
            std::future::pending::<()>().await;
        }
        inner.oneshot(request).await
    });
    let mut connection = server.connect();
    connection.set_call_capacity(0);
    let meta = meta(MODERN.as_str());
    let meta: serde_json::Map<_, _> = meta
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect();
    let list =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}});
    let mut out = Vec::new();
    let handled = connection.handle_message(list.to_string().as_bytes(), &mut out);
    assert!(matches!(handled, Handled::Deferred(_)), "{handled:?}");
    assert!(out.is_empty());
}

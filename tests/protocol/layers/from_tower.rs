//! Layers of tower around tool calls: limits, timeouts and retries.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tower::ServiceBuilder;
use tower::limit::{ConcurrencyLimitLayer, RateLimitLayer};
use tower::load_shed::LoadShedLayer;
use tower::timeout::TimeoutLayer;
use treenail::layer::{BoxError, Request, Response};
use treenail::prelude::*;
use treenail::schema::Revision;

use super::server;
use crate::support::peer::{MODERN, Peer, text};

#[tokio::test(start_paused = true)]
async fn the_rate_limit_of_tower_delays_calls() {
    // SRV-TOOL-17
    let rate = RateLimitLayer::new(2, Duration::from_secs(10));
    let server = server(|server| server.layer(rate));
    let mut peers = [
        Peer::connect(&server, MODERN).await,
        Peer::connect(&server, Revision::V2024_11_05).await,
    ];
    let start = tokio::time::Instant::now();
    for (call, seconds) in [0, 0, 10, 10, 20].into_iter().enumerate() {
        let peer = &mut peers[call % 2];
        assert_eq!(text(&peer.call("look", json!({})).await), "seen");
        assert_eq!(start.elapsed().as_secs(), seconds, "SRV-TOOL-17: {call}");
    }
}

#[tokio::test(start_paused = true)]
async fn calls_wait_in_order_for_a_layer() {
    let server = server(|server| server.layer(RateLimitLayer::new(1, Duration::from_secs(1))));
    let mut peer = Peer::connect(&server, MODERN).await;
    let mut ids = Vec::new();
    for _ in 0..20 {
        ids.push(peer.begin("tools/call", json!({"name": "look"})).await);
    }
    for id in ids {
        assert_eq!(peer.receive("tools/call").await["id"], id);
    }
}

#[tokio::test(start_paused = true)]
async fn load_shedding_and_timeouts_of_tower_work() {
    let layers = ServiceBuilder::new()
        .layer(LoadShedLayer::new())
        .layer(ConcurrencyLimitLayer::new(1))
        .layer(TimeoutLayer::new(Duration::from_secs(3)));
    let server = server(|server| server.layer(layers));
    let mut peer = Peer::connect(&server, MODERN).await;
    peer.begin("tools/call", json!({"name": "hang"})).await;
    let result = peer.call("look", json!({})).await;
    assert_eq!(result["isError"], true, "SRV-TOOL-16");
    assert_eq!(text(&result), "service overloaded");
    let result = peer.receive("tools/call").await["result"].take();
    assert_eq!(text(&result), "request timed out");
    assert_eq!(text(&peer.call("look", json!({})).await), "seen");
}

/// A layer that retries a failed call once.
#[derive(Clone)]
struct Again;

impl tower::retry::Policy<Request, Response, BoxError> for Again {
    type Future = std::future::Ready<()>;

    fn retry(
        &mut self,
        call: &mut Request,
        result: &mut Result<Response, BoxError>,
    ) -> Option<Self::Future> {
        let failed = result.as_ref().is_ok_and(Response::is_error);
        (failed && call.arguments() == "{}").then(|| {
            let arguments = json!({"text": "instead"});
            call.set_arguments(arguments.as_object().unwrap().clone());
            std::future::ready(())
        })
    }

    fn clone_request(&mut self, call: &Request) -> Option<Request> {
        Some(call.clone())
    }
}

#[tokio::test]
async fn a_call_can_be_retried() {
    let retry = ServiceBuilder::new().retry(Again);
    let server = server(|server| server.layer(retry).layer(ConcurrencyLimitLayer::new(1)));
    let session = McpClientSession::builder().server(&server).build();
    let session = session.await.unwrap();
    let notifications = Arc::new(Mutex::new(0));
    let count = Arc::clone(&notifications);
    let call = session.tools_call("echo", json!({}));
    let call = call.on_progress(move |_| *count.lock().unwrap() += 1);
    assert_eq!(text(&json!(call.await.unwrap())), "instead");
    assert_eq!(*notifications.lock().unwrap(), 1);
}

//! Binding of a `requestState` to its caller, which the connection or a layer sets.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::json;
use tower::{ServiceBuilder, ServiceExt, layer::layer_fn, service_fn};
use treenail::context::Principal;
use treenail::layer::{Request, RequestService};
use treenail::prelude::*;

use super::{able, again, call, layered, server};
use crate::support::covering::covering_one;
use crate::support::peer::{MODERN, Peer, error, text};

#[derive(Clone, Default)]
struct Shop {
    runs: Arc<AtomicUsize>,
}

#[mcp_tool]
impl Shop {
    /// Does something before the question, and asks in the first run only.
    #[tool]
    async fn order(&self, cx: &Context) -> Result<&'static str, AskError> {
        if self.runs.fetch_add(1, Ordering::SeqCst) == 0 {
            cx.confirm("Sure?").await?;
        }
        Ok("ordered")
    }

    /// Charges the caller once.
    #[tool]
    async fn charge(&self, cx: &Context) -> Result<String, AskError> {
        let charge = async {
            self.runs.fetch_add(1, Ordering::SeqCst);
            let caller = cx.principal().expect("the caller is authenticated");
            Ok(format!("charged {caller}"))
        };
        cx.once("charge", charge).await
    }
}

#[tokio::test]
async fn state_is_bound_to_the_caller() {
    let revision = covering_one("SRV-MRTR-10, SRV-MRTR-12, SRV-ELI-16 in 2026-07-28");
    for server in [server(|server| server), layered()] {
        let connect = |name: Option<&str>| {
            let mut connection = server.connect();
            if let Some(name) = name {
                connection.extensions_mut().insert(Principal::new(name));
            }
            let mut peer = Peer::over(connection, revision);
            peer.capabilities = json!({"elicitation": {}});
            peer
        };
        let mut alice = connect(Some("alice"));
        let asked = alice.request("tools/call", call("ask")).await;
        let retry = again(call("ask"), &asked);
        for other in [None, Some("bob"), Some("")] {
            let refused = connect(other).refused("tools/call", retry.clone()).await;
            assert_eq!(refused.0, -32602, "SRV-MRTR-12 {other:?}: {refused:?}");
        }
        // Any connection of the same user is accepted.
        let asked = connect(Some("alice")).request("tools/call", retry).await;
        let retry = again(call("ask"), &asked);
        let answer = alice.request("tools/call", retry).await;
        assert_eq!(text(&answer["result"]), "Oslo", "SRV-MRTR-12");

        let mut anonymous = connect(None);
        let asked = anonymous.request("tools/call", call("ask")).await;
        let retry = again(call("ask"), &asked);
        let refused = alice.refused("tools/call", retry).await;
        assert_eq!(refused.0, -32602, "SRV-MRTR-12: {refused:?}");
    }
}

#[tokio::test]
async fn state_is_bound_to_the_caller_set_by_a_layer() {
    let revision = covering_one("SRV-MRTR-12 in 2026-07-28");
    let caller = Arc::new(Mutex::new(None));
    let found = Arc::clone(&caller);
    let authenticate = ServiceBuilder::new().map_request(move |mut call: Request| {
        if let Some(name) = *found.lock().unwrap() {
            call.extensions_mut().insert(Principal::new(name));
        }
        call
    });
    let mut peer = able(&server(|server| server.layer(authenticate)), revision).await;
    for (first, second) in [
        (Some("alice"), Some("alice")),
        (Some("alice"), Some("bob")),
        (Some("alice"), None),
        (None, Some("bob")),
    ] {
        *caller.lock().unwrap() = first;
        let asked = peer.request("tools/call", call("ask")).await;
        *caller.lock().unwrap() = second;
        let retry = again(call("ask"), &asked);
        let answer = peer.request("tools/call", retry).await;
        if first == second {
            let state = &answer["result"]["requestState"];
            assert!(state.is_string(), "SRV-MRTR-12: {answer}");
        } else {
            assert_eq!(
                error(&answer).0,
                -32602,
                "SRV-MRTR-12: {first:?} {second:?}"
            );
        }
    }
}

#[tokio::test]
async fn the_function_does_not_start_with_the_state_of_another_caller() {
    let caller = Arc::new(Mutex::new("alice"));
    let found = Arc::clone(&caller);
    let authenticate = ServiceBuilder::new().map_request(move |mut call: Request| {
        call.extensions_mut()
            .insert(Principal::new(*found.lock().unwrap()));
        call
    });
    for is_layered in [false, true] {
        let shop = Shop::default();
        let mut builder = treenail::server!().mount(shop.clone());
        if is_layered {
            builder = builder.layer(authenticate.clone());
        }
        let server = builder.build().unwrap();
        let request = async |name: &'static str, params| {
            *caller.lock().unwrap() = name;
            let mut connection = server.connect();
            if !is_layered {
                connection.extensions_mut().insert(Principal::new(name));
            }
            let mut peer = Peer::over(connection, MODERN);
            peer.capabilities = json!({"elicitation": {}});
            peer.request("tools/call", params).await
        };
        let order = json!({"name": "order"});
        let asked = request("alice", order.clone()).await;
        let retry = again(order, &asked);
        let refused = request("bob", retry.clone()).await;
        assert_eq!(error(&refused).0, -32602, "{is_layered}: {refused}");
        assert_eq!(shop.runs.load(Ordering::SeqCst), 1, "{is_layered}");
        let ordered = request("alice", retry).await;
        assert_eq!(text(&ordered["result"]), "ordered", "{is_layered}");
    }
}

#[tokio::test]
async fn work_is_done_for_each_caller_of_a_layer() {
    let both = layer_fn(|inner: RequestService| {
        service_fn(move |call: Request| {
            let inner = inner.clone();
            async move {
                let (mut first, mut second) = (call.clone(), call);
                first.extensions_mut().insert(Principal::new("alice"));
                second.extensions_mut().insert(Principal::new("bob"));
                inner.clone().oneshot(first).await?;
                inner.oneshot(second).await
            }
        })
    });
    let shop = Shop::default();
    let server = treenail::server!().mount(shop.clone()).layer(both);
    let mut peer = able(&server.build().unwrap(), MODERN).await;
    let result = peer.call("charge", json!({})).await;
    assert_eq!(text(&result), "charged bob");
    assert_eq!(shop.runs.load(Ordering::SeqCst), 2);
}

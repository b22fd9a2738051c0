//! Binding of a `requestState` to its caller, which the connection or a layer sets.

use std::sync::{Arc, Mutex};

use serde_json::json;
use tower::ServiceBuilder;
use treenail::context::Principal;
use treenail::layer::Request;

use super::{able, again, call, layered, server};
use crate::support::covering::covering_one;
use crate::support::peer::{Peer, error, text};

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

//! A layer that asks the user before destructive calls.

use serde_json::{Value, json};
use tower::{ServiceExt, layer::layer_fn, service_fn};
use treenail::layer::{Request, RequestService};
use treenail::prelude::*;

use crate::support::peer::{MODERN, Peer, error};

/// Deletes everything.
#[mcp_tool]
fn wipe() -> &'static str {
    "gone"
}

/// Is hidden from all callers.
#[mcp_tool]
fn hidden() {}

fn server() -> Server {
    let approve = layer_fn(|inner: RequestService| {
        service_fn(move |mut request: Request| {
            let inner = inner.clone();
            async move {
                if request.is_destructive() {
                    let message = format!("Run `{}`?", request.target());
                    request.context().confirm(message).await?;
                }
                // Repairs the arguments, whatever they are.
                request.set_arguments(serde_json::Map::default());
                inner.oneshot(request).await
            }
        })
    });
    treenail::server!()
        .namespace("disk", |disk| disk.tools(tools![wipe]))
        .tools(tools![hidden])
        .visible(|feature, _| feature.name() != "hidden")
        .layer(approve)
        .build()
        .unwrap()
}

#[tokio::test]
async fn the_user_is_asked_about_tools_that_the_caller_sees() {
    let capabilities = json!({"elicitation": {"form": {}}});
    let mut peer = Peer::connect_as(&server(), MODERN, capabilities).await;
    for name in ["hidden", "none", "disk.none", "disk", "no name"] {
        let answer = peer.request("tools/call", json!({"name": name})).await;
        assert_eq!(error(&answer).0, -32602, "{answer}");
    }
    // Arguments that a layer may repair hide no tool.
    for name in ["disk.wipe", "disk_wipe"] {
        for arguments in [json!({}), json!([]), Value::Null] {
            let params = json!({"name": name, "arguments": arguments});
            let mut answer = peer.request("tools/call", params).await;
            let result = answer["result"].take();
            assert_eq!(result["resultType"], "input_required", "{answer}");
            let requests = result["inputRequests"].to_string();
            let message = "Run `disk";
            assert!(requests.contains(message), "{requests}");
        }
    }
    let mut peer = Peer::connect(&server(), MODERN).await;
    let params = json!({"name": "disk.wipe", "arguments": {}});
    let (code, message) = peer.refused("tools/call", params).await;
    assert_eq!(code, -32021, "the client cannot ask: {message}");
}

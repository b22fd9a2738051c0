//! Layers around tool calls: those of tower, and custom ones.

mod from_tower;
mod transparent;

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tower::limit::ConcurrencyLimitLayer;
use tower::{ServiceBuilder, ServiceExt, layer::layer_fn, service_fn};
use treenail::layer::{BoxError, Request, RequestService, Response, only};
use treenail::prelude::*;
use treenail::schema::{CallToolResult, ContentBlock, Revision};
use treenail::{RpcError, ServerBuilder};

use super::echo::add_echo;
use super::{echo, weather};
use crate::support::covering::{covering, covering_one};
use crate::support::peer::{Peer, error, text};

fn server(add: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Server {
    add(add_echo(treenail::server!())).build().unwrap()
}

#[tokio::test]
async fn calls_go_through_the_layers_in_the_order_of_the_source() {
    let notes = Arc::new(Mutex::new(Vec::new()));
    let note = |what: &'static str| {
        let notes = Arc::clone(&notes);
        move || notes.lock().unwrap().push(what)
    };
    let outer = |into: &'static str, out: &'static str| {
        let (into, out) = (note(into), note(out));
        doing(move |call: Request, inner: RequestService| {
            let out = out.clone();
            into();
            async move {
                let response = inner.oneshot(call).await;
                out();
                response
            }
        })
    };
    let passing = |what: &'static str| {
        let note = note(what);
        move |call: Request| {
            note();
            call
        }
    };
    let one_builder = ServiceBuilder::new()
        .map_request(passing("third"))
        .map_request(passing("fourth"));
    let (first, second) = (outer("first", "end"), outer("second", "out"));
    let server =
        server(|server| second(first(server)).layer(only(Request::is_tool_call, one_builder)));
    let client = McpClient::builder().server(&server).build().await.unwrap();
    client.call_tool("look", json!({})).await.unwrap();
    let expected = ["first", "second", "third", "fourth", "out", "end"];
    assert_eq!(*notes.lock().unwrap(), expected);
}

/// A layer that runs `run` around calls of tools.
fn doing<F, R>(run: F) -> impl Fn(ServerBuilder) -> ServerBuilder
where
    F: Fn(Request, RequestService) -> R + Clone + Send + Sync + 'static,
    R: Future<Output = Result<Response, BoxError>> + Send + 'static,
{
    move |server| {
        let run = run.clone();
        let layer = layer_fn(move |inner: RequestService| {
            let run = run.clone();
            service_fn(move |call: Request| run(call, inner.clone()))
        });
        server.layer(only(Request::is_tool_call, layer))
    }
}

#[tokio::test]
async fn a_layer_can_answer_in_place_of_the_function_and_fail() {
    // SRV-TOOL-16, SRV-TOOL-17: a layer can implement access control.
    let server = server(doing(
        async |call: Request, inner: RequestService| match call.arguments() {
            _ if call.is_read_only() => {
                assert!(!call.is_destructive());
                Ok(CallToolResult::new([ContentBlock::text("unseen")]).into())
            }
            r#"{"text":"fail"}"# => Err("not now".into()),
            r#"{"text":"blocks"}"# => Err(ToolError::with_content(vec![
                ContentBlock::text("one"),
                ContentBlock::text("two"),
            ])
            .into()),
            r#"{"text":"rpc"}"# => Err(RpcError::new(-31042, "slow down").into()),
            r#"{"text":"panic"}"# => panic!("a secret"),
            _ => {
                assert!(call.is_destructive(), "SRV-TOOL-08: so it is by default");
                inner.oneshot(call).await
            }
        },
    ));
    for revision in covering("SRV-TOOL-16, SRV-TOOL-17") {
        let mut peer = Peer::connect(&server, revision).await;
        let result = peer.call("look", json!({})).await;
        assert_eq!(text(&result), "unseen");
        for (actual, expected) in [
            ("fail", "not now"),
            ("blocks", "one"),
            (
                "panic",
                "the call of the tool `echo` failed unexpectedly; this is a bug in the server",
            ),
        ] {
            let result = peer.call("echo", json!({"text": actual})).await;
            assert_eq!(result["isError"], true, "SRV-TOOL-16: {result}");
            assert_eq!(text(&result), expected);
        }
        let params = json!({"name": "echo", "arguments": {"text": "rpc"}});
        let answer = peer.request("tools/call", params).await;
        assert_eq!(error(&answer), (-31042, "slow down".to_owned()));
        let result = peer.call("echo", json!({"text": "on"})).await;
        assert_eq!(text(&result), "on");
    }
}

#[tokio::test]
async fn a_layer_can_change_arguments_and_results() {
    let server = server(doing(async |mut call: Request, inner: RequestService| {
        let mut arguments: serde_json::Map<String, Value> = serde_json::from_str(call.arguments())?;
        if let Some(text) = arguments.get_mut("text") {
            *text = json!("changed");
        }
        call.set_arguments(arguments);
        let response = inner.oneshot(call).await?;
        let Some(mut result) = response.result::<CallToolResult>() else {
            return Ok(response);
        };
        result
            .content
            .push(ContentBlock::text(format!("{}", response.is_error())));
        Ok(result.into())
    }));
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server, revision).await;
        let result = peer.call("echo", json!({"text": "original"})).await;
        let blocks = [&result["content"][0]["text"], &result["content"][1]["text"]];
        assert_eq!(blocks, ["changed", "false"]);
        // The modified arguments are validated.
        let result = peer.call("echo", json!({"other": 1})).await;
        assert_eq!(result["content"][1]["text"], "true");
        assert_eq!(result["isError"], true);
    }
}

#[tokio::test]
async fn notifications_of_a_call_precede_its_response() {
    let revision = covering_one("SRV-PROG-02, SRV-PROG-05 in 2026-07-28");
    let contexts = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&contexts);
    let server = server(doing(move |call: Request, inner: RequestService| {
        let kept = Arc::clone(&kept);
        async move {
            let cx = call.context().clone();
            kept.lock().unwrap().push(cx.clone());
            cx.progress(0.5).await;
            let response = inner.oneshot(call).await;
            assert!(!cx.is_finished(), "the layer still has the call");
            cx.progress(2).await;
            response
        }
    }));
    let mut peer = Peer::connect(&server, revision).await;
    let call = json!({"name": "echo", "arguments": {"text": "x"}, "_meta": {"progressToken": 1}});
    let (notifications, answer) = peer.request_with_notifications("tools/call", call).await;
    let notifications: Vec<_> = notifications
        .iter()
        .map(|notification| &notification["params"]["progress"])
        .collect();
    assert_eq!(notifications, [&json!(0.5), &json!(1), &json!(2)]);
    assert_eq!(text(&answer["result"]), "x");
    let cx = contexts.lock().unwrap().pop().unwrap();
    assert!(cx.is_finished());
    cx.progress(3).await;
    assert_eq!(peer.finish().await, [] as [Value; 0], "SRV-PROG-05");
}

#[tokio::test]
async fn a_call_within_layers_can_be_cancelled() {
    let revision = covering_one("SRV-CANC-03 in 2026-07-28");
    let server = server(|server| server.layer(ConcurrencyLimitLayer::new(1)));
    let mut peer = Peer::connect(&server, revision).await;
    let token = json!({"progressToken": 1});
    let hang = json!({"name": "hang", "_meta": token});
    let first = peer.begin("tools/call", hang.clone()).await;
    assert_eq!(peer.receive_any().await.unwrap()["params"]["progress"], 1);
    // One call waits for the layer to become ready, and another one is behind it.
    let second = peer.begin("tools/call", hang).await;
    let third = peer.begin("tools/call", json!({"name": "look"})).await;
    for id in [second, first] {
        let params = json!({"requestId": id});
        peer.send(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}),
        )
        .await;
    }
    assert_eq!(peer.receive("tools/call").await["id"], third, "SRV-CANC-03");
    assert_eq!(peer.finish().await, [] as [Value; 0], "SRV-CANC-03");
}

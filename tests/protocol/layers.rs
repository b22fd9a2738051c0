//! Layers around tool calls: those of tower, and custom ones.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tower::limit::{ConcurrencyLimitLayer, RateLimitLayer};
use tower::load_shed::LoadShedLayer;
use tower::timeout::TimeoutLayer;
use tower::{ServiceBuilder, ServiceExt, layer::layer_fn, service_fn};
use treenail::layer::{BoxError, Request, RequestService, Response, only};
use treenail::prelude::*;
use treenail::schema::{CallToolResult, ContentBlock, Revision};
use treenail::transport::Handled;
use treenail::{RpcError, ServerBuilder};

use super::echo::{add_echo, add_results};
use super::weather::{add_functions, add_weather};
use crate::support::covering::{covering, covering_one};
use crate::support::peer::{MODERN, Peer, error, initialize, meta, text};

/// Returns the bytes of the response to a call.
async fn answer(server: &Server, revision: Revision, call: &Value) -> String {
    let mut connection = server.connect();
    let mut out = Vec::new();
    if !revision.is_modern() {
        let params = initialize(revision.as_str());
        for message in [
            json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        ] {
            let _ = connection.handle_message(message.to_string().as_bytes(), &mut out);
        }
        out.clear();
    }
    let mut params = call.clone();
    if revision.is_modern() {
        for (key, value) in meta(revision.as_str()) {
            params["_meta"][key] = value;
        }
    }
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    if let Handled::Pending(pending) =
        connection.handle_message(message.to_string().as_bytes(), &mut out)
    {
        out = pending.await;
    }
    String::from_utf8(out).unwrap()
}

fn with_all_outputs(server: ServerBuilder) -> Server {
    let server = add_functions(add_weather(server));
    add_results(server).build().unwrap()
}

#[tokio::test]
async fn transparent_layers_change_no_byte() {
    let plain = with_all_outputs(treenail::server!());
    let identity = ServiceBuilder::new().map_response(|response: Response| {
        // Reading a result does not modify it.
        assert!(response.result::<CallToolResult>().is_some());
        response
    });
    let layered = with_all_outputs(
        treenail::server!()
            .layer(identity)
            .layer(ServiceBuilder::new()),
    );
    let arguments =
        json!({"a": 1, "b": 2, "count": 3, "city": "Oslo", "text": "\u{1f}ä", "with": "x"});
    let pick = |names: &[&str]| -> Value {
        let members = names
            .iter()
            .map(|name| ((*name).to_owned(), arguments[*name].clone()));
        Value::Object(members.collect())
    };
    for revision in Revision::ALL {
        for (tool, arguments) in [
            ("add", pick(&["a", "b"])),
            ("add", pick(&["a"])),
            ("greet", json!({})),
            ("motto", json!({})),
            ("nothing", json!({})),
            ("perhaps", pick(&["text"])),
            ("perhaps", json!({})),
            ("fails", pick(&["with"])),
            ("fails_anyhow", json!({})),
            ("fails_with_content", json!({})),
            ("panics_at_once", json!({})),
            ("panics", json!({"later": false})),
            ("media", json!({})),
            ("whole_result", json!({})),
            ("list_of_numbers", pick(&["count"])),
            ("unwritable", json!({})),
            ("weather.forecast", pick(&["city"])),
            ("measure", json!({})),
            ("any_value", json!({})),
            ("with_meta", json!({})),
            ("no_such_tool", json!({})),
        ] {
            let call = json!({"name": tool, "arguments": arguments});
            let expected = answer(&plain, revision, &call).await;
            assert!(!expected.is_empty());
            assert_eq!(
                answer(&layered, revision, &call).await,
                expected,
                "{revision} {tool}"
            );
        }
    }
}

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

//! Layers around requests of every kind: prompts, resources, completions, lists and the description of the server.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tower::limit::ConcurrencyLimitLayer;
use tower::{ServiceBuilder, ServiceExt, layer::layer_fn, service_fn};
use treenail::layer::{BoxError, Request, RequestService, Response, only};
use treenail::prelude::*;
use treenail::schema::{
    AudioContent, CompleteResult, Completion, ContentBlock, GetPromptResult, ListPromptsResult,
    ListToolsResult, PromptMessage, ReadResourceResult, Revision, TextResourceContents,
};
use treenail::{RpcError, ServerBuilder};

use crate::support::peer::{MODERN, Peer, error, text};

#[derive(Clone, Debug, PartialEq)]
struct Tenant(u32);

struct Desk;

#[mcp_tool]
impl Desk {
    /// Echoes a text.
    #[tool]
    fn echo(text: String) -> String {
        text
    }

    #[tool]
    fn hidden() {}

    /// Greets.
    #[prompt]
    fn greet(#[arg(complete = names)] name: String) -> String {
        format!("Hello {name}")
    }

    #[prompt]
    async fn ask(cx: &Context) -> Result<String, AskError> {
        cx.confirm("Sure?").await?;
        Ok("agreed".to_owned())
    }

    #[prompt]
    async fn wait(cx: &Context) -> String {
        cx.progress(1).await;
        std::future::pending().await
    }

    #[resource("desk://tenant")]
    fn tenant(cx: &Context) -> Option<String> {
        Some(cx.extension::<Tenant>()?.0.to_string())
    }

    #[resource("desk://drawer/{number}")]
    fn drawer(number: u8) -> String {
        format!("drawer {number}")
    }
}

fn names(typed: &str) -> Vec<String> {
    vec![format!("{typed}da")]
}

/// A server with a layer that runs `run`.
fn server<F, R>(run: F) -> Server
where
    F: Fn(Request, RequestService) -> R + Clone + Send + Sync + 'static,
    R: Future<Output = Result<Response, BoxError>> + Send + 'static,
{
    let layer = layer_fn(move |inner: RequestService| {
        let run = run.clone();
        service_fn(move |request: Request| run(request, inner.clone()))
    });
    build(|server| server.layer(layer))
}

fn build(add: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Server {
    add(treenail::server!().mount(Desk)).build().unwrap()
}

/// Each kind of request: the method, the parameters and the target.
fn requests(revision: Revision) -> Vec<(&'static str, Value, &'static str)> {
    let reference = json!({"type": "ref/prompt", "name": "greet"});
    let argument = json!({"name": "name", "value": "A"});
    let mut requests = vec![
        (
            "tools/call",
            json!({"name": "echo", "arguments": {"text": "x"}}),
            "echo",
        ),
        ("tools/call", json!({"name": "no_tool"}), "no_tool"),
        (
            "prompts/get",
            json!({"name": "greet", "arguments": {"name": "Ada"}}),
            "greet",
        ),
        ("prompts/get", json!({"name": "greet"}), "greet"),
        ("prompts/get", json!({"name": "no_prompt"}), "no_prompt"),
        (
            "resources/read",
            json!({"uri": "desk://drawer/7"}),
            "desk://drawer/7",
        ),
        (
            "resources/read",
            json!({"uri": "desk://tenant"}),
            "desk://tenant",
        ),
        (
            "resources/read",
            json!({"uri": "no:resource"}),
            "no:resource",
        ),
        (
            "completion/complete",
            json!({"ref": reference, "argument": argument}),
            "name",
        ),
        ("completion/complete", json!({}), ""),
        ("tools/list", json!({}), ""),
        ("tools/list", json!({"cursor": "none"}), ""),
        ("prompts/list", json!({}), ""),
        ("resources/list", json!({}), ""),
        ("resources/templates/list", json!({}), ""),
    ];
    if revision.is_modern() {
        requests.push(("server/discover", json!({}), ""));
    }
    requests
}

#[tokio::test]
async fn every_request_passes_through_the_layers_unchanged() {
    let plain = build(|server| server);
    let seen: Arc<Mutex<Vec<(String, String)>>> = Arc::default();
    let notes = Arc::clone(&seen);
    let layered = server(move |request, inner| {
        let entry = (
            request.method().as_str().to_owned(),
            request.target().to_owned(),
        );
        notes.lock().unwrap().push(entry);
        inner.oneshot(request)
    });
    for revision in Revision::ALL {
        let mut peers = [
            Peer::connect(&plain, revision).await,
            Peer::connect(&layered, revision).await,
        ];
        let before = seen.lock().unwrap().len();
        let requests = requests(revision);
        for (method, params, _) in &requests {
            let [plain, layered] = &mut peers;
            let expected = plain.request(method, params.clone()).await;
            let actual = layered.request(method, params.clone()).await;
            assert_eq!(
                actual.to_string(),
                expected.to_string(),
                "{revision} {method}"
            );
        }
        let expected: Vec<_> = requests
            .iter()
            .map(|(method, _, target)| ((*method).to_owned(), (*target).to_owned()))
            .collect();
        assert_eq!(seen.lock().unwrap()[before..], expected, "{revision}");
    }
}

#[tokio::test]
async fn requests_describe_their_targets() {
    let seen: Arc<Mutex<Vec<Value>>> = Arc::default();
    let notes = Arc::clone(&seen);
    let server = server(move |request, inner| {
        notes.lock().unwrap().push(json!({
            "tool": request.tool().map(|tool| &tool.description),
            "prompt": request.prompt().map(|prompt| &prompt.description),
            "resource": request.resource().map(|resource| &resource.uri),
            "template": request.resource_template().map(|template| &template.uri_template),
            "name": request.name(),
            "uri": request.uri(),
            "list": request.is_list(),
            "destructive": request.is_destructive(),
            "arguments": request.arguments(),
        }));
        inner.oneshot(request)
    });
    let mut peer = Peer::connect(&server, MODERN).await;
    for (method, params, _) in requests(MODERN) {
        peer.request(method, params).await;
    }
    let seen = seen.lock().unwrap();
    let member = |index: usize, name: &str| seen[index][name].clone();
    assert_eq!(member(0, "tool"), "Echoes a text.");
    assert_eq!(member(0, "arguments"), r#"{"text":"x"}"#);
    assert_eq!(member(0, "destructive"), true, "SRV-TOOL-08");
    assert_eq!(member(1, "tool"), Value::Null);
    assert_eq!(member(1, "name"), "no_tool");
    assert_eq!(member(2, "prompt"), "Greets.");
    assert_eq!(member(2, "destructive"), false);
    assert_eq!(member(5, "template"), "desk://drawer/{number}");
    assert_eq!(member(5, "resource"), Value::Null);
    assert_eq!(member(5, "uri"), "desk://drawer/7");
    assert_eq!(member(6, "resource"), "desk://tenant");
    assert_eq!(member(6, "template"), Value::Null);
    assert_eq!(member(8, "name"), Value::Null);
    assert_eq!(member(10, "list"), true);
}

#[tokio::test]
async fn a_layer_responds_to_every_kind() {
    let server = server(async |request: Request, inner: RequestService| {
        Ok(match request.method().as_str() {
            "prompts/get" => GetPromptResult::new([PromptMessage::user(ContentBlock::from(
                AudioContent::new("UklGRg==", "audio/wav"),
            ))])
            .into(),
            "resources/read" => {
                let contents = TextResourceContents::new("desk://other", "made");
                ReadResourceResult::new([contents.into()]).into()
            }
            "completion/complete" => {
                CompleteResult::new(Completion::new(["one".to_owned()])).into()
            }
            "prompts/list" => ListPromptsResult::new([]).into(),
            "tools/list" => {
                let response = inner.oneshot(request).await?;
                let mut list: ListToolsResult = response.result().expect("lists are complete");
                list.tools.retain(|tool| tool.name != "hidden");
                list.into()
            }
            _ => inner.oneshot(request).await?,
        })
    });
    for revision in Revision::ALL {
        // Each answer is validated against the schema of the revision.
        let mut peer = Peer::connect(&server, revision).await;
        let answer = peer.request("prompts/get", json!({"name": "greet"})).await;
        let content = &answer["result"]["messages"][0]["content"];
        let kind = if revision < Revision::V2025_03_26 {
            "text"
        } else {
            "audio"
        };
        assert_eq!(content["type"], kind, "{revision}: {answer}");
        let answer = peer
            .request("resources/read", json!({"uri": "no:such"}))
            .await;
        assert_eq!(answer["result"]["contents"][0]["text"], "made");
        assert_eq!(
            answer["result"].get("ttlMs").is_some(),
            revision.is_modern()
        );
        assert_eq!(
            answer["result"].get("resultType").is_some(),
            revision.is_modern()
        );
        let reference = json!({"type": "ref/prompt", "name": "greet"});
        let params = json!({"ref": reference, "argument": {"name": "name", "value": ""}});
        let answer = peer.request("completion/complete", params).await;
        assert_eq!(answer["result"]["completion"]["values"], json!(["one"]));
        let answer = peer.request("prompts/list", json!({})).await;
        assert_eq!(answer["result"]["prompts"], json!([]));
        let answer = peer.request("tools/list", json!({})).await;
        let tools = answer["result"]["tools"].as_array().unwrap();
        assert_eq!(tools.len(), 1, "{answer}");
        assert_eq!(tools[0]["name"], "echo");
    }
}

#[tokio::test]
async fn errors_and_panics_of_layers_become_json_rpc_errors() {
    let server =
        server(
            async |request: Request, inner: RequestService| match request.method().as_str() {
                "tools/list" => Err(RpcError::new(-31042, "slow down").into()),
                "prompts/get" => Err("not now".into()),
                "resources/read" => panic!("a secret"),
                _ => inner.oneshot(request).await,
            },
        );
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server, revision).await;
        let answer = peer.request("tools/list", json!({})).await;
        assert_eq!(error(&answer), (-31042, "slow down".to_owned()));
        let answer = peer.request("prompts/get", json!({"name": "greet"})).await;
        assert_eq!(error(&answer), (-32603, "not now".to_owned()));
        let answer = peer.request("resources/read", json!({"uri": "a:b"})).await;
        let (code, message) = error(&answer);
        assert_eq!(code, -32603);
        assert!(
            message.starts_with("the request `resources/read a:b` failed"),
            "{message}"
        );
        assert!(!message.contains("secret"));
        assert_eq!(text(&peer.call("echo", json!({"text": "on"})).await), "on");
    }
}

#[tokio::test]
async fn layers_change_arguments_and_attach_values() {
    let server = server(async |mut request: Request, inner: RequestService| {
        request.extensions_mut().insert(Tenant(7));
        if request.prompt().is_some() {
            let arguments = json!({"name": "Bob"});
            request.set_arguments(arguments.as_object().unwrap().clone());
        }
        inner.oneshot(request).await
    });
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server, revision).await;
        let params = json!({"name": "greet", "arguments": {"name": "Ada"}});
        let answer = peer.request("prompts/get", params).await;
        assert_eq!(
            answer["result"]["messages"][0]["content"]["text"],
            "Hello Bob"
        );
        let answer = peer
            .request("resources/read", json!({"uri": "desk://tenant"}))
            .await;
        assert_eq!(answer["result"]["contents"][0]["text"], "7");
    }
}

#[tokio::test]
async fn requests_for_input_pass_through_layers() {
    let incomplete: Arc<Mutex<usize>> = Arc::default();
    let count = Arc::clone(&incomplete);
    let server = server(move |request: Request, inner: RequestService| {
        let count = Arc::clone(&count);
        async move {
            let response = inner.oneshot(request).await?;
            if !response.is_complete() {
                assert_eq!(response.result::<GetPromptResult>(), None);
                *count.lock().unwrap() += 1;
            }
            Ok(response)
        }
    });
    for revision in [Revision::V2025_11_25, MODERN] {
        let capabilities = json!({"elicitation": {}});
        let mut peer = Peer::connect_as(&server, revision, capabilities).await;
        let agree = crate::support::hotel::agree;
        let (answer, questions) = peer
            .converse("prompts/get", json!({"name": "ask"}), agree)
            .await;
        assert_eq!(
            answer["result"]["messages"][0]["content"]["text"], "agreed",
            "{answer}"
        );
        assert_eq!(questions.len(), 1);
    }
    assert_eq!(
        *incomplete.lock().unwrap(),
        1,
        "the round of the modern era"
    );
}

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
    let meta = crate::support::peer::meta(MODERN.as_str());
    let meta: serde_json::Map<_, _> = meta
        .into_iter()
        .map(|(key, value)| (key.to_string(), value))
        .collect();
    let list =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}});
    let mut out = Vec::new();
    let handled = connection.handle_message(list.to_string().as_bytes(), &mut out);
    assert!(
        matches!(handled, treenail::transport::Handled::Deferred(_)),
        "{handled:?}"
    );
    assert!(out.is_empty());
}

//! Layers around requests of every kind: prompts, resources, completions, lists and the description of the server.

mod approval;
mod cached;
mod flow;
mod responses;

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tower::{ServiceExt, layer::layer_fn, service_fn};
use treenail::ServerBuilder;
use treenail::layer::{BoxError, Request, RequestService, Response};
use treenail::prelude::*;
use treenail::schema::Revision;

use super::reception::add_reception;
use crate::support::peer::{MODERN, Peer};

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
    add(add_reception(treenail::server!())).build().unwrap()
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
    assert_eq!(member(1, "destructive"), false);
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

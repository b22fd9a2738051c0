//! Calls that become tasks while they run, with a task support that only the tests have.

mod journal;
mod link;
mod questions;
mod resumed;
mod support;
mod surroundings;

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use treenail::context::Principal;
use treenail::dynamic::{Arguments, Feature, Tool};
use treenail::layer::LogLayer;
use treenail::prelude::*;
use treenail::schema::{AudioContent, CallToolResult, ContentBlock, ResultMetaObject, Revision};
use treenail::tool::{ToolOutput, WrapResults};

use self::support::{CREATED, Support, Task};
use crate::support::log::Log;
use crate::support::peer::{MODERN, Peer, text};

/// Permits for functions that wait for a test.
#[derive(Clone)]
struct Gate(Arc<Semaphore>);

impl Gate {
    fn new() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }

    fn open(&self) {
        self.0.add_permits(1);
    }

    async fn pass(&self) {
        self.0.acquire().await.unwrap().forget();
    }
}

/// Makes a tool with task support.
fn tool<F, R, T, K>(name: &str, support: &Support, run: F) -> Feature
where
    F: Fn(Context, Arguments) -> R + Send + Sync + 'static,
    R: Future<Output = T> + Send + 'static,
    T: ToolOutput<K> + 'static,
{
    let input = json!({"type": "object", "properties": {"wait": {"type": "boolean"}}});
    let tool = Tool::new(name)
        .input(input)
        .description("A tool of a test.");
    tool.task(support.clone()).handler(run)
}

fn serve(tools: impl IntoIterator<Item = Feature>) -> Server {
    treenail::server!().add(tools).build().unwrap()
}

/// Calls a tool without waiting, and detaches its call.
async fn detach(peer: &mut Peer, support: &Support, name: &str) -> Task {
    let task = support.detach();
    let params = json!({"name": name, "arguments": {"wait": true}, "_meta": {"progressToken": 1}});
    peer.begin("tools/call", params).await;
    let (task, answer) = tokio::join!(task, peer.receive_any());
    let mut expected: Value = serde_json::from_str(CREATED).unwrap();
    if peer.revision.is_modern() {
        let server = &answer.as_ref().unwrap()["result"]["_meta"];
        assert!(server["io.modelcontextprotocol/serverInfo"].is_object());
        expected["_meta"] = server.clone();
    } else {
        expected = json!({"task": {"taskId": "1"}});
    }
    assert_eq!(answer.unwrap()["result"], expected);
    task
}

/// Makes a tool that waits if its call requests that.
fn waiting<T, K>(name: &str, gated: (&Support, &Gate), output: fn() -> T) -> Feature
where
    T: ToolOutput<K> + 'static,
{
    let (support, gate) = (gated.0, gated.1.clone());
    tool(name, support, move |_, arguments| {
        let gate = gate.clone();
        async move {
            if arguments.value()["wait"] == true {
                gate.pass().await;
            }
            output()
        }
    })
}

fn sound() -> CallToolResult {
    let blocks = [
        ContentBlock::text("1.50"),
        ContentBlock::Audio(AudioContent::new("AA==", "audio/wav")),
    ];
    let mut meta = ResultMetaObject::default();
    meta.extra.insert("com.example/a".to_owned(), json!(1));
    CallToolResult::new(blocks).with_meta(meta)
}

fn refusal() -> Result<String, ToolError> {
    Err(ToolError::new("no"))
}

#[tokio::test]
async fn the_result_of_a_task_is_that_of_a_plain_call_in_every_revision() {
    let (support, gate) = (Support::default(), Gate::new());
    let gated = (&support, &gate);
    let names = [
        "number", "object", "text", "nothing", "list", "sound", "refusal", "panic",
    ];
    let tools = || {
        [
            waiting("number", gated, || 0.1 + 0.2),
            waiting(
                "object",
                gated,
                || json!({"large": 9_007_199_254_740_993_u64}),
            ),
            waiting("text", gated, || "a\u{2028}b"),
            waiting("nothing", gated, || ()),
            waiting("list", gated, || vec![1_u8, 2]),
            waiting("sound", gated, sound),
            waiting("refusal", gated, refusal),
            waiting("panic", gated, || -> u8 { panic!("a secret") }),
        ]
    };
    for wrap in [WrapResults::Legacy, WrapResults::Always, WrapResults::Never] {
        let builder = treenail::server!().add(tools()).wrap_results(wrap);
        let server = builder.build().unwrap();
        for name in names {
            let mut peer = Peer::connect(&server, MODERN).await;
            let task = detach(&mut peer, &support, name).await;
            gate.open();
            let result = task.run.await.unwrap().unwrap();
            for revision in Revision::ALL {
                let mut peer = Peer::connect(&server, revision).await;
                let plain = peer.call(name, json!({})).await;
                let converted = task
                    .stored
                    .result_shape()
                    .text(&server, revision, result.get())
                    .unwrap();
                let converted: Value = serde_json::from_str(&converted).unwrap();
                assert_eq!(converted, plain, "{name} {revision} {wrap:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_call_that_is_not_detached_is_a_plain_one() {
    let (support, gate) = (Support::default(), Gate::new());
    let server = serve([waiting("number", (&support, &gate), || 7)]);
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server, revision).await;
        assert_eq!(text(&peer.call("number", json!({})).await), "7");
        gate.open();
        assert_eq!(text(&peer.call("number", json!({"wait": true})).await), "7");
    }
    assert_eq!(support.calls("number"), 2 * Revision::ALL.len());
}

#[tokio::test]
async fn dropping_the_run_of_a_task_ends_its_function() {
    let (support, ended) = (Support::default(), Gate::new());
    let (context, told) = (Gate::new(), ended.clone());
    let ready = context.clone();
    let wait = tool("wait", &support, move |cx, _| {
        let (told, ready) = (told.clone(), ready.clone());
        tokio::spawn(async move {
            ready.open();
            cx.finished().await;
            assert!(cx.is_finished());
            told.open();
        });
        std::future::pending::<()>()
    });
    let server = serve([wait]);
    let mut peer = Peer::connect(&server, MODERN).await;
    let task = detach(&mut peer, &support, "wait").await;
    context.pass().await;
    // Neither the response nor the end of the connection ends the function.
    peer.vanish().await;
    tokio::task::yield_now().await;
    assert_eq!(ended.0.available_permits(), 0);
    task.run.abort();
    ended.pass().await;
}

#[tokio::test]
async fn a_requested_task_of_an_older_revision_starts_at_once() {
    let (support, gate) = (Support::default().at_once(), Gate::new());
    let server = serve([waiting("number", (&support, &gate), || 7)]);
    let mut peer = Peer::connect(&server, Revision::V2025_11_25).await;
    let task = detach(&mut peer, &support, "number").await;
    gate.open();
    let result = task.run.await.unwrap().unwrap();
    let converted = task
        .stored
        .result_shape()
        .text(&server, peer.revision, result.get())
        .unwrap();
    let converted: Value = serde_json::from_str(&converted).unwrap();
    assert_eq!(converted["structuredContent"], json!({"result": 7}));
    let empty = task
        .stored
        .result_shape()
        .text(&server, Revision::LATEST, "{}")
        .unwrap();
    let empty: Value = serde_json::from_str(&empty).unwrap();
    assert_eq!(empty["resultType"], "complete");
    let params = json!({"name": "number", "task": {"ttl": 60}});
    peer.request("tools/call", params).await;
    let expected = [None, Some(r#"{"ttl":60}"#.to_owned())];
    assert_eq!(support.requested(), expected);
}

#[tokio::test]
async fn a_call_that_becomes_a_task_is_logged_as_one() {
    Log::start();
    let modern = (Support::default(), MODERN);
    for (support, revision) in [
        modern,
        (Support::default().at_once(), Revision::V2025_11_25),
    ] {
        let gate = Gate::new();
        let tools = [waiting("number", (&support, &gate), || 7)];
        let server = treenail::server!().add(tools).layer(LogLayer::new());
        let mut peer = Peer::connect(&server.build().unwrap(), revision).await;
        let task = detach(&mut peer, &support, "number").await;
        gate.open();
        task.run.await.unwrap().unwrap();
        let mut lines = Log::take();
        lines.retain(|line| line.contains("tools/call"));
        assert_eq!(lines.len(), 1, "no layer sees the outcome: {lines:?}");
        assert!(
            lines[0].contains(r#"outcome="task""#),
            "{revision} {lines:?}"
        );
    }
}

#[tokio::test]
async fn the_stored_call_has_the_facts_of_its_request() {
    let (support, gate) = (Support::default(), Gate::new());
    let server = serve([waiting("number", (&support, &gate), || 7)]);
    let mut connection = server.connect();
    let extensions = connection.extensions_mut();
    extensions.insert(Principal::new("alice"));
    let mut peer = Peer::over(connection, MODERN);
    peer.capabilities = json!({"roots": {}, "extensions": {"com.example/tasks": {"a": 1}}});
    let task = detach(&mut peer, &support, "number").await;
    let stored = serde_json::to_value(&task.stored).unwrap();
    assert_eq!(stored["tool"], "number");
    assert_eq!(stored["arguments"], json!({"wait": true}));
    assert_eq!(stored["meta"]["progressToken"], 1);
    assert_eq!(stored["principal"], "alice");
    assert_eq!(stored["capabilities"], peer.capabilities);
    assert_eq!(stored["info"]["name"], "test");
    assert_eq!(stored["revision"], "2026-07-28");
    assert_eq!(stored.get("scopes"), None);
    assert!(!format!("{:?}", task.stored).contains("alice"));
}

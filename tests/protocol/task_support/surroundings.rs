//! Lists, extensions, policies and layers of tools with task support.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tower::{ServiceExt, layer::layer_fn, service_fn};
use treenail::dynamic::Tool;
use treenail::extension::Extension;
use treenail::layer::{BoxError, Request, RequestService, Response};
use treenail::prelude::*;
use treenail::schema::{CallToolResult, ContentBlock, Revision};
use treenail::{Error, Limits};

use super::support::{EXTENSION, Support};
use super::{Gate, detach, serve, tool, waiting};
use crate::support::peer::{MODERN, Peer, text};

#[tokio::test]
async fn lists_of_one_revision_declare_the_support() {
    let support = Support::default();
    let plain = Tool::new("plain")
        .description("A tool.")
        .handler(|_, _| async {});
    // Of a gateway, whose own tool has no tasks.
    let foreign = json!({"name": "foreign", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "required"}});
    let foreign: treenail::schema::Tool = serde_json::from_value(foreign).unwrap();
    let foreign = Tool::from(foreign).handler(|_, _| async {});
    let server = serve([tool("task", &support, |_, _| async {}), plain, foreign]);
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server, revision).await;
        let list = peer.request("tools/list", json!({})).await;
        let tools = &list["result"]["tools"];
        let expected =
            (revision == Revision::V2025_11_25).then(|| json!({"taskSupport": "optional"}));
        assert_eq!(
            tools[0].get("execution"),
            expected.as_ref(),
            "LTASK-S-01 {revision}"
        );
        for other in [&tools[1], &tools[2]] {
            assert_eq!(other.get("execution"), None, "LTASK-S-01 {revision}");
        }
    }
}

#[tokio::test]
async fn the_builder_adds_the_extension_of_the_support() {
    let support = Support::default();
    let tools = || {
        [
            tool("one", &support, |_, _| async {}),
            tool("two", &support, |_, _| async {}),
        ]
    };
    let given = Extension::new(EXTENSION).settings(json!({"given": true}));
    for (builder, expected) in [
        (treenail::server!().add(tools()), json!({EXTENSION: {}})),
        (
            treenail::server!().add(tools()).extension(given),
            json!({EXTENSION: {"given": true}}),
        ),
    ] {
        let server = builder.build().unwrap();
        let mut peer = Peer::connect(&server, MODERN).await;
        let facts = peer.request("server/discover", json!({})).await;
        assert_eq!(facts["result"]["capabilities"]["extensions"], expected);
    }
}

#[tokio::test]
async fn an_edit_cannot_add_an_extension() {
    let support = Support::default();
    let server = treenail::server!().dynamic().build().unwrap();
    let edited = server.edit(|edit| edit.add([tool("late", &support, |_, _| async {})]));
    let expected = "the tool `late` needs the extension `com.example/tasks`, which must be added to the builder of the server";
    assert!(matches!(edited, Err(Error::Build(message)) if message == expected));

    let builder = treenail::server!()
        .dynamic()
        .extension(Extension::new(EXTENSION));
    let server = builder.build().unwrap();
    server
        .edit(|edit| edit.add([tool("late", &support, |_, _| async {})]))
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_timeout_of_the_server_ends_with_the_request_and_that_of_the_tool_does_not() {
    let (support, gate) = (Support::default(), Gate::new());
    let wait = || {
        let gate = gate.clone();
        move |_, _| {
            let gate = gate.clone();
            async move { gate.pass().await }
        }
    };
    let own = Tool::new("own")
        .timeout(Duration::from_secs(5))
        .task(support.clone());
    let input = json!({"type": "object"});
    let tools = [
        tool("default", &support, wait()),
        own.input(input).handler(wait()),
    ];
    let limits = Limits::default().call_timeout(Some(Duration::from_secs(3)));
    let server = treenail::server!()
        .limits(limits)
        .add(tools)
        .build()
        .unwrap();
    let mut peer = Peer::connect(&server, MODERN).await;
    for (name, seconds) in [("default", "3s"), ("own", "5s")] {
        let result = peer.call(name, json!({})).await;
        let expected = format!(
            "the tool `{name}` did not finish within its limit of {seconds}; the call was given up"
        );
        assert_eq!(text(&result), expected);
    }
    let task = detach(&mut peer, &support, "default").await;
    tokio::time::sleep(Duration::from_secs(3600)).await;
    gate.open();
    let result = task.run.await.unwrap().unwrap();
    assert!(!result.get().contains("isError"), "{result}");
    let task = detach(&mut peer, &support, "own").await;
    let result = task.run.await.unwrap().unwrap();
    assert!(result.get().contains("limit of 5s"), "{result}");
}

/// Requests and responses that a layer has seen.
type Seen = Arc<Mutex<Vec<String>>>;

/// Makes a server whose layer records the calls.
fn recording(support: &Support, gate: &Gate, seen: &Seen) -> Server {
    let gate = gate.clone();
    let wait = tool("wait", support, move |cx, _| {
        let gate = gate.clone();
        async move {
            gate.pass().await;
            format!("{:?} {}", cx.extension::<u8>(), cx.is_finished())
        }
    });
    let seen = Arc::clone(seen);
    let layer = layer_fn(move |inner: RequestService| {
        let seen = Arc::clone(&seen);
        service_fn(move |mut request: Request| {
            let (seen, inner) = (Arc::clone(&seen), inner.clone());
            async move {
                request.extensions_mut().insert(7_u8);
                let (context, called) = (request.context().clone(), request.arguments().to_owned());
                let response = inner.oneshot(request).await?;
                let complete = response.is_complete();
                let ended = context.is_finished();
                seen.lock()
                    .unwrap()
                    .push(format!("{called} {} {complete} {ended}", response.text()));
                let read = response.result::<CallToolResult>();
                Ok::<_, BoxError>(match read {
                    Some(mut result) => {
                        result.content.push(ContentBlock::text("layer"));
                        Response::from(result)
                    }
                    None => response,
                })
            }
        })
    });
    treenail::server!()
        .add([wait])
        .layer(layer)
        .build()
        .unwrap()
}

#[tokio::test]
async fn layers_see_the_call_and_pass_the_task_on() {
    for (revision, created) in [
        (
            MODERN,
            r#"{"resultType":"task","taskId":"1","ttlMs":null,"_meta":{}}"#,
        ),
        (
            Revision::V2025_11_25,
            r#"{"resultType":"task","task":{"taskId":"1"},"_meta":{}}"#,
        ),
    ] {
        let (support, gate, seen) = (Support::default(), Gate::new(), Seen::default());
        let server = recording(&support, &gate, &seen);
        let mut peer = Peer::connect(&server, revision).await;
        let task = detach(&mut peer, &support, "wait").await;
        let seen = std::mem::take(&mut *seen.lock().unwrap());
        assert_eq!(seen, [format!(r#"{{"wait":true}} {created} false false"#)]);
        // The request has ended, and the function has not.
        gate.open();
        let result = task.run.await.unwrap().unwrap();
        let converted = task
            .stored
            .result_shape()
            .text(&server, revision, result.get())
            .unwrap();
        let converted: Value = serde_json::from_str(&converted).unwrap();
        assert_eq!(text(&converted), "Some(7) false");
    }
}

#[tokio::test]
async fn layers_around_a_plain_call_see_its_result() {
    let (support, gate, seen) = (Support::default(), Gate::new(), Seen::default());
    let server = recording(&support, &gate, &seen);
    gate.open();
    let mut peer = Peer::connect(&server, Revision::V2025_11_25).await;
    let result = peer.call("wait", json!({})).await;
    assert_eq!(result["content"].as_array().unwrap().len(), 2);
    assert_eq!(support.requested(), [None]);
    gate.open();
    let params = json!({"name": "wait", "task": {"ttl": null}});
    peer.request("tools/call", params).await;
    assert_eq!(support.requested()[1].as_deref(), Some(r#"{"ttl":null}"#));
}

#[tokio::test]
async fn the_name_of_a_tool_is_found_with_a_separator_too() {
    let (support, gate) = (Support::default(), Gate::new());
    let builder = treenail::server!().name_separator("__");
    let number = waiting("deep.number", (&support, &gate), || 7);
    let server = builder.add([number]).build().unwrap();
    let mut peer = Peer::connect(&server, MODERN).await;
    let task = detach(&mut peer, &support, "deep__number").await;
    assert_eq!(task.stored.tool, "deep__number");
}

#[tokio::test]
async fn a_layer_that_asks_does_not_change_the_questions_of_a_task() {
    let (support, gate) = (Support::default(), Gate::new());
    let wait = gate.clone();
    let ask = tool("ask", &support, move |cx, _| {
        let gate = wait.clone();
        async move {
            gate.pass().await;
            cx.confirm("Sure?").await
        }
    });
    let approve = layer_fn(|inner: RequestService| {
        service_fn(move |call: Request| {
            let inner = inner.clone();
            async move {
                call.context().confirm("Allow?").await?;
                inner.oneshot(call).await
            }
        })
    });
    let server = treenail::server!().add([ask]).layer(approve);
    let server = server.build().unwrap();
    let mut peer = Peer::connect_as(&server, MODERN, json!({"elicitation": {}})).await;
    let asked = peer.call("ask", json!({})).await;
    assert_eq!(asked["resultType"], "input_required", "TASK-S-08");
    let accepted = json!({"action": "accept", "content": {}});
    let params = json!({
        "name": "ask",
        "arguments": {},
        "requestState": asked["requestState"],
        "inputResponses": {"layer-1/question-1": accepted},
    });
    let task = support.detach();
    peer.begin("tools/call", params).await;
    let answer = peer.receive_any().await.unwrap();
    assert_eq!(answer["result"]["resultType"], "task", "TASK-S-09");
    let mut task = task.await;
    gate.open();
    // A run after a crash has no layers.
    let question = task.questions.recv().await.unwrap();
    assert_eq!(question.question.key, "question-1", "TASK-B-03");
    question.answer(&accepted);
    task.run.await.unwrap().unwrap();
}

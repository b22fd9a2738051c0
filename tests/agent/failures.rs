//! Failures of calls are reported to the model, and the run continues.

use serde_json::{Value, json};
use treenail::agent::{
    Approval, RunReport, ScriptedModel, ScriptedReply, StopReason, ToolLoop, tool_use_from_raw,
};
use treenail::client::{McpClient, MockSession};
use treenail::prelude::*;
use treenail::schema::Revision;

use crate::fixture::{assert_well_formed, desk, failure, results};

/// The error that the model receives for one call.
async fn error(call: ScriptedReply) -> String {
    let (server, _) = desk();
    let model = ScriptedModel::new([call, ScriptedReply::text("I see.")]);
    let report = ToolLoop::new(model).source("desk", server).run("Go").await;
    let report = report.unwrap();
    assert_well_formed(&report.transcript);
    assert_eq!(report.stop_reason, StopReason::Finished);
    assert_eq!(report.text(), "I see.", "it goes on");
    failure(&report)
}

#[track_caller]
fn assert_contains(error: &str, parts: &[&str]) {
    for part in parts {
        assert!(error.contains(part), "`{part}` is not in: {error}");
    }
}

#[tokio::test]
async fn extraction_invalid_json_is_reported_with_its_position() {
    let call = tool_use_from_raw("1", "echo", "{\"text\": \"a\",\n}");
    let error = error(ScriptedReply::text("").and_tool_use(call)).await;
    assert_contains(&error, &["echo", "line 2 column 1"]);
}

#[tokio::test]
async fn an_unknown_tool_is_reported_with_the_known_ones() {
    let error = error(ScriptedReply::call("ecko", json!({"text": "a"}))).await;
    assert_contains(&error, &["ecko", "echo"]);
}

#[tokio::test]
async fn validation_all_invalid_arguments_are_reported_before_the_call() {
    let call = ScriptedReply::call("add", json!({"a": "one", "c": 3}));
    let error = error(call).await;
    assert_contains(&error, &["/a", "integer", "b"]);
}

#[tokio::test]
async fn arguments_are_repaired_where_that_is_safe() {
    let (server, _) = desk();
    let model = ScriptedModel::new([
        ScriptedReply::call("add", json!({"a": "1", "b": 2.0})),
        ScriptedReply::text("3"),
    ]);
    let agent = ToolLoop::new(model).source("desk", server);
    let report = agent.run("Go").await.unwrap();
    assert_eq!(results(&report)[0].2, "3");
    let given = &report.calls[0].call.input;
    assert_eq!(
        Value::Object(given.clone()),
        json!({"a": 1, "b": 2}),
        "what the tool got"
    );
}

/// Changes of an incident.
#[mcp_type]
#[derive(Debug)]
struct Patch {
    title: Option<String>,
    #[allow(clippy::option_option, reason = "null differs from absence")]
    contact: Option<Option<String>>,
}

/// Changes an incident.
#[mcp_tool]
fn change(patch: Patch) -> String {
    format!("{patch:?}")
}

#[tokio::test]
async fn a_null_that_clears_a_value_is_not_repaired() {
    let server = treenail::server!().tools(tools![change]).build().unwrap();
    let patch = json!({"patch": {"title": null, "contact": null}});
    let model = ScriptedModel::new([
        ScriptedReply::call("change", patch),
        ScriptedReply::text("done"),
    ]);
    let agent = ToolLoop::new(model)
        .source("desk", server)
        .approve(|_| Approval::Allow);
    let report = agent.run("Go").await.unwrap();
    let given = Value::Object(report.calls[0].call.input.clone());
    assert_eq!(given, json!({"patch": {"contact": null}}));
    let result = "Patch { title: None, contact: Some(None) }";
    assert_eq!(results(&report)[0].2, result);
}

#[tokio::test]
async fn execution_the_error_of_a_tool_is_reported() {
    let error = error(ScriptedReply::call(
        "fail",
        json!({"text": "the disk is full"}),
    ))
    .await;
    assert_contains(&error, &["the disk is full"]);
}

#[tokio::test]
async fn the_reason_of_a_denial_is_reported() {
    let (server, log) = desk();
    let model = ScriptedModel::new([
        ScriptedReply::call("echo", json!({"text": "a"})),
        ScriptedReply::text("I see."),
    ]);
    let agent = ToolLoop::new(model)
        .source("desk", server)
        .approve(|_| Approval::Deny("no echoes after ten".to_owned()));
    let report = agent.run("Go").await.unwrap();
    assert_contains(&failure(&report), &["echo", "no echoes after ten"]);
    assert_eq!(log.lines(), [] as [&str; 0]);
}

/// A run with one tool of a mock session.
async fn with_mock(mock: MockSession) -> RunReport {
    let client = McpClient::builder().session(std::sync::Arc::new(mock));
    let client = client.build().await.unwrap();
    let model = ScriptedModel::new([
        ScriptedReply::call("tool", json!({})),
        ScriptedReply::text("I see."),
    ]);
    let agent = ToolLoop::new(model).source("mock", &client);
    let agent = agent.approve(|_| Approval::Allow);
    let report = agent.run("Go").await.unwrap();
    assert_well_formed(&report.transcript);
    report
}

fn listing(tool: Value) -> MockSession {
    MockSession::new().answer("tools/list", move |_| {
        Ok(json!({"tools": [tool], "ttlMs": 1000, "cacheScope": "private"}))
    })
}

#[tokio::test]
async fn execution_a_rejection_by_the_server_is_reported() {
    let mock = listing(json!({"name": "tool", "inputSchema": {"type": "object"}}));
    let mock = mock.answer("tools/call", |_| {
        Err(RpcError::new(-32603, "out of memory"))
    });
    assert_contains(&failure(&with_mock(mock).await), &["tool", "out of memory"]);
}

/// Writes the report of a year.
#[mcp_tool(read_only, task(required))]
async fn report(year: u32) -> String {
    format!("the report of {year}")
}

#[tokio::test]
async fn a_tool_that_runs_as_a_task_only_needs_a_client_with_tasks() {
    let server = treenail::server!().tools(tools![report]).build().unwrap();
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        for has_tasks in [false, true] {
            let client = McpClient::builder().server(&server);
            let client = client.protocol_version(revision);
            let client = if has_tasks { client.tasks() } else { client };
            let client = client.build().await.unwrap();
            let model = ScriptedModel::new([
                ScriptedReply::call("report", json!({"year": 2026})),
                ScriptedReply::text("I see."),
            ]);
            let agent = ToolLoop::new(model).source("server", &client);
            let report = agent.run("Go").await.unwrap();
            if has_tasks {
                assert_eq!(results(&report)[0].2, "the report of 2026", "{revision}");
            } else {
                let expected = [
                    "`report`",
                    "runs as a task only",
                    "`.tasks()`",
                    "Go on without",
                ];
                assert_contains(&failure(&report), &expected);
            }
        }
    }
}

#[tokio::test]
async fn formatting_a_result_that_violates_its_schema_is_reported() {
    let output = json!({"type": "object", "required": ["sum"]});
    let mock =
        listing(json!({"name": "tool", "inputSchema": {"type": "object"}, "outputSchema": output}));
    let mock = mock.answer("tools/call", |_| {
        Ok(json!({"content": [], "structuredContent": {}}))
    });
    assert_contains(&failure(&with_mock(mock).await), &["tool", "output schema"]);
}

#[tokio::test]
async fn formatting_unsupported_content_is_described() {
    let mock = listing(json!({"name": "tool", "inputSchema": {"type": "object"}}));
    let mock = mock.answer("tools/call", |_| {
        Ok(json!({"content": [{"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}]}))
    });
    let report = with_mock(mock).await;
    let (_, is_error, error) = results(&report).remove(0);
    assert!(!is_error);
    assert_contains(&error, &["image/png"]);
}

//! Tool calls as tasks (2025-11-25). The client has no methods for them, but can send any request.

use std::time::Duration;

use serde_json::json;
use treenail::schema::{
    CallToolRequestParams, CreateTaskResult, ElicitAction, ElicitResult, ElicitValue,
    GetTaskPayloadRequest, GetTaskPayloadRequestParams, ListTasksRequest, Request, TaskStatus,
};

use super::Connect;
use crate::results::{text, wait_for};

/// `tools/call` with a task as its result.
enum CallAsTask {}

impl Request for CallAsTask {
    const METHOD: &'static str = "tools/call";
    type Params = CallToolRequestParams;
    type Result = CreateTaskResult;
    type Response = CreateTaskResult;
}

pub(super) async fn call_runs_as_a_task(connect: Connect<'_>) {
    const NAME: &str = "simulate-research-query";

    let client = connect().on_elicit(|request| async move {
        let request = json!(request);
        let choices = &request["requestedSchema"]["properties"]["interpretation"]["oneOf"];
        let choice = choices[1]["const"].as_str().unwrap().to_owned();
        let mut result = ElicitResult::new(ElicitAction::Accept);
        let entered = ("interpretation".to_owned(), ElicitValue::String(choice));
        result.content = Some([entered].into());
        Ok(result)
    });
    let client = client.build().await.unwrap();
    let tool = json!(*client.tool(NAME).await.unwrap().unwrap());
    assert_eq!(tool["execution"]["taskSupport"], "required");
    let plain = client.call_tool(NAME, json!({"topic": "python"})).await;
    let plain = plain.unwrap();
    assert!(text(&plain).contains("-32601"), "{}", text(&plain));

    let session = client.session();
    let mut notifications = session.notifications();
    let arguments = json!({"topic": "python", "ambiguous": true});
    let params = json!({"name": NAME, "arguments": arguments, "task": {"ttl": 60_000}});
    let created = session.request::<CallAsTask>(&params).await.unwrap();
    assert_eq!(created.task.status, TaskStatus::Working);
    let id = created.task.task_id;
    let listed = session.request::<ListTasksRequest>(&json!({})).await;
    assert!(listed.unwrap().tasks.iter().any(|task| task.task_id == id));

    // The server sends an elicitation request while the client waits for the result.
    let params = GetTaskPayloadRequestParams::new(&*id);
    let payload = session.request::<GetTaskPayloadRequest>(&params);
    let payload = payload.timeout(Duration::from_secs(60)).await.unwrap();
    let report = json!(payload)["content"][0]["text"].take();
    let report = report.as_str().unwrap();
    assert!(
        report.contains("# Research Report: python (snake)"),
        "{report}"
    );
    wait_for(&mut notifications, "notifications/tasks/status", |status| {
        status["status"] == "completed"
    })
    .await;
    client.close().await.unwrap();
}

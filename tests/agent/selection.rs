//! Tools of a source that the model sees.

use std::sync::Arc;

use serde_json::{Value, json};
use treenail::agent::{ScriptedModel, ScriptedReply, ToolLoopError, ToolSource};
use treenail::client::MockSession;
use treenail::prelude::*;

use crate::fixture::desk;

/// Returns the names of the tools that the model sees.
async fn offered(source: impl Into<ToolSource>) -> Result<Vec<String>, ToolLoopError> {
    let model = ScriptedModel::new(["Done."]);
    let agent = ToolLoop::new(model.clone()).source("desk", source);
    agent.run("Go").await?;
    let tools = model.requests().remove(0).tools.unwrap_or_default();
    Ok(tools.into_iter().map(|tool| tool.name).collect())
}

#[tokio::test]
async fn a_selection_without_any_tool_is_an_error() {
    let only = |names: &[&str]| ToolSource::from(desk().0).only(names.iter().copied());
    assert_eq!(
        offered(only(&["echo", "add"])).await.unwrap(),
        ["echo", "add"]
    );
    assert_eq!(offered(only(&["echo", "ad"])).await.unwrap(), ["echo"]);
    assert_eq!(offered(only(&[])).await.unwrap(), [] as [&str; 0]);
    let error = offered(only(&["ecko", "nonsense"])).await.unwrap_err();
    assert!(matches!(error, ToolLoopError::Invalid { .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        "`ToolSource::only` leaves no tools of the source `desk`: there is no tool `ecko`; did you mean `echo`?, \
         there is no tool `nonsense`"
    );
}

#[tokio::test]
async fn the_model_does_not_see_tools_of_apps() {
    let tool = |name: &str, meta: Value| json!({"name": name, "inputSchema": {"type": "object"}, "_meta": meta});
    let tools = json!([
        tool("plain", json!({})),
        tool("view", json!({"ui": {"resourceUri": "ui://a"}})),
        tool("both", json!({"ui": {"visibility": ["app", "model"]}})),
        tool("app", json!({"ui": {"visibility": ["app"]}})),
        tool("none", json!({"ui": {"visibility": []}})),
        tool("odd", json!({"ui": {"visibility": "app"}})),
    ]);
    let session = MockSession::new().answer("tools/list", move |_| {
        Ok(json!({"resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "private"}))
    });
    let client = McpClient::builder().session(Arc::new(session)).build();
    let client = client.await.unwrap();
    let names = offered(&client).await.unwrap();
    assert_eq!(names, ["plain", "view", "both", "odd"], "APP-C-02");
    let app = ToolSource::from(&client).only(["app"]);
    assert!(offered(app).await.is_err(), "not by its name either");
}

#[test]
fn a_source_outlives_the_runtime_of_its_first_run() {
    let (server, log) = desk();
    let echo = || ScriptedReply::call("echo", json!({"text": "a"}));
    let model = ScriptedModel::new([echo(), "One.".into(), echo(), "Two.".into()]);
    let agent = ToolLoop::new(model).source("desk", server);
    for expected in ["One.", "Two."] {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let run = async { agent.run("Go").await };
        let report = runtime.unwrap().block_on(run).unwrap();
        assert_eq!(report.text(), expected);
    }
    assert_eq!(log.lines(), ["echo a", "echo a"]);
}

//! Tool names with several sources.

use serde_json::json;
use treenail::agent::{ScriptedModel, ScriptedReply, ToolLoop, ToolSource};
use treenail::prelude::*;

use crate::fixture::{desk, failure, results};

struct Weather(&'static str);

#[mcp_tool(namespace = "weather")]
impl Weather {
    #[tool(read_only)]
    fn forecast(&self) -> &'static str {
        self.0
    }
}

fn weather(says: &'static str) -> Server {
    treenail::server!().mount(Weather(says)).build().unwrap()
}

fn offered(model: &ScriptedModel, request: usize) -> Vec<String> {
    let tools = model.requests()[request].tools.clone().unwrap_or_default();
    tools.into_iter().map(|tool| tool.name).collect()
}

#[tokio::test]
async fn tool_names_of_several_sources_are_unique() {
    let model = ScriptedModel::new([
        ScriptedReply::call("north__weather_forecast", json!({}))
            .and_call("south__weather_forecast", json!({})),
        ScriptedReply::text("Mixed."),
    ]);
    let agent = ToolLoop::new(model.clone())
        .source("north", weather("snow"))
        .source("south", weather("sun"));
    let report = agent.run("How is it?").await.unwrap();
    let expected = ["north__weather_forecast", "south__weather_forecast"];
    assert_eq!(offered(&model, 0), expected, "CLI-TOOL-01");
    let reported: Vec<_> = results(&report).into_iter().map(|it| it.2).collect();
    assert_eq!(reported, ["snow", "sun"], "CLI-TOOL-01");
    let call = &report.calls[1].call;
    assert_eq!(call.source.as_deref(), Some("south"));
    assert_eq!(call.tool.as_deref(), Some("weather.forecast"));
}

#[tokio::test]
async fn a_tool_can_be_called_by_its_own_name_if_unambiguous() {
    let (server, _) = desk();
    let model = ScriptedModel::new([
        ScriptedReply::call("weather.forecast", json!({})),
        ScriptedReply::text("Snow."),
    ]);
    let agent = ToolLoop::new(model.clone())
        .source("north", weather("snow"))
        .source("desk", server);
    let report = agent.run("How is it?").await.unwrap();
    assert_eq!(results(&report)[0].2, "snow");
    let said = serde_json::to_value(&report.transcript[1]).unwrap();
    assert_eq!(
        said["content"][0]["name"], "north__weather_forecast",
        "as the model was told"
    );

    let model = ScriptedModel::new([
        ScriptedReply::call("weather.forecast", json!({})),
        ScriptedReply::text("Which?"),
    ]);
    let agent = ToolLoop::new(model)
        .source("north", weather("snow"))
        .source("south", weather("sun"));
    let report = agent.run("How is it?").await.unwrap();
    let reported = failure(&report);
    assert!(reported.contains("north__weather_forecast"), "{reported}");
}

#[tokio::test]
async fn argument_errors_use_the_name_that_the_model_sees() {
    let (server, _) = desk();
    let model = ScriptedModel::new([
        ScriptedReply::call("desk__echo", json!({"words": 1})),
        ScriptedReply::text("I see."),
    ]);
    let agent = ToolLoop::new(model)
        .source("north", weather("snow"))
        .source("desk", server);
    let reported = failure(&agent.run("Go").await.unwrap());
    assert!(reported.contains("the tool `desk__echo`:"), "{reported}");
}

#[tokio::test]
async fn a_source_can_be_restricted_to_some_tools() {
    let (server, _) = desk();
    let model = ScriptedModel::new([
        ScriptedReply::call("delete", json!({"name": "a"})),
        ScriptedReply::text("No."),
    ]);
    let source = ToolSource::from(server).only(["echo", "add"]);
    let agent = ToolLoop::new(model.clone()).source("desk", source);
    let report = agent.run("Go").await.unwrap();
    assert_eq!(offered(&model, 0), ["echo", "add"]);
    failure(&report);
}

#[tokio::test]
async fn a_changed_tool_list_is_refetched() {
    #[mcp_tool(read_only)]
    fn second() -> &'static str {
        "second"
    }

    #[mcp_tool(read_only)]
    async fn first(cx: &Context) -> Result<&'static str, treenail::Error> {
        cx.server().edit(|edit| edit.tools(tools![second]))?;
        Ok("first")
    }

    for revision in [
        treenail::schema::Revision::V2025_11_25,
        treenail::schema::Revision::LATEST,
    ] {
        let server = treenail::server!()
            .tools(tools![first])
            .dynamic()
            .build()
            .unwrap();
        let client = McpClient::builder()
            .server(&server)
            .protocol_version(revision);
        let client = client.build().await.unwrap();
        let mut reported = client.session().notifications();
        let model = ScriptedModel::new([
            ScriptedReply::call("first", json!({})),
            ScriptedReply::call("second", json!({})),
            ScriptedReply::text("Done"),
        ]);
        let agent = ToolLoop::new(model.clone()).source("own", &client);
        let mut run = agent.run("Go");
        while let Some(event) = run.next().await {
            if matches!(event, treenail::agent::RunEvent::CallFinished { .. }) {
                // The notification of the change may arrive after the result.
                tokio_stream::StreamExt::next(&mut reported).await;
                break;
            }
        }
        let report = run.await.unwrap();
        assert_eq!(offered(&model, 0), ["first"], "{revision}");
        assert_eq!(offered(&model, 1), ["first", "second"], "{revision}");
        assert_eq!(results(&report)[1].2, "second", "{revision}");
    }
}

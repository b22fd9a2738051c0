//! Outputs over sampling: of a tool that is an agent, and of a client that responds with a loop.

use serde_json::json;
use treenail::agent::{ScriptedModel, ScriptedReply, ToolLoopError, ToolSource};
use treenail::prelude::*;
use treenail::schema::Revision;

use super::{Plan, oslo, submit};
use crate::fixture::{Log, desk};

struct Planner {
    desk: Server,
    log: Log,
}

#[mcp_tool]
impl Planner {
    /// Plans a day with the model of the client.
    #[tool]
    #[allow(deprecated, reason = "it is what is tested")]
    async fn plan(&self, cx: &Context) -> Result<Plan, ToolLoopError> {
        self.log.write("run");
        let desk = ToolSource::from(&self.desk).auto_approve();
        let agent = ToolLoop::new(cx.model()).source("desk", desk);
        agent
            .output::<Plan>()
            .run("A day in Oslo")
            .await?
            .output_as()
    }
}

#[tokio::test]
async fn a_tool_that_is_an_agent_has_an_output_in_both_eras() {
    for (revision, runs) in [(Revision::V2025_11_25, 1), (Revision::LATEST, 4)] {
        let (desk, log) = desk();
        let planner = Planner {
            desk,
            log: log.clone(),
        };
        let server = treenail::server!().mount(planner).build().unwrap();
        let model = ScriptedModel::new([
            ScriptedReply::call("delete", json!({"name": "a"})),
            submit("Oslo", 0),
            submit("Oslo", 3).and_call("delete", json!({"name": "b"})),
        ]);
        let client = McpClient::builder()
            .server(&server)
            .protocol_version(revision);
        let client = client.enable_tool_use_for_sampling(model).build();
        let client = client.await.unwrap();
        let plan: Plan = client.call_tool_as("plan", ()).await.unwrap();
        assert_eq!(plan, oslo(), "{revision}");
        let (ran, done): (Vec<_>, Vec<_>) = log.lines().into_iter().partition(|line| line == "run");
        assert_eq!(done, ["delete a", "delete b"], "each once: {revision}");
        assert_eq!(ran.len(), runs, "{revision}");
    }
}

#[mcp_tool]
#[allow(deprecated, reason = "it is what is tested")]
async fn ask(cx: &Context) -> Result<String, AskError> {
    let request = json!({"maxTokens": 10, "messages": [{"role": "user", "content": {"type": "text", "text": "Go"}}]});
    let result = cx.sample(serde_json::from_value(request).unwrap()).await?;
    let texts = result.content.iter().filter_map(|block| block.as_text());
    Ok(texts.collect())
}

#[tokio::test]
async fn a_server_that_samples_receives_the_output_as_json() {
    let server = treenail::server!().tools(tools![ask]).build().unwrap();
    let agent = ToolLoop::new(ScriptedModel::new([submit("Oslo", 3)])).output::<Plan>();
    let client = McpClient::builder().server(&server);
    let client = client.enable_tool_use_for_sampling(agent).build();
    let result = client.await.unwrap().call_tool("ask", ()).await.unwrap();
    let text = result.content[0].as_text().unwrap();
    assert_eq!(text, r#"{"city":"Oslo","hours":3}"#);
}

//! Tools that are agents, with the model of the calling client.

use serde_json::json;
use tower::{ServiceExt, layer::layer_fn, service_fn};
use treenail::agent::{
    Conversation, ScriptedModel, ScriptedReply, ToolLoopError, ToolLoopLimits, ToolSource,
};
use treenail::layer::{BoxError, Request, RequestService, Response};
use treenail::prelude::*;
use treenail::schema::{CreateMessageResult, Revision, Role, SamplingMessageContentBlock as Block};

use crate::fixture::{Log, desk};

struct Research {
    desk: Server,
    log: Log,
}

#[mcp_tool]
#[allow(deprecated, reason = "it is what is tested")]
impl Research {
    /// Looks into a question.
    #[tool]
    async fn research(&self, cx: &Context, question: String) -> Result<String, ToolLoopError> {
        self.log.write("run");
        Ok(self.agent(cx).run(question).await?.text())
    }

    /// Two runs after each other, the second one going on with the first.
    #[tool]
    async fn twice(&self, cx: &Context) -> Result<String, ToolLoopError> {
        let agent = self.agent(cx);
        let first = agent.run("First?").await?;
        let said = first.text();
        let second = agent.run(Conversation::from("Second?")).await?;
        Ok(format!("{said} {}", second.text()))
    }
}

impl Research {
    #[allow(deprecated, reason = "it is what is tested")]
    fn agent(&self, cx: &Context) -> ToolLoop {
        ToolLoop::new(cx.model())
            .source("desk", ToolSource::from(&self.desk).auto_approve())
            .limits(ToolLoopLimits::default().result_bytes(4096))
    }
}

fn server() -> (Server, Log) {
    let (desk, log) = desk();
    let research = Research {
        desk,
        log: log.clone(),
    };
    (treenail::server!().mount(research).build().unwrap(), log)
}

fn delete(name: &str) -> ScriptedReply {
    ScriptedReply::call("delete", json!({"name": name}))
}

/// The revisions in which servers may sample with tools, and how often a function with three requests runs in each.
const WITH_TOOLS: [(Revision, usize); 2] = [(Revision::V2025_11_25, 1), (Revision::LATEST, 4)];

/// Connects a client that samples with `model`.
async fn connect(server: &Server, revision: Revision, model: ScriptedModel) -> McpClient {
    let client = McpClient::builder()
        .server(server)
        .protocol_version(revision);
    let client = client.enable_tool_use_for_sampling(model).build();
    client.await.unwrap()
}

#[tokio::test]
async fn an_agent_inside_a_tool_makes_each_call_once_in_both_eras() {
    for (revision, runs) in WITH_TOOLS {
        let (server, log) = server();
        let model = ScriptedModel::new([
            delete("a").and_call("echo", json!({"text": "b"})),
            delete("a"),
            ScriptedReply::text("All is gone."),
        ]);
        let client = connect(&server, revision, model.clone()).await;
        let arguments = json!({"question": "What is there?"});
        let text: String = client.call_tool_as("research", arguments).await.unwrap();
        assert_eq!(text, "All is gone.", "{revision}");
        let (ran, done): (Vec<_>, Vec<_>) = log.lines().into_iter().partition(|line| line == "run");
        assert_eq!(
            done,
            ["delete a", "echo b", "delete a"],
            "each once: {revision}"
        );
        assert_eq!(ran.len(), runs, "{revision}");
        let requests = model.requests();
        assert_eq!(
            requests.len(),
            3,
            "the model is asked once for each message"
        );
        crate::fixture::assert_well_formed(&requests[2].messages);
    }
}

#[tokio::test]
async fn consecutive_runs_do_not_share_recorded_results() {
    for (revision, _) in WITH_TOOLS {
        let (server, log) = server();
        // Both runs make the same call with the same id.
        let model = ScriptedModel::new([
            delete("a"),
            ScriptedReply::text("One."),
            delete("a"),
            ScriptedReply::text("Two."),
        ]);
        let client = connect(&server, revision, model).await;
        let text: String = client.call_tool_as("twice", ()).await.unwrap();
        assert_eq!(text, "One. Two.", "{revision}");
        assert_eq!(log.lines(), ["delete a", "delete a"], "{revision}");
    }
}

#[allow(deprecated, reason = "it is what is tested")]
async fn run_in_layer(desk: &Server, request: &Request) -> Result<(), ToolLoopError> {
    if request.tool().is_some() {
        let agent = ToolLoop::new(request.context().model());
        let agent = agent.source("desk", ToolSource::from(desk).auto_approve());
        agent.run("First?").await?;
    }
    Ok(())
}

async fn ask_then_run(
    desk: Server,
    inner: RequestService,
    request: Request,
) -> Result<Response, BoxError> {
    run_in_layer(&desk, &request).await?;
    inner.oneshot(request).await
}

#[tokio::test]
async fn a_layer_and_its_function_do_not_share_recorded_results() {
    for (revision, _) in WITH_TOOLS {
        let (desk, log) = desk();
        let research = Research {
            desk: desk.clone(),
            log: log.clone(),
        };
        let layer = layer_fn(move |inner: RequestService| {
            let desk = desk.clone();
            service_fn(move |request: Request| {
                let (inner, desk) = (inner.clone(), desk.clone());
                ask_then_run(desk, inner, request)
            })
        });
        let server = treenail::server!().mount(research).layer(layer);
        // Both loops make the same call with the same id.
        let model = ScriptedModel::new([
            delete("a"),
            ScriptedReply::text("One."),
            delete("a"),
            ScriptedReply::text("Two."),
        ]);
        let client = connect(&server.build().unwrap(), revision, model).await;
        let arguments = json!({"question": "Second?"});
        let text: String = client.call_tool_as("research", arguments).await.unwrap();
        assert_eq!(text, "Two.", "{revision}");
        let mut done = log.lines();
        done.retain(|line| line != "run");
        assert_eq!(done, ["delete a", "delete a"], "{revision}");
    }
}

#[tokio::test]
async fn a_client_of_a_revision_without_tools_receives_text_whatever_it_declares() {
    for revision in [Revision::V2024_11_05, Revision::V2025_06_18] {
        let (server, log) = server();
        let model = ScriptedModel::new([
            ScriptedReply::text("TOOL: delete\nPARAMETERS: {\"name\": \"a\"}\n"),
            ScriptedReply::text("It is gone."),
        ]);
        let client = connect(&server, revision, model.clone()).await;
        let arguments = json!({"question": "What is there?"});
        let text: String = client.call_tool_as("research", arguments).await.unwrap();
        assert_eq!(text, "It is gone.", "ALL-LIFE-01: {revision}");
        let done: Vec<_> = log
            .lines()
            .into_iter()
            .filter(|line| line != "run")
            .collect();
        assert_eq!(done, ["delete a"], "{revision}");
        for request in model.requests() {
            assert_eq!(request.tools, None, "SRV-SAM-01: {revision}");
        }
    }
}

#[tokio::test]
async fn a_client_without_tool_sampling_receives_text() {
    for revision in Revision::ALL {
        let (server, log) = server();
        let answers = std::sync::Mutex::new(vec![
            "It is gone.",
            "TOOL: delete\nPARAMETERS: {\"name\": \"a\"}\n",
        ]);
        let client = McpClient::builder()
            .server(&server)
            .protocol_version(revision)
            .on_sample(move |request| {
                assert_eq!(request.tools, None, "SRV-SAM-01: {revision}");
                let prompt = request.system_prompt.unwrap_or_default();
                assert!(
                    prompt.contains("TOOL:") && prompt.contains("delete"),
                    "{prompt}"
                );
                let said = answers.lock().unwrap().pop().unwrap();
                let said = Block::text(said);
                let result = CreateMessageResult::new(Role::Assistant, said, "plain");
                async move { Ok(result) }
            })
            .build()
            .await
            .unwrap();
        let arguments = json!({"question": "What is there?"});
        let text: String = client.call_tool_as("research", arguments).await.unwrap();
        assert_eq!(text, "It is gone.", "{revision}");
        let done: Vec<_> = log
            .lines()
            .into_iter()
            .filter(|line| line != "run")
            .collect();
        assert_eq!(done, ["delete a"], "{revision}");
    }
}

#[tokio::test]
async fn a_client_without_sampling_gets_a_clear_error() {
    for revision in Revision::ALL {
        let (server, _) = server();
        let client = McpClient::builder()
            .server(&server)
            .protocol_version(revision);
        let client = client.build().await.unwrap();
        let result = client.call_tool("research", json!({"question": "?"})).await;
        match result {
            Ok(result) => {
                assert!(!revision.is_modern());
                assert_eq!(result.is_error, Some(true), "{revision}");
            }
            Err(error) => {
                let refused = error.as_refused().unwrap();
                assert_eq!(refused.code, -32021, "SRV-MRTR-06: {revision}");
            }
        }
    }
}

//! Timeouts of calls whose server samples.

use std::time::Duration;

use tokio::time::sleep;
use treenail::agent::{SamplingModel, ScriptedModel, ScriptedReply, StopReason};
use treenail::prelude::*;
use treenail::schema::{CreateMessageRequestParams, JsonObject, Revision, SamplingMessage, Tool};

use crate::fixture::{failure, results};
use crate::slow_model::SlowModel;

const REVISIONS: [Revision; 2] = [Revision::V2025_11_25, Revision::LATEST];

/// Samples as often as requested.
#[mcp_tool(read_only)]
#[allow(deprecated, reason = "it is what is tested")]
async fn sample(cx: &Context, times: u32) -> Result<&'static str, AskError> {
    for number in 1..=times {
        let question = SamplingMessage::user(format!("Question {number}?"));
        let tools = [Tool::new("look_up", JsonObject::new())];
        cx.sample(CreateMessageRequestParams::new([question], 10).with_tools(tools))
            .await?;
    }
    Ok("sampled")
}

/// Connects a client that samples with `model`.
async fn connect(revision: Revision, model: impl Into<SamplingModel>) -> McpClient {
    let server = treenail::server!().tools(tools![sample]).build().unwrap();
    let client = McpClient::builder()
        .server(&server)
        .protocol_version(revision);
    let client = client.enable_tool_use_for_sampling(model).build();
    client.await.unwrap()
}

/// An agent that calls `sample`.
fn agent(client: &McpClient, times: u32) -> ToolLoop {
    let model = ScriptedModel::new([
        ScriptedReply::call("sample", json!({"times": times})),
        ScriptedReply::text("Done."),
    ]);
    ToolLoop::new(model).source("desk", client)
}

/// A model that needs a second for each message.
fn slow_model() -> SlowModel {
    SlowModel::new(ScriptedModel::new(["Yes."; 8]), Duration::from_secs(1))
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_model_that_answers_a_server_counts() {
    for revision in REVISIONS {
        let client = connect(revision, slow_model()).await;
        let limited = agent(&client, 8).call_timeout(Duration::from_secs(5));
        let report = limited.run("Go").await.unwrap();
        let reported = failure(&report);
        assert!(
            reported.contains("5s"),
            "ALL-CANC-03: {revision}: {reported}"
        );

        let client = connect(revision, slow_model()).await;
        let limited = agent(&client, 8).timeout(Duration::from_secs(5));
        let report = limited.run("Go").await.unwrap();
        assert_eq!(report.stop_reason, StopReason::Timeout, "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_review_does_not_count() {
    for revision in REVISIONS {
        let reviewed = SamplingModel::from(slow_model()).review(|_| async {
            sleep(Duration::from_secs(600)).await;
            true
        });
        let client = connect(revision, reviewed).await;
        let report = agent(&client, 2).run("Go").await.unwrap();
        let (_, is_error, text) = results(&report).remove(0);
        assert!(!is_error && text == "sampled", "{revision}: {text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_does_not_answer_a_server_is_given_up() {
    for revision in REVISIONS {
        let silent = ToolLoop::new(ScriptedModel::new([ScriptedReply::never()]));
        let client = connect(revision, silent.timeout(Duration::from_secs(10))).await;
        let report = agent(&client, 1).run("Go").await.unwrap();
        let reported = failure(&report);
        assert!(
            reported.contains("the client's model failed"),
            "{revision}: {reported}"
        );
    }
}

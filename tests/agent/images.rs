//! Images of results in the conversation.

use serde_json::json;
use treenail::agent::{
    ModelCapabilities, RunReport, ScriptedModel, ScriptedReply, StopReason, ToolLoop,
    ToolLoopLimits,
};
use treenail::prelude::*;
use treenail::schema::{ImageContent, Revision};

use crate::fixture::{assert_well_formed, results};

const TRANSCRIPT_BYTES: usize = 64 << 10;

struct Camera;

#[mcp_tool]
impl Camera {
    #[tool(read_only)]
    fn photo(bytes: usize) -> ImageContent {
        ImageContent::new("QUJD".repeat(bytes / 4), "image/png")
    }

    #[tool(read_only, task(always))]
    async fn slow_photo(bytes: usize) -> ImageContent {
        ImageContent::new("QUJD".repeat(bytes / 4), "image/png")
    }
}

async fn run(replies: impl IntoIterator<Item = ScriptedReply>) -> RunReport {
    let server = treenail::server!().mount(Camera).build().unwrap();
    let client = McpClient::builder().server(&server).tasks();
    let client = client.protocol_version(Revision::V2026_07_28).build().await;
    let model = ScriptedModel::new(replies);
    let agent = ToolLoop::new(model.with_capabilities(ModelCapabilities::default().images(true)))
        .source("camera", client.unwrap())
        .background_tasks(true)
        .limits(ToolLoopLimits::default().transcript_bytes(TRANSCRIPT_BYTES));
    let report = agent.run("Go").await.unwrap();
    assert_well_formed(&report.transcript);
    report
}

/// Checks that a run has an answer, and that notes replaced this number of images.
#[track_caller]
fn check(report: &RunReport, omitted: usize) {
    assert_eq!(report.stop_reason, StopReason::Finished);
    assert_eq!(report.text(), "Seen.");
    let transcript = serde_json::to_string(&report.transcript).unwrap();
    assert!(transcript.len() <= TRANSCRIPT_BYTES, "{}", transcript.len());
    assert_eq!(transcript.matches("too large to be shown").count(), omitted);
}

fn photo(bytes: usize) -> ScriptedReply {
    ScriptedReply::call("photo", json!({"bytes": bytes}))
}

#[tokio::test]
async fn images_of_one_message_share_the_room_in_the_conversation() {
    let many = (1..32).fold(photo(10_000), |reply, _| {
        reply.and_call("photo", json!({"bytes": 10_000}))
    });
    check(&run([many, ScriptedReply::text("Seen.")]).await, 27);
}

#[tokio::test]
async fn images_of_several_messages_share_the_room_in_the_conversation() {
    let rounds = (0..8).map(|_| photo(10_000));
    let report = run(rounds.chain([ScriptedReply::text("Seen.")])).await;
    check(&report, 3);
    let (_, is_error, text) = results(&report).pop().unwrap();
    assert!(!is_error);
    assert_eq!(
        text,
        "[image of type image/png, 7.3 KiB, too large to be shown]"
    );
}

#[tokio::test(start_paused = true)]
async fn images_of_tasks_share_the_room_in_the_conversation() {
    let many = (0..6).fold(photo(10_000), |reply, _| {
        reply.and_call("slow_photo", json!({"bytes": 10_000}))
    });
    let answer = |_| ScriptedReply::text("Seen.");
    check(&run([many].into_iter().chain((0..7).map(answer))).await, 2);
}

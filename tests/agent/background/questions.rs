//! Tasks that ask the user.

use std::time::Duration;

use serde_json::json;
use treenail::agent::{ScriptedModel, ScriptedReply, StopReason, ToolLoop};
use treenail::prelude::*;
use treenail::schema::{ElicitResult, Revision};

use super::Yard;

/// Returns a loop whose model calls `confirmed`, and whose user thinks for two minutes.
async fn agent(background: bool) -> ToolLoop {
    let server = treenail::server!().mount(Yard::default()).build().unwrap();
    let builder = McpClient::builder().server(&server).tasks();
    let client = builder
        .protocol_version(Revision::V2026_07_28)
        .on_elicit(|_| async {
            tokio::time::sleep(Duration::from_secs(120)).await;
            ElicitResult::accept(())
        });
    let model = ScriptedModel::new([
        ScriptedReply::call("confirmed", json!({})),
        ScriptedReply::text("I wait."),
        ScriptedReply::text("Done."),
    ]);
    ToolLoop::new(model)
        .source("yard", client.build().await.unwrap())
        .background_tasks(background)
        .timeout(Duration::from_secs(60))
}

#[tokio::test(start_paused = true)]
async fn the_time_of_the_user_does_not_count_in_the_background_either() {
    for background in [false, true] {
        let report = agent(background).await.run("Go").await.unwrap();
        let transcript = serde_json::to_string(&report.transcript).unwrap();
        assert_eq!(report.stop_reason, StopReason::Finished, "{transcript}");
        assert!(transcript.contains("confirmed report"), "{transcript}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_pause_of_the_run_waits_for_the_user() {
    let agent = agent(true).await;
    let mut run = agent.run("Go");
    super::until_started(&mut run).await;
    let paused = run.pause().await.unwrap();
    let transcript = serde_json::to_string(paused.transcript()).unwrap();
    assert!(transcript.contains("confirmed report"), "{transcript}");
}

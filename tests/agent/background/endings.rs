//! Tasks of a run that ends before them.

use std::time::Duration;

use serde_json::json;
use treenail::agent::{ScriptedModel, ScriptedReply, StopReason, ToolLoop};

use super::{Yard, agent, cancelled, client, until_started};
use crate::fixture::{assert_well_formed, results};

#[tokio::test(start_paused = true)]
async fn tasks_of_a_run_that_ends_early_are_cancelled() {
    let yard = Yard::default();
    let model = ScriptedModel::new([
        ScriptedReply::call("report", json!({"year": 2026})),
        ScriptedReply::text("I wait."),
    ]);
    let agent = ToolLoop::new(model)
        .source("yard", client(&yard).await)
        .background_tasks(true);
    let report = agent
        .timeout(Duration::from_secs(60))
        .run("Go")
        .await
        .unwrap();
    assert_eq!(report.stop_reason, StopReason::Timeout);
    yard.dropped.notified().await;
}

#[tokio::test(start_paused = true)]
async fn tasks_of_a_run_whose_events_were_read_are_cancelled() {
    for is_dropped in [true, false] {
        let yard = Yard::default();
        let agent = agent(&yard, [ScriptedReply::never()]).await;
        let mut run = agent.run("Go");
        until_started(&mut run).await;
        if is_dropped {
            drop(run);
        } else {
            let report = run.cancel();
            assert_eq!(report.stop_reason, StopReason::Cancelled);
            let (_, is_error, text) = results(&report).remove(0);
            assert!(
                is_error && text.contains("the user cancelled the run"),
                "{text}"
            );
            assert!(report.calls[0].is_error);
            assert_well_formed(&report.transcript);
        }
        cancelled(&yard).await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_transcript_of_an_early_end_has_the_cancelled_tasks() {
    let cut = ScriptedReply::text("I wait for").stop_reason("maxTokens");
    let cases = [
        (
            ScriptedReply::text("I wait."),
            StopReason::Timeout,
            "timeout of 60s",
        ),
        (cut, StopReason::MaxTokens, "the run ended"),
    ];
    for (reply, stop_reason, reason) in cases {
        let yard = Yard::default();
        let agent = agent(&yard, [reply]).await.timeout(Duration::from_secs(60));
        let mut run = agent.run("Go");
        while run.next().await.is_some() {}
        // Although the run still exists.
        cancelled(&yard).await;
        let report = run.await.unwrap();
        assert_eq!(report.stop_reason, stop_reason);
        let (_, is_error, text) = results(&report).remove(0);
        assert!(is_error && text.contains(reason), "{text}");
        assert!(report.text().starts_with("I wait"), "{}", report.text());
        assert_well_formed(&report.transcript);
    }
    let yard = Yard::default();
    let failed = agent(&yard, []).await.run("Go").await.unwrap_err();
    let text = results(failed.report()).remove(0).2;
    assert!(text.contains("the run failed"), "{text}");
}

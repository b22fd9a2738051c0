//! Tasks of a run that ends before them.

use std::time::Duration;

use serde_json::json;
use treenail::agent::{RunEvent, ScriptedModel, ScriptedReply, StopReason, ToolLoop};

use super::{Yard, agent, cancelled, client, until_started};
use crate::fixture::{assert_well_formed, results};
use crate::slow_model::SlowModel;

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

#[tokio::test(start_paused = true)]
async fn tasks_that_ended_before_the_run_have_their_results() {
    for (tool, output) in [("quick", "quick report"), ("sink", "it leaks")] {
        let model = ScriptedModel::new([
            ScriptedReply::call(tool, json!({})),
            ScriptedReply::text("I wait for").stop_reason("maxTokens"),
        ]);
        let agent = ToolLoop::new(SlowModel::new(model, Duration::from_secs(10)))
            .source("yard", client(&Yard::default()).await)
            .background_tasks(true);
        let mut run = agent.run("Go");
        let mut finished = Vec::new();
        while let Some(event) = run.next().await {
            if let RunEvent::TaskFinished { is_error, .. } = event {
                finished.push(is_error);
            }
        }
        let report = run.await.unwrap();
        assert_eq!(report.stop_reason, StopReason::MaxTokens);
        let (_, is_error, text) = results(&report).remove(0);
        assert_eq!((&*text, is_error), (output, tool == "sink"));
        assert_eq!(finished, [is_error]);
        assert_eq!(report.calls[0].is_error, is_error);
        assert_eq!(report.text(), "I wait for");
        assert_well_formed(&report.transcript);
    }
}

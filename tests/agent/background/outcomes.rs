//! Outcomes of tasks, as the model reads them.

use serde_json::json;
use treenail::agent::{RunEvent, ScriptedModel, ScriptedReply, StopReason, ToolLoop};

use super::{Yard, client, until_started, user_texts};
use crate::fixture::{assert_well_formed, results};

#[tokio::test(start_paused = true)]
async fn the_model_goes_on_while_a_task_runs() {
    let yard = Yard::default();
    let model = ScriptedModel::new([
        ScriptedReply::call("report", json!({"year": 2026})),
        ScriptedReply::call("release", json!({})),
        ScriptedReply::text("I wait."),
        ScriptedReply::text("Done."),
    ]);
    let agent = ToolLoop::new(model)
        .source("yard", client(&yard).await)
        .background_tasks(true);
    let mut run = agent.run("Go");
    let mut finished = Vec::new();
    while let Some(event) = run.next().await {
        if let RunEvent::TaskFinished {
            id, is_error, task, ..
        } = event
        {
            assert!(!task.is_empty());
            finished.push((id, is_error));
        }
    }
    let report = run.await.unwrap();
    assert_eq!(report.stop_reason, StopReason::Finished);
    assert_eq!(report.text(), "Done.");
    let results = results(&report);
    assert!(
        results[0].2.contains("in the background as task"),
        "{results:?}"
    );
    assert_eq!(finished, [(results[0].0.clone(), false)]);
    let texts = user_texts(&report);
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(texts[1].contains("not a message of the user"), "{texts:?}");
    assert!(texts[1].ends_with("report of 2026"), "{texts:?}");
    assert_well_formed(&report.transcript);
}

#[tokio::test(start_paused = true)]
async fn a_failed_task_is_reported_to_the_model() {
    let model = ScriptedModel::new([
        ScriptedReply::call("sink", json!({})),
        ScriptedReply::text("I wait."),
        ScriptedReply::text("It leaks."),
    ]);
    let client = client(&Yard::default()).await;
    let agent = ToolLoop::new(model)
        .source("yard", client)
        .background_tasks(true);
    let report = agent.run("Go").await.unwrap();
    let texts = user_texts(&report);
    assert!(texts[1].contains("has failed"), "{texts:?}");
    assert!(texts[1].ends_with("it leaks"), "{texts:?}");
    assert!(report.calls[0].is_error);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_fails_while_calls_are_open_has_failed_in_the_report() {
    let asking = ScriptedReply::call("dig", json!({})).and_call("sink", json!({}));
    let model = ScriptedModel::new([asking]);
    let agent = ToolLoop::new(model)
        .source("yard", client(&Yard::default()).await)
        .background_tasks(true);
    let mut run = agent.run("Go");
    until_started(&mut run).await;
    let stored = serde_json::to_string(&run.pause().await.unwrap()).unwrap();
    let model = ScriptedModel::new([ScriptedReply::text("It leaks.")]);
    let agent = ToolLoop::new(model).source("yard", client(&Yard::default()).await);
    let report = agent.resume(serde_json::from_str(&stored).unwrap()).await;
    let report = report.unwrap();
    let failed = report.calls.iter().map(|call| call.is_error);
    assert!(failed.eq([true, true]), "{:?}", report.calls);
    assert!(!results(&report)[1].1, "the call itself became a task");
    assert_well_formed(&report.transcript);
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_its_task_by_default() {
    let yard = Yard::default();
    yard.released.notify_one();
    let model = ScriptedModel::new([
        ScriptedReply::call("report", json!({"year": 2026})),
        ScriptedReply::text("Done."),
    ]);
    let agent = ToolLoop::new(model).source("yard", client(&yard).await);
    let report = agent.run("Go").await.unwrap();
    assert_eq!(results(&report)[0].2, "report of 2026");
    assert_eq!(user_texts(&report), ["Go"]);
}

#[tokio::test(start_paused = true)]
async fn the_last_message_knows_the_outcomes_of_all_tasks() {
    let replies = [
        ScriptedReply::call("sink", json!({})).and_call("sink", json!({})),
        ScriptedReply::text("Both leak."),
    ];
    let model = ScriptedModel::new(replies);
    let agent = ToolLoop::new(model.clone())
        .source("yard", client(&Yard::default()).await)
        .background_tasks(true)
        .max_iterations(1);
    let report = agent.run("Go").await.unwrap();
    assert_eq!(report.stop_reason, StopReason::MaxIterations);
    assert_eq!(report.text(), "Both leak.");
    let sent = serde_json::to_string(&model.requests()[1].messages).unwrap();
    assert_eq!(sent.matches("it leaks").count(), 2, "{sent}");
}

#[tokio::test(start_paused = true)]
async fn a_run_with_an_output_ends_after_its_tasks() {
    let model = ScriptedModel::new([
        ScriptedReply::call("quick", json!({})),
        ScriptedReply::call("submit_output", json!({"output": "deep"})),
    ]);
    let agent = ToolLoop::new(model)
        .source("yard", client(&Yard::default()).await)
        .background_tasks(true)
        .output::<String>();
    let report = agent.run("Go").await.unwrap();
    assert_eq!(report.stop_reason, StopReason::Finished);
    assert_eq!(report.output_as::<String>().unwrap(), "deep");
    let texts = user_texts(&report);
    assert!(texts[1].ends_with("quick report"), "{texts:?}");
    assert_well_formed(&report.transcript);
}

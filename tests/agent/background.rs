//! Calls that run as tasks of their server while the model goes on.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::Notify;
use treenail::agent::{
    PausedRun, Run, RunEvent, RunReport, ScriptedModel, ScriptedReply, StopReason, ToolLoop,
};
use treenail::prelude::*;
use treenail::schema::{Revision, Role, SamplingMessageContentBlock as Block};

use crate::fixture::{assert_well_formed, results};

/// Tools that run as tasks.
#[derive(Clone, Default)]
struct Yard {
    released: Arc<Notify>,
    dropped: Arc<Notify>,
}

/// Guard that notifies when it is dropped.
struct Dropped(Arc<Notify>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[mcp_tool]
impl Yard {
    /// Waits until `release` is called.
    #[tool(read_only, task(always))]
    async fn report(&self, year: u32) -> String {
        let _dropped = Dropped(Arc::clone(&self.dropped));
        self.released.notified().await;
        format!("report of {year}")
    }

    #[tool(destructive)]
    fn dig() -> &'static str {
        "deep"
    }

    /// Lets `report` end, after a while.
    #[tool(read_only)]
    fn release(&self) {
        let released = Arc::clone(&self.released);
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(5)).await;
            released.notify_one();
        });
    }

    #[tool(read_only, task(always))]
    async fn sink() -> Result<String, String> {
        tokio::time::sleep(Duration::from_secs(5)).await;
        Err("it leaks".to_owned())
    }
}

/// Returns a client with tasks.
async fn client(yard: &Yard) -> McpClient {
    let server = treenail::server!().mount(yard.clone()).build().unwrap();
    let builder = McpClient::builder().server(&server).tasks();
    builder
        .protocol_version(Revision::V2026_07_28)
        .build()
        .await
        .unwrap()
}

/// Returns a loop whose model calls `report`, and then replies as given.
async fn agent(yard: &Yard, replies: impl IntoIterator<Item = ScriptedReply>) -> ToolLoop {
    let call = ScriptedReply::call("report", json!({"year": 2026}));
    let model = ScriptedModel::new([call].into_iter().chain(replies));
    ToolLoop::new(model)
        .source("yard", client(yard).await)
        .background_tasks(true)
}

/// Reads events until a call has finished: the task has started.
async fn until_started(run: &mut Run) {
    while !matches!(run.next().await, Some(RunEvent::CallFinished { .. })) {}
}

/// Waits for the cancellation of `report`.
async fn cancelled(yard: &Yard) {
    let cancelled = yard.dropped.notified();
    let waiting = tokio::time::timeout(Duration::from_secs(60), cancelled);
    waiting.await.expect("the task is cancelled");
}

/// Pauses a run while `report` runs, and releases it after a while.
async fn paused(run: Run, yard: &Yard) -> PausedRun {
    let release = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        yard.released.notify_one();
    };
    let pausing = async { tokio::join!(run.pause(), release).0 };
    let paused = tokio::time::timeout(Duration::from_secs(60), pausing).await;
    paused.expect("the pause ends").unwrap()
}

/// Returns the texts of the messages of the user, without results.
fn user_texts(report: &RunReport) -> Vec<String> {
    let of_user = report
        .transcript
        .iter()
        .filter(|message| message.role == Role::User);
    let texts = of_user.map(|message| {
        let blocks = message.content.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.text.clone()),
            _ => None,
        });
        blocks.collect::<Vec<_>>().join("\n")
    });
    texts.filter(|text| !text.is_empty()).collect()
}

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
async fn a_pause_waits_for_tasks() {
    let yard = Yard::default();
    let agent = agent(&yard, ["Done.".into(), "Done again.".into()]).await;
    let mut run = agent.run("Go");
    until_started(&mut run).await;
    let paused = paused(run, &yard).await;
    let report = agent.resume(paused).await.unwrap();
    assert!(user_texts(&report)[1].ends_with("report of 2026"));
}

#[tokio::test(start_paused = true)]
async fn a_pause_waits_for_tasks_during_a_model_request() {
    let yard = Yard::default();
    let agent = agent(&yard, [ScriptedReply::never(), "Done.".into()]).await;
    let mut run = agent.run("Go");
    until_started(&mut run).await;
    let waiting = async { while run.next().await.is_some() {} };
    let waiting = tokio::time::timeout(Duration::from_secs(1), waiting).await;
    assert!(waiting.is_err(), "the model does not reply");
    let paused = paused(run, &yard).await;
    assert_eq!(paused.transcript().len(), 4);
    let report = agent.resume(paused).await.unwrap();
    assert_eq!(report.text(), "Done.");
    assert!(user_texts(&report)[1].ends_with("report of 2026"));
    assert_well_formed(&report.transcript);
}

#[tokio::test(start_paused = true)]
async fn a_pause_waits_for_tasks_while_a_call_awaits_approval() {
    let yard = Yard::default();
    let asking = ScriptedReply::call("dig", json!({})).and_call("release", json!({}));
    let agent = agent(&yard, [asking, "Done.".into()]).await;
    let mut run = agent.run("Go");
    while !matches!(run.next().await, Some(RunEvent::ApprovalRequested(_))) {}
    let stored = serde_json::to_string(&paused(run, &yard).await).unwrap();
    let mut paused: PausedRun = serde_json::from_str(&stored).unwrap();
    assert_eq!(paused.transcript().len(), 4, "the last one has the calls");
    let id = paused.pending_approvals().next().unwrap().id.clone();
    assert!(paused.approve(&id));
    let report = agent.resume(paused).await.unwrap();
    assert_eq!(report.text(), "Done.");
    assert_eq!(results(&report)[1].2, "deep");
    assert!(user_texts(&report)[1].ends_with("report of 2026"));
    assert_well_formed(&report.transcript);
}

#[tokio::test(start_paused = true)]
async fn a_pause_ends_at_the_deadline() {
    let yard = Yard::default();
    let agent = agent(&yard, [ScriptedReply::call("dig", json!({}))]).await;
    let agent = agent.timeout(Duration::from_secs(30));
    let mut run = agent.run("Go");
    while !matches!(run.next().await, Some(RunEvent::ApprovalRequested(_))) {}
    let pausing = tokio::time::timeout(Duration::from_secs(60), run.pause());
    let paused = pausing.await.expect("the pause ends").unwrap();
    cancelled(&yard).await;
    let result = serde_json::to_string(&paused.transcript()[2]).unwrap();
    assert!(result.contains("timeout of 30s"), "{result}");
}

//! Calls that run as tasks of their server while the model goes on.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::Notify;
use treenail::agent::{RunEvent, RunReport, ScriptedModel, ScriptedReply, StopReason, ToolLoop};
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
async fn a_pause_waits_for_tasks() {
    let yard = Yard::default();
    let model = ScriptedModel::new([
        ScriptedReply::call("report", json!({"year": 2026})),
        ScriptedReply::text("Done."),
        ScriptedReply::text("Done again."),
    ]);
    let agent = ToolLoop::new(model)
        .source("yard", client(&yard).await)
        .background_tasks(true);
    let mut run = agent.run("Go");
    while let Some(event) = run.next().await {
        if let RunEvent::CallFinished { .. } = event {
            break;
        }
    }
    yard.released.notify_one();
    let paused = run.pause().await.unwrap();
    let report = agent.resume(paused).await.unwrap();
    assert!(user_texts(&report)[1].ends_with("report of 2026"));
}

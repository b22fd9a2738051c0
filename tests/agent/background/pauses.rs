//! Pauses of a run while tasks run.

use std::time::Duration;

use serde_json::json;
use treenail::agent::{PausedRun, Run, RunEvent, ScriptedReply};

use super::{Yard, agent, cancelled, until_started, user_texts};
use crate::fixture::{assert_well_formed, results};

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

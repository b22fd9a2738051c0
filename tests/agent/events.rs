//! Events of a run, with and without a consumer.

use std::time::Duration;

use tokio::time::sleep;
use tokio_stream::StreamExt;
use treenail::agent::{
    ModelError, RunEvent, ScriptedModel, ScriptedReply, StopReason, ToolLoopLimits,
};
use treenail::prelude::*;

use crate::fixture::{desk, events, failure};

/// Short form of each event.
fn shown(events: &[RunEvent]) -> Vec<String> {
    events
        .iter()
        .map(|event| match event {
            RunEvent::Text(text) => format!("text {text}"),
            RunEvent::CallRequested(call) => format!("requested {} {}", call.id, call.name),
            RunEvent::ApprovalRequested(asked) => format!("asked {}", asked.call.id),
            RunEvent::CallStarted { id, .. } => format!("started {id}"),
            RunEvent::Progress { id, progress, .. } => {
                format!("progress {id} {}", progress.progress)
            }
            RunEvent::CallFinished { id, is_error, .. } => format!("finished {id} {is_error}"),
            RunEvent::RoundFinished { iterations, .. } => format!("round {iterations}"),
            RunEvent::Done(end) => format!("done {end:?}"),
            other => panic!("{other:?}"),
        })
        .collect()
}

#[tokio::test]
async fn events_are_emitted_in_order() {
    let (server, _) = desk();
    let model = ScriptedModel::new([
        ScriptedReply::text("Look.")
            .and_call("steps", json!({"count": 2}))
            .and_call("nope", json!({})),
        ScriptedReply::text("Walked."),
    ]);
    let mut run = ToolLoop::new(model).source("desk", server).run("Go");
    let reported = events(&mut run).await;
    let expected = [
        "text Look.",
        "requested call-1 steps",
        "requested call-2 nope",
        "finished call-2 true",
        "started call-1",
        "progress call-1 1",
        "progress call-1 2",
        "finished call-1 false",
        "round 1",
        "text Walked.",
        "done Finished",
    ];
    assert_eq!(shown(&reported), expected);
    let result = reported.iter().find_map(|event| match event {
        RunEvent::CallFinished { id, result, .. } if id == "call-1" => result.clone(),
        _ => None,
    });
    assert_eq!(result.unwrap().content[0].as_text(), Some("walked"));
    assert_eq!(run.next().await, None);
    assert_eq!(run.await.unwrap().stop_reason, StopReason::Finished);
}

#[tokio::test]
async fn a_run_is_a_stream() {
    let run = ToolLoop::new(ScriptedModel::new(["Hi"])).run("Hello");
    let reported: Vec<RunEvent> = run.collect().await;
    assert_eq!(shown(&reported), ["text Hi", "done Finished"]);
}

#[tokio::test]
async fn a_failed_run_ends_without_a_done_event() {
    let model = ScriptedModel::new([ScriptedReply::error(ModelError::refused("no key"))]);
    let mut run = ToolLoop::new(model).run("Hello");
    assert_eq!(shown(&events(&mut run).await), [] as [&str; 0]);
    assert_eq!(
        run.await.unwrap_err().to_string(),
        "the model rejected the request: no key"
    );
}

#[tokio::test]
async fn reading_can_stop_before_the_end() {
    let (server, _) = desk();
    let model = ScriptedModel::new([
        ScriptedReply::text("Look.").and_call("steps", json!({"count": 500})),
        ScriptedReply::text("Walked."),
    ]);
    let mut run = ToolLoop::new(model).source("desk", server).run("Go");
    run.next().await.unwrap();
    assert_eq!(run.await.unwrap().text(), "Walked.");
}

#[tokio::test]
async fn unread_progress_is_replaced_by_newer() {
    let (server, _) = desk();
    let model = ScriptedModel::new([
        ScriptedReply::call("steps", json!({"count": 50})),
        ScriptedReply::text("Walked."),
    ]);
    let limits = ToolLoopLimits::default().queued_progress(3);
    let mut run = ToolLoop::new(model)
        .source("desk", server)
        .limits(limits)
        .run("Go");
    let mut reported = Vec::new();
    while let Some(event) = run.next().await {
        if matches!(event, RunEvent::CallStarted { .. }) {
            // The server continues while no events are read.
            for _ in 0..500 {
                tokio::task::yield_now().await;
            }
        }
        reported.push(event);
    }
    let progress: Vec<_> = shown(&reported)
        .into_iter()
        .filter(|line| line.starts_with("progress"))
        .collect();
    assert!(progress.len() < 50, "{progress:?}");
    assert_eq!(progress.last().unwrap(), "progress call-1 50");
}

/// Reports progress each millisecond.
#[mcp_tool(read_only)]
async fn tick(cx: &Context, millis: u64) -> &'static str {
    for step in 1..=millis {
        cx.progress(step).await;
        sleep(Duration::from_millis(1)).await;
    }
    "ticked"
}

#[tokio::test(start_paused = true)]
async fn timeouts_expire_although_progress_arrives_faster_than_it_is_read() {
    let call = ScriptedReply::call("tick", json!({"millis": 60_000}));
    let model = ScriptedModel::new([call, ScriptedReply::text("It is slow.")]);
    let agent = ToolLoop::new(model).source("clock", tools![tick]);
    let mut run = agent.call_timeout(Duration::from_secs(2)).run("Go");
    while let Some(event) = run.next().await {
        if matches!(event, RunEvent::Progress { .. }) {
            sleep(Duration::from_millis(2)).await;
        }
    }
    let report = run.await.unwrap();
    assert!(failure(&report).contains("2s"), "ALL-CANC-03");
    assert_eq!(report.text(), "It is slow.");
}

#[tokio::test(start_paused = true)]
async fn dropping_a_run_cancels_its_calls_on_the_wire() {
    let (server, log) = desk();
    let model =
        ScriptedModel::new([
            ScriptedReply::call("wait", json!({"name": "a", "millis": 10_000}))
                .and_call("wait", json!({"name": "b", "millis": 10_000})),
        ]);
    let mut run = ToolLoop::new(model).source("desk", server).run("Go");
    while log.lines().len() < 2 {
        let step = tokio::time::timeout(Duration::from_millis(1), run.next());
        let _ = step.await;
    }
    drop(run);
    sleep(Duration::from_millis(1)).await;
    let mut ended = log.lines().split_off(2);
    ended.sort();
    assert_eq!(ended, ["cancel a", "cancel b"], "CLI-CANC-01");
}

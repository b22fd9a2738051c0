//! Cancellation of runs by the user.

use std::time::Duration;

use serde_json::json;
use treenail::agent::{
    Conversation, Run, RunEvent, ScriptedModel, ScriptedReply, StopReason, ToolLoop,
};

use crate::fixture::{assert_well_formed, desk, events, results};

/// Reads events until this number of calls has started.
async fn until_started(run: &mut Run, calls: usize) {
    let mut started = 0;
    while started < calls {
        let event = run.next().await.unwrap();
        started += usize::from(matches!(event, RunEvent::CallStarted { .. }));
    }
}

#[tokio::test(start_paused = true)]
async fn cancel_stops_calls_in_flight_and_the_conversation_can_continue() {
    let (server, log) = desk();
    let model = ScriptedModel::new([
        ScriptedReply::call("echo", json!({"text": "a"})),
        ScriptedReply::call("wait", json!({"name": "b", "millis": 10}))
            .and_call("wait", json!({"name": "c", "millis": 1_000_000})),
        ScriptedReply::text("As you wish."),
    ]);
    let agent = ToolLoop::new(model.clone()).source("desk", server);
    let mut run = agent.run("Go");
    until_started(&mut run, 3).await;
    while !log.lines().contains(&"end b".to_owned()) {
        let reading = tokio::time::timeout(Duration::from_millis(20), run.next());
        // The run emits no further events.
        drop(reading.await);
    }
    let report = run.cancel();
    assert_eq!(report.stop_reason, StopReason::Cancelled);
    assert_eq!(report.iterations, 2);
    assert_well_formed(&report.transcript);
    let reported: Vec<_> = results(&report)
        .into_iter()
        .map(|it| (it.1, it.2))
        .collect();
    assert_eq!(
        reported[..2],
        [(false, "a".to_owned()), (false, "b".to_owned())]
    );
    assert!(
        reported[2].0 && reported[2].1.contains("the user cancelled the run"),
        "{reported:?}"
    );
    assert_eq!(report.calls.len(), 3);

    while !log.lines().contains(&"cancel c".to_owned()) {
        tokio::task::yield_now().await;
    }
    let report = agent.run(Conversation::from(report).user("Leave it")).await;
    let report = report.unwrap();
    assert_eq!(report.text(), "As you wish.");
    assert_well_formed(&report.transcript);
    assert_eq!(model.requests().len(), 3);
}

#[tokio::test]
async fn cancel_drops_the_model_request_and_its_partial_text() {
    let model = ScriptedModel::new([ScriptedReply::never(), ScriptedReply::text("Yes?")]);
    let agent = ToolLoop::new(model);
    let mut run = agent.run("Hello");
    let reading = tokio::time::timeout(Duration::from_millis(1), run.next());
    assert!(reading.await.is_err());
    let report = run.cancel();
    assert_eq!(
        (report.stop_reason.clone(), report.transcript.len()),
        (StopReason::Cancelled, 1)
    );
    let report = agent.run(Conversation::from(report).user("Hello?")).await;
    assert_eq!(report.unwrap().text(), "Yes?");
}

#[tokio::test]
async fn cancel_fails_calls_awaiting_approval() {
    let (server, log) = desk();
    let model = ScriptedModel::new([ScriptedReply::call("delete", json!({"name": "a"}))]);
    let mut run = ToolLoop::new(model).source("desk", server).run("Go");
    while !matches!(run.next().await, Some(RunEvent::ApprovalRequested(_))) {}
    let report = run.cancel();
    assert_well_formed(&report.transcript);
    assert_eq!(report.stop_reason, StopReason::Cancelled);
    assert!(results(&report)[0].1, "it is an error");
    assert!(log.lines().is_empty(), "nothing is deleted");
}

#[tokio::test]
async fn cancelling_a_finished_run_returns_its_report() {
    let model = ScriptedModel::new([ScriptedReply::text("Done")]);
    let mut run = ToolLoop::new(model).run("Go");
    events(&mut run).await;
    let report = run.cancel();
    assert_eq!(
        (report.stop_reason.clone(), report.text()),
        (StopReason::Finished, "Done".to_owned())
    );

    let agent = ToolLoop::new(ScriptedModel::new([ScriptedReply::text("Done")]));
    let mut run = agent.run("Go");
    events(&mut run).await;
    let resumed = agent.resume(run.pause().await.unwrap());
    assert_eq!(
        resumed.cancel().stop_reason,
        StopReason::Finished,
        "it had ended before it was paused"
    );

    let run = ToolLoop::new(ScriptedModel::new([ScriptedReply::text("No")])).run("Go");
    let report = run.cancel();
    assert_eq!(
        report.stop_reason,
        StopReason::Cancelled,
        "it has not begun"
    );
}

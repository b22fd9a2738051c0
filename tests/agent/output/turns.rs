//! Submissions beside other calls, limits and pauses.

use serde_json::json;
use treenail::agent::{
    PausedRun, RunEvent, ScriptedModel, ScriptedReply, StopReason, ToolChoice, ToolLoopLimits,
    Usage,
};
use treenail::schema::ToolChoiceMode;

use super::{Plan, echo, failed, mode, offered, oslo, planner, run, submit};
use crate::fixture::{assert_well_formed, events, results};

#[tokio::test]
async fn the_last_message_can_only_submit() {
    let last = submit("Oslo", 3).and_call("echo", json!({"text": "b"}));
    let model = ScriptedModel::new([echo("a"), last]);
    let (agent, log) = planner(&model);
    let report = agent.max_iterations(1).run("Go").await.unwrap();
    assert_well_formed(&report.transcript);
    assert_eq!(report.stop_reason, StopReason::MaxIterations, "ALL-SAM-05");
    assert_eq!(report.output_as::<Plan>().unwrap(), oslo());
    assert_eq!(log.lines(), ["echo a"]);
    assert_eq!(failed(&report), [false, false, true]);
    let request = model.requests().remove(1);
    assert_eq!(offered(&request), ["submit_output"]);
    assert_eq!(mode(&request), Some(ToolChoiceMode::Required), "ALL-SAM-04");
    let prompt = request.system_prompt.unwrap();
    assert!(prompt.ends_with("Call only the tool `submit_output` now, with what you know."));

    // An invalid one does not continue the run.
    let model = ScriptedModel::new([echo("a"), submit("Oslo", 0)]);
    let (agent, _) = planner(&model);
    let report = agent.max_iterations(1).run("Go").await.unwrap();
    assert_eq!((report.output, report.iterations), (None, 2));
}

#[tokio::test]
async fn the_budget_ends_a_run_without_an_output() {
    let limits = ToolLoopLimits::default().total_tokens(10);
    let used = || Usage::new(9, 1);
    let model = ScriptedModel::new([echo("a").usage(used())]);
    let report = planner(&model).0.limits(limits.clone()).run("Go").await;
    let report = report.unwrap();
    assert_eq!(report.stop_reason, StopReason::TotalTokens);
    assert!(report.output_as::<Plan>().is_err());

    let model = ScriptedModel::new([submit("Oslo", 3).usage(used())]);
    let report = planner(&model).0.limits(limits).run("Go").await.unwrap();
    assert_eq!(report.stop_reason, StopReason::Finished, "it is paid for");
    assert_eq!(report.output_as::<Plan>().unwrap(), oslo());
}

#[tokio::test]
async fn the_first_valid_submission_counts_and_other_calls_run() {
    let plan = |city: &str, hours: u8| json!({"city": city, "hours": hours});
    let reply = ScriptedReply::call("submit_output", plan("Bergen", 0))
        .and_call("submit_output", plan("Oslo", 3))
        .and_call("submit_output", plan("Oslo", 0))
        .and_call("echo", json!({"text": "a"}))
        .and_call("fail", json!({"text": "no"}));
    let (report, _, log) = run([reply]).await;
    assert_eq!(report.output_as::<Plan>().unwrap(), oslo());
    assert_eq!(failed(&report), [true, false, true, false, true]);
    assert!(
        results(&report)[2]
            .2
            .contains("an output was accepted before")
    );
    assert_eq!(log.lines(), ["echo a"]);
}

#[tokio::test]
async fn no_approval_is_requested_for_a_submission() {
    let model = ScriptedModel::new([submit("Oslo", 3)]);
    let (agent, _) = planner(&model);
    let agent = agent.approve(|request| panic!("{request:?}"));
    let mut run = agent.run("Go");
    let events = events(&mut run).await;
    assert!(matches!(
        &events[..],
        [
            RunEvent::CallRequested(call),
            RunEvent::CallFinished { is_error: false, .. },
            RunEvent::RoundFinished { iterations: 1, .. },
            RunEvent::Done(StopReason::Finished),
        ] if call.source.is_none()
    ));
    assert_eq!(run.await.unwrap().output_as::<Plan>().unwrap(), oslo());
}

#[tokio::test]
async fn the_tool_choice_applies_to_other_tools() {
    let first_offered = |choice: ToolChoice| async move {
        let model = ScriptedModel::new([submit("Oslo", 3)]);
        let report = planner(&model).0.tool_choice(choice).run("Go").await;
        assert_eq!(report.unwrap().output_as::<Plan>().unwrap(), oslo());
        let request = model.requests().remove(0);
        assert_eq!(mode(&request), Some(ToolChoiceMode::Required), "ALL-SAM-04");
        let tools = offered(&request);
        (tools.len(), tools[0].to_owned())
    };
    let submission = (1, "submit_output".to_owned());
    assert_eq!(first_offered(ToolChoice::None).await, submission);
    let named = ToolChoice::Tool("submit_output".to_owned());
    assert_eq!(first_offered(named).await, submission);
    assert_eq!(first_offered(ToolChoice::Required).await.0, 10);
    assert_eq!(
        first_offered(ToolChoice::Tool("echo".to_owned())).await.0,
        1
    );
}

#[tokio::test]
async fn a_paused_run_retains_its_output() {
    let reply = submit("Oslo", 3).and_call("delete", json!({"name": "b"}));
    let model = ScriptedModel::new([reply]);
    let (agent, log) = planner(&model);
    let mut run = agent.run("Go");
    while let Some(event) = run.next().await {
        if matches!(event, RunEvent::ApprovalRequested(_)) {
            break;
        }
    }
    let stored = serde_json::to_string(&run.pause().await.unwrap()).unwrap();
    let mut paused: PausedRun = serde_json::from_str(&stored).unwrap();
    let id = paused.pending_approvals().next().unwrap().id.clone();
    assert!(paused.approve(&id));
    let report = agent.resume(paused).await.unwrap();
    assert_well_formed(&report.transcript);
    assert_eq!(report.stop_reason, StopReason::Finished);
    assert_eq!(report.output_as::<Plan>().unwrap(), oslo());
    assert_eq!(log.lines(), ["delete b"]);

    let mut run = agent.resume(serde_json::from_str(&stored).unwrap());
    run.next().await.unwrap();
    let report = run.cancel();
    assert_eq!(report.stop_reason, StopReason::Cancelled);
    assert_eq!(report.output_as::<Plan>().unwrap(), oslo());
}

//! Each limit of a run.

use std::time::Duration;

use serde_json::json;
use treenail::agent::{
    ModelCapabilities, RunReport, ScriptedModel, ScriptedReply, StopReason, ToolLoop,
    ToolLoopError, ToolLoopLimits, Usage,
};
use treenail::prelude::*;
use treenail::schema::{ElicitResult, Revision};

use crate::fixture::{Log, assert_well_formed, desk, failure, results};

fn echo(text: &str) -> ScriptedReply {
    ScriptedReply::call("echo", json!({"text": text}))
}

fn wait(name: &str, millis: u64) -> ScriptedReply {
    ScriptedReply::call("wait", json!({"name": name, "millis": millis}))
}

/// Runs a script with limits; returns the report, the model and the log of the tools.
async fn limited(
    limits: ToolLoopLimits,
    replies: impl IntoIterator<Item = ScriptedReply>,
) -> (RunReport, ScriptedModel, Log) {
    let (server, log) = desk();
    let model = ScriptedModel::new(replies);
    let agent = ToolLoop::new(model.clone())
        .source("desk", server)
        .limits(limits);
    let report = agent.run("Go").await.unwrap();
    assert_well_formed(&report.transcript);
    (report, model, log)
}

#[tokio::test]
async fn iterations_end_with_an_answer() {
    let limits = ToolLoopLimits::default().max_iterations(2);
    let replies = [
        echo("a"),
        echo("b"),
        ScriptedReply::text("As far as I know: b."),
    ];
    let (report, model, log) = limited(limits, replies).await;
    assert_eq!(report.stop_reason, StopReason::MaxIterations, "ALL-SAM-05");
    assert_eq!(log.lines(), ["echo a", "echo b"]);
    assert_eq!(report.text(), "As far as I know: b.");
    let last = &model.requests()[2];
    let prompt = last.system_prompt.as_deref().unwrap();
    assert!(
        prompt.contains("You have had 2 rounds of tool calls"),
        "{prompt}"
    );
    assert!(prompt.contains("answer now with what you know"), "{prompt}");
    let choice = serde_json::to_value(&last.tool_choice).unwrap();
    assert_eq!(choice, json!({"mode": "none"}), "ALL-SAM-04");
    assert_eq!(model.requests()[1].system_prompt, None);
}

#[tokio::test]
async fn the_tokens_of_a_run_are_bounded() {
    let used = Usage::new;
    for (total, iterations) in [(31, 3), (30, 2), (11, 2), (10, 1)] {
        let limits = ToolLoopLimits::default().total_tokens(total);
        let replies = [
            echo("a").usage(used(8, 2)),
            echo("b").usage(used(15, 5)),
            ScriptedReply::text("Done."),
        ];
        let (report, model, _) = limited(limits, replies).await;
        assert_eq!(model.requests().len(), iterations, "{total}");
        let is_ended = iterations < 3;
        assert_eq!(report.stop_reason == StopReason::TotalTokens, is_ended);
    }
}

#[tokio::test]
async fn calls_after_the_last_iteration_fail_in_the_transcript() {
    let limits = ToolLoopLimits::default().max_iterations(1);
    let (report, _, log) = limited(limits, [echo("a"), echo("b")]).await;
    assert_eq!(report.stop_reason, StopReason::MaxIterations);
    assert_eq!(log.lines(), ["echo a"]);
    let (_, is_error, reported) = results(&report).remove(1);
    assert!(
        is_error && reported.contains("the limit of 1 rounds"),
        "{reported}"
    );
    assert_eq!(report.text(), "", "the last message is not the model's");
}

#[tokio::test(start_paused = true)]
async fn the_run_timeout_cancels_calls_in_flight() {
    let limits = || ToolLoopLimits::default().timeout(Duration::from_secs(1));
    let call = wait("quick", 100).and_call("wait", json!({"name": "slow", "millis": 20_000}));
    let (report, _, log) = limited(limits(), [call]).await;
    assert_eq!(report.stop_reason, StopReason::Timeout);
    let results = results(&report);
    assert_eq!(results[0].2, "quick", "what has ended counts");
    let (_, is_error, reported) = &results[1];
    assert!(
        *is_error && reported.contains("the run exceeded its timeout of 1s"),
        "{reported}"
    );
    tokio::time::sleep(Duration::from_millis(1)).await;
    let mut ended = log.lines().split_off(2);
    ended.sort();
    assert_eq!(ended, ["cancel slow", "end quick"], "CLI-CANC-01");

    // During a model request.
    let (report, ..) = limited(limits(), [echo("a"), ScriptedReply::never()]).await;
    assert_eq!(
        (report.stop_reason, report.transcript.len()),
        (StopReason::Timeout, 3)
    );
}

#[tokio::test(start_paused = true)]
async fn the_call_timeout_is_enforced() {
    let limits = ToolLoopLimits::default().call_timeout(Duration::from_secs(2));
    let started = tokio::time::Instant::now();
    let (report, ..) = limited(limits, [wait("slow", 20_000), "It is slow.".into()]).await;
    assert_eq!(started.elapsed().as_secs(), 2);
    let reported = failure(&report);
    assert!(
        reported.contains("2s") || reported.contains("2 s"),
        "ALL-CANC-03: {reported}"
    );
    assert_eq!(report.stop_reason, StopReason::Finished);
}

/// Books what the user confirms.
#[mcp_tool(read_only)]
async fn book(cx: &Context) -> Result<String, AskError> {
    cx.confirm("Book it?").await?;
    Ok("booked".to_owned())
}

#[tokio::test(start_paused = true)]
async fn a_user_may_need_longer_than_the_timeouts() {
    let server = treenail::server!().tools(tools![book]).build().unwrap();
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let client = McpClient::builder()
            .server(&server)
            .protocol_version(revision)
            .on_elicit(|_| async {
                tokio::time::sleep(Duration::from_secs(600)).await;
                ElicitResult::accept(())
            })
            .build()
            .await
            .unwrap();
        let model = ScriptedModel::new([
            ScriptedReply::call("book", json!({})),
            ScriptedReply::text("It is booked."),
        ]);
        let agent = ToolLoop::new(model).source("desk", &client);
        let report = agent.run("Go").await.unwrap();
        let (_, is_error, text) = results(&report).remove(0);
        assert!(!is_error && text == "booked", "{revision}: {text}");
        assert_eq!(report.stop_reason, StopReason::Finished, "{revision}");
    }
}

#[tokio::test]
async fn long_results_are_truncated_with_a_note() {
    let limits = ToolLoopLimits::default().result_bytes(1000);
    let big = ScriptedReply::call("big", json!({"bytes": 100_000}));
    let (report, ..) = limited(limits, [big, "Long.".into()]).await;
    let (_, is_error, reported) = results(&report).remove(0);
    assert!(!is_error && reported.len() <= 1000, "{}", reported.len());
    assert!(
        reported.contains("xxx") && reported.chars().any(|it| it != 'x'),
        "{reported}"
    );
}

#[tokio::test(start_paused = true)]
async fn parallel_calls_are_limited() {
    let limits = ToolLoopLimits::default().parallel_calls(2);
    let mut reply = wait("a", 100);
    for name in ["b", "c"] {
        reply = reply.and_call("wait", json!({"name": name, "millis": 200}));
    }
    let (_, _, log) = limited(limits, [reply, "Done".into()]).await;
    let expected = ["begin a", "begin b", "end a", "begin c", "end b", "end c"];
    assert_eq!(log.lines(), expected);
}

#[tokio::test]
async fn calls_per_message_are_limited() {
    let limits = ToolLoopLimits::default().calls_per_message(2);
    let mut reply = echo("a");
    for text in ["b", "c"] {
        reply = reply.and_call("echo", json!({"text": text}));
    }
    let (report, _, log) = limited(limits, [reply, "Done".into()]).await;
    assert_eq!(log.lines(), ["echo a", "echo b"]);
    let (_, is_error, reported) = results(&report).remove(2);
    assert!(is_error && reported.contains('2'), "{reported}");
}

#[tokio::test]
async fn the_message_size_is_limited() {
    let limits = || ToolLoopLimits::default().message_bytes(1000);
    let long = || ScriptedReply::text("x".repeat(2000));
    for reply in [long(), long().chunks(10), echo(&"x".repeat(2000))] {
        let (report, ..) = limited(limits(), [echo("a"), reply]).await;
        assert_eq!(report.stop_reason, StopReason::MessageTooLong);
        assert_eq!(report.transcript.len(), 3, "what was too long is not kept");
    }

    // A model that writes without end is stopped.
    for capabilities in [
        ModelCapabilities::default(),
        ModelCapabilities::default().tools(false),
    ] {
        let endless = ScriptedReply::never()
            .and_text("x".repeat(2000))
            .chunks(100);
        let model = ScriptedModel::new([endless]).with_capabilities(capabilities);
        let report = ToolLoop::new(model)
            .limits(limits())
            .run("Go")
            .await
            .unwrap();
        assert_eq!(report.stop_reason, StopReason::MessageTooLong);
    }
}

#[tokio::test]
async fn the_transcript_size_is_limited() {
    let limits = ToolLoopLimits::default().transcript_bytes(5000);
    let big = || ScriptedReply::call("big", json!({"bytes": 2000}));
    let (report, ..) = limited(limits, [big(), big(), big()]).await;
    assert_eq!(report.stop_reason, StopReason::TranscriptFull);
    assert_eq!((report.iterations, report.transcript.len()), (3, 7));
}

#[tokio::test]
async fn the_number_of_tools_is_limited() {
    let (server, _) = desk();
    let limits = ToolLoopLimits::default().tools(3);
    let agent = ToolLoop::new(ScriptedModel::new(["never said"])).source("desk", server);
    let error = agent.limits(limits).run("Go").await.unwrap_err();
    assert!(matches!(error, ToolLoopError::Invalid { .. }));
    assert_eq!(
        error.to_string(),
        "the sources have 9 tools, the limit is 3; select tools with `ToolSource::only`"
    );
}

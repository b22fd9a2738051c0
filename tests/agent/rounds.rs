//! Rounds of model messages and calls.

use serde_json::json;
use treenail::agent::{
    Conversation, RunReport, ScriptedModel, ScriptedReply, StopReason, ToolChoice, ToolLoop, Usage,
};
use treenail::prelude::*;
use treenail::schema::{
    JsonObject, MetaObject, SamplingMessageContentBlock as Block, ToolChoiceMode, ToolUseContent,
};

use crate::fixture::{assert_well_formed, desk, failure, results};

fn echo(text: &str) -> ScriptedReply {
    ScriptedReply::call("echo", json!({"text": text}))
}

/// Runs a script with the tools of the desk.
async fn run(replies: impl IntoIterator<Item = ScriptedReply>) -> (RunReport, ScriptedModel) {
    let (server, _) = desk();
    let model = ScriptedModel::new(replies);
    let agent = ToolLoop::new(model.clone()).source("desk", server);
    let report = agent.run("Go").await.unwrap();
    assert_well_formed(&report.transcript);
    assert_eq!(model.remaining(), 0);
    (report, model)
}

#[tokio::test]
async fn minimal_agent() {
    #[mcp_tool(read_only)]
    fn rain(city: String) -> String {
        format!("It rains in {city}.")
    }

    let model = ScriptedModel::new([
        ScriptedReply::call("rain", json!({"city": "Oslo"})),
        ScriptedReply::text("Yes, take one."),
    ]);
    let report = ToolLoop::new(model)
        .source("weather", tools![rain])
        .system_prompt("You are brief.")
        .run("Do I need an umbrella in Oslo?")
        .await
        .unwrap();
    assert_eq!(report.text(), "Yes, take one.");
    assert_eq!(report.stop_reason, StopReason::Finished);
    assert_eq!(results(&report)[0].2, "It rains in Oslo.");
}

#[tokio::test]
async fn the_loop_runs_until_a_message_without_calls() {
    let used = Usage::new;
    let (report, model) = run([
        echo("a").and_text("Let me see.").usage(used(10, 1)),
        ScriptedReply::call("add", json!({"a": 1, "b": 2})).usage(used(20, 2)),
        ScriptedReply::text("3").usage(used(30, 3)),
    ])
    .await;
    assert_eq!(report.text(), "3");
    assert_eq!(report.iterations, 3);
    assert_eq!(report.usage, Some(used(60, 6)));
    assert_eq!(report.model.as_deref(), Some("scripted"));
    assert_eq!(report.transcript.len(), 6);
    let made: Vec<_> = report
        .calls
        .iter()
        .map(|it| (&*it.call.name, it.is_error))
        .collect();
    assert_eq!(made, [("echo", false), ("add", false)]);

    let requests = model.requests();
    let first = &requests[0];
    assert_eq!((first.messages.len(), first.max_tokens), (1, 4096));
    let offered: Vec<_> = first
        .tools
        .iter()
        .flatten()
        .map(|tool| &*tool.name)
        .collect();
    assert!(offered.starts_with(&["echo", "add", "wait"]), "{offered:?}");
    assert_eq!(
        first.tool_choice, None,
        "ALL-SAM-04: auto is what is meant without"
    );
    assert_eq!(requests[2].messages[..], report.transcript[..5]);
}

#[tokio::test(start_paused = true)]
async fn results_follow_the_order_of_the_calls() {
    let (server, log) = desk();
    let wait = |name: &str, millis: u64| (name.to_owned(), millis);
    let mut reply = ScriptedReply::text("Three at once.");
    for (name, millis) in [wait("slow", 300), wait("quick", 100), wait("middle", 200)] {
        reply = reply.and_call("wait", json!({"name": name, "millis": millis}));
    }
    let model = ScriptedModel::new([reply, ScriptedReply::text("Done")]);
    let agent = ToolLoop::new(model).source("desk", server);
    let report = agent.run("Go").await.unwrap();
    assert_well_formed(&report.transcript);
    let reported: Vec<_> = results(&report)
        .into_iter()
        .map(|(_, _, text)| text)
        .collect();
    assert_eq!(reported, ["slow", "quick", "middle"], "SRV-SAM-05");
    let ended = ["end quick", "end middle", "end slow"];
    assert_eq!(log.lines()[3..], ended, "they ran at once");
}

#[tokio::test]
async fn missing_and_duplicate_ids_are_made_unique() {
    let again = |id: &str| ToolUseContent::new(id, "add", json_object(r#"{"a": 1, "b": 1}"#));
    let reply = || {
        ScriptedReply::text("")
            .and_tool_use(again("x"))
            .and_tool_use(again("x"))
    };
    let (report, _) = run([reply(), reply(), ScriptedReply::text("2")]).await;
    let ids: Vec<_> = results(&report).into_iter().map(|(id, ..)| id).collect();
    assert_eq!(ids, ["x", "x-2", "x-3", "x-4"]);
    assert!(report.calls.iter().all(|call| !call.is_error));
}

fn json_object(text: &str) -> JsonObject {
    serde_json::from_str(text).unwrap()
}

#[tokio::test]
async fn metadata_of_calls_is_preserved() {
    let meta: MetaObject = [("vendor/signature", "abc")].into_iter().collect();
    let signed = ToolUseContent::new("s", "echo", json_object(r#"{"text": "a"}"#));
    let signed = signed.with_meta(meta.clone());
    let (_, model) = run([
        ScriptedReply::text("").and_tool_use(signed),
        ScriptedReply::text("a"),
    ])
    .await;
    let sent = &model.requests()[1].messages[1];
    let retained = sent.content.iter().find_map(|block| match block {
        Block::ToolUse(tool_use) => Some(tool_use.meta.clone()),
        _ => None,
    });
    assert_eq!(retained, Some(Some(meta)), "CLI-SAM-07");
}

#[tokio::test]
async fn the_tool_choice_applies_to_the_first_round() {
    let cases = [
        (ToolChoice::Auto, None, 9, None, 9),
        (
            ToolChoice::Required,
            Some(ToolChoiceMode::Required),
            9,
            None,
            9,
        ),
        (
            ToolChoice::None,
            Some(ToolChoiceMode::None),
            9,
            Some(ToolChoiceMode::None),
            9,
        ),
        (
            ToolChoice::Tool("echo".to_owned()),
            Some(ToolChoiceMode::Required),
            1,
            None,
            9,
        ),
    ];
    for (choice, first, offered_first, second, offered_second) in cases {
        let (server, log) = desk();
        let model = ScriptedModel::new([echo("a"), ScriptedReply::text("a")]);
        let agent = ToolLoop::new(model.clone()).source("desk", server);
        let report = agent.tool_choice(choice.clone()).run("Go").await.unwrap();
        assert_well_formed(&report.transcript);
        if choice == ToolChoice::None {
            let reported = failure(&report);
            assert!(reported.contains("no tools may be called"), "{reported}");
            assert_eq!(log.lines(), [] as [&str; 0], "ALL-SAM-04: it is not run");
        } else {
            assert_eq!(log.lines(), ["echo a"], "{choice:?}");
        }
        let asked: Vec<_> = model
            .requests()
            .into_iter()
            .map(|request| {
                let mode = request.tool_choice.and_then(|choice| choice.mode);
                (mode, request.tools.map_or(0, |tools| tools.len()))
            })
            .collect();
        let expected = [(first, offered_first), (second, offered_second)];
        assert_eq!(asked, expected, "ALL-SAM-04: {choice:?}");
    }
}

#[tokio::test]
async fn a_conversation_can_be_continued() {
    let (server, _) = desk();
    let model = ScriptedModel::new([
        echo("a"),
        ScriptedReply::text("One."),
        ScriptedReply::text("Two."),
    ]);
    let agent = ToolLoop::new(model.clone()).source("desk", server);
    let first = agent.run("And?").await.unwrap();
    let second = agent
        .run(Conversation::from(first).user("And then?"))
        .await
        .unwrap();
    assert_eq!(second.text(), "Two.");
    assert_eq!(second.transcript.len(), 6);
    assert_eq!(second.iterations, 1, "it counts its own");
    assert_well_formed(&second.transcript);
    assert_eq!(model.requests()[2].messages[..], second.transcript[..5]);
}

#[tokio::test]
async fn the_stop_reason_is_reported() {
    let cases = [
        ("endTurn", StopReason::Finished),
        ("stopSequence", StopReason::StopSequence),
        ("maxTokens", StopReason::MaxTokens),
        ("refusal", StopReason::Stopped("refusal".to_owned())),
    ];
    for (reason, end) in cases {
        let (report, _) = run([ScriptedReply::text("Well").stop_reason(reason)]).await;
        assert_eq!((report.stop_reason, report.transcript.len()), (end, 2));
    }
}

#[tokio::test]
async fn requests_can_be_edited() {
    let model = ScriptedModel::new(["Hi"]);
    let agent = ToolLoop::new(model.clone())
        .max_tokens(9)
        .system_prompt("Short.")
        .edit_requests(|request| request.temperature = Some(0.5.into()));
    agent.run("Hello").await.unwrap();
    let request = model.requests().remove(0);
    assert_eq!(request.max_tokens, 9, "CLI-SAM-03");
    assert_eq!(request.system_prompt.as_deref(), Some("Short."));
    assert_eq!(request.temperature, Some(0.5.into()));
    assert_eq!(
        (request.tools, request.tool_choice),
        (None, None),
        "SRV-SAM-01"
    );
}

#[tokio::test]
async fn one_loop_runs_conversations_concurrently() {
    let (server, log) = desk();
    let model = ScriptedModel::new([echo("a"), echo("b"), "One".into(), "Two".into()]);
    let agent = ToolLoop::new(model).source("desk", server);
    let (first, second) = tokio::join!(agent.run("First"), agent.run("Second"));
    for report in [first.unwrap(), second.unwrap()] {
        assert_well_formed(&report.transcript);
        assert_eq!((report.iterations, report.calls.len()), (2, 1));
    }
    assert_eq!(log.lines().len(), 2);
}

#[tokio::test]
async fn a_lost_server_is_reported_to_the_model() {
    #[mcp_tool(read_only)]
    async fn leave(cx: &Context) -> &'static str {
        cx.server().close();
        "Bye"
    }

    let server = treenail::server!().tools(tools![leave]).build().unwrap();
    let model = ScriptedModel::new([
        ScriptedReply::call("leave", json!({})),
        ScriptedReply::call("leave", json!({})),
        ScriptedReply::text("It has gone."),
    ]);
    let report = ToolLoop::new(model).source("own", server).run("Go").await;
    let report = report.unwrap();
    let results = results(&report);
    assert!(
        results[1].1 && results[1].2.contains("leave"),
        "{results:?}"
    );
    assert_eq!(report.text(), "It has gone.");
}

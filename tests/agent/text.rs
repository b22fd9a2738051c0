//! Models without tool use: tools are listed in the prompt, and calls are parsed from text.

use treenail::agent::{
    ModelCapabilities, RunEvent, RunReport, ScriptedModel, ScriptedReply, StopReason,
    TextToolFormat, ToolChoice, ToolLoop, ToolSource, tool_use_from_raw,
};

use crate::fixture::{assert_well_formed, desk, events, failure, results};

fn plain<R: Into<ScriptedReply>>(replies: impl IntoIterator<Item = R>) -> ScriptedModel {
    ScriptedModel::new(replies).with_capabilities(ModelCapabilities::default().tools(false))
}

async fn run(model: &ScriptedModel) -> RunReport {
    let (server, _) = desk();
    let agent = ToolLoop::new(model.clone()).source("desk", server);
    let report = agent.system_prompt("Be brief.").run("Go").await.unwrap();
    assert_well_formed(&report.transcript);
    report
}

const ECHO: &str = "TOOL: echo\nPARAMETERS: {\"text\": \"a {b}\"}\n";

#[tokio::test]
async fn calls_are_parsed_and_results_rendered_as_text() {
    let model = plain([
        format!("First this.\n{ECHO}Then that.\nTOOL: add\nPARAMETERS: {{\"a\": 1, \"b\": 2}}\n"),
        "3, I think.".to_owned(),
    ]);
    let report = run(&model).await;
    assert_eq!(report.stop_reason, StopReason::Finished);
    assert_eq!(report.text(), "3, I think.");
    let reported: Vec<_> = results(&report).into_iter().map(|it| it.2).collect();
    assert_eq!(reported, ["a {b}", "3"]);

    let requests = model.requests();
    let prompt = requests[0].system_prompt.as_deref().unwrap();
    assert!(prompt.starts_with("Be brief.\n\n"), "{prompt}");
    assert!(
        prompt.contains("TOOL:") && prompt.contains("echo"),
        "{prompt}"
    );
    assert_eq!(
        (&requests[0].tools, &requests[0].tool_choice),
        (&None, &None)
    );
    let sent = serde_json::to_string(&requests[1].messages).unwrap();
    assert!(
        !sent.contains("tool_use") && !sent.contains("tool_result"),
        "{sent}"
    );
    assert!(
        sent.contains("TOOL: echo") && sent.contains("a {b}"),
        "{sent}"
    );
}

#[tokio::test]
async fn text_is_streamed_without_the_calls() {
    let said = format!("Well, let me see.\n{ECHO}");
    for size in 1..12 {
        let (server, _) = desk();
        let model = plain([ScriptedReply::text(&*said).chunks(size), "Done.".into()]);
        let mut run = ToolLoop::new(model).source("desk", server).run("Go");
        let reported = events(&mut run).await;
        let text: String = reported
            .iter()
            .filter_map(|event| match event {
                RunEvent::Text(text) => Some(&**text),
                _ => None,
            })
            .collect();
        assert!(text.starts_with("Well, let me see."), "{size}: {text}");
        assert!(
            !text.contains("TOOL") && !text.contains("PARAM") && !text.contains('{'),
            "{size}: {text}"
        );
        assert!(text.ends_with("Done."), "{size}: {text}");
        assert_eq!(results(&run.await.unwrap())[0].2, "a {b}");
    }
}

#[tokio::test]
async fn extraction_a_malformed_call_is_reported_with_its_cause() {
    let model = plain(["TOOL: echo\nPARAMETERS: {\"text\": }\n", "I see."]);
    let report = run(&model).await;
    let (_, is_error, reported) = results(&report).remove(0);
    assert!(is_error && reported.contains("PARAMETERS"), "{reported}");
    let sent = serde_json::to_string(&model.requests()[1].messages).unwrap();
    assert!(sent.contains("PARAMETERS"), "it is told as text: {sent}");
    assert_eq!(report.text(), "I see.");
}

#[tokio::test]
async fn a_native_call_that_could_not_be_parsed_is_not_run() {
    let call = tool_use_from_raw("c1", "unsaid", "{");
    let calls = ScriptedReply::text(ECHO).and_tool_use(call);
    let (server, log) = desk();
    let source = ToolSource::from(server).auto_approve();
    let agent = ToolLoop::new(plain([calls, "I see.".into()])).source("desk", source);
    let report = agent.run("Go").await.unwrap();
    assert_well_formed(&report.transcript);
    assert_eq!(log.lines(), ["echo a {b}"]);
    let (_, is_error, reported) = results(&report).remove(1);
    assert!(
        is_error && reported.contains("could not be parsed"),
        "{reported}"
    );
}

#[tokio::test]
async fn an_announcement_is_a_call_only_if_enabled() {
    let mention = "I will use the unsaid tool.";
    let report = run(&plain([mention])).await;
    assert_eq!(report.calls, []);
    let format = TextToolFormat::default().mentions(true);
    let (server, _) = desk();
    let model = plain([mention, "Done."]);
    let agent = ToolLoop::new(model)
        .source("desk", server)
        .text_tool_format(format);
    let report = agent.run("Go").await.unwrap();
    assert_eq!(report.calls.len(), 1);
}

#[tokio::test]
async fn disabled_tools_are_not_listed() {
    let (server, _) = desk();
    let model = plain(["Hi."]);
    let agent = ToolLoop::new(model.clone()).source("desk", server);
    agent.tool_choice(ToolChoice::None).run("Go").await.unwrap();
    assert_eq!(model.requests()[0].system_prompt, None);
}

#[tokio::test]
async fn disabled_tools_are_not_called() {
    let (server, log) = desk();
    let model = plain([ECHO, "I will use the unsaid tool."]);
    let agent = ToolLoop::new(model)
        .source("desk", server)
        .text_tool_format(TextToolFormat::default().mentions(true))
        .tool_choice(ToolChoice::None);
    let report = agent.run("Go").await.unwrap();
    assert_well_formed(&report.transcript);
    assert_eq!(log.lines(), [] as [&str; 0], "ALL-SAM-04");
    let reported = failure(&report);
    assert!(reported.contains("no tools may be called"), "{reported}");
    assert_eq!(report.text(), "I will use the unsaid tool.");
}

#[tokio::test]
async fn stop_sequences_are_added_up_to_the_maximum() {
    for (given, sent) in [(0, 2), (2, 4), (3, 4), (4, 4), (5, 5)] {
        let (server, _) = desk();
        let model = plain(["Hi."]);
        let agent = ToolLoop::new(model.clone()).source("desk", server);
        let own: Vec<String> = (0..given).map(|number| format!("stop {number}")).collect();
        let stops = own.clone();
        let agent =
            agent.edit_requests(move |request| request.stop_sequences = Some(stops.clone()));
        agent.run("Go").await.unwrap();
        let asked = model.requests().remove(0).stop_sequences.unwrap();
        assert_eq!(asked.len(), sent, "{asked:?}");
        assert!(asked.starts_with(&own), "{asked:?}");
    }
}

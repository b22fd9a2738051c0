//! Runs that end with an output of a type, which the model submits.

mod client;
mod turns;

use serde_json::{Value, json};
use treenail::agent::{
    ModelCapabilities, RunReport, ScriptedModel, ScriptedReply, StopReason, ToolLoopError,
    ToolSource,
};
use treenail::prelude::*;
use treenail::schema::{CreateMessageRequestParams, Role, ToolChoiceMode};

use crate::fixture::{Log, assert_well_formed, desk, results};

/// A plan for a day.
#[mcp_type]
#[derive(Debug, PartialEq)]
struct Plan {
    city: String,
    #[schemars(range(min = 1))]
    hours: u8,
}

fn oslo() -> Plan {
    let city = "Oslo".to_owned();
    Plan { city, hours: 3 }
}

fn submit(city: &str, hours: impl Into<Value>) -> ScriptedReply {
    let hours: Value = hours.into();
    ScriptedReply::call("submit_output", json!({"city": city, "hours": hours}))
}

fn echo(text: &str) -> ScriptedReply {
    ScriptedReply::call("echo", json!({"text": text}))
}

/// A loop with the tools of the desk and an output.
fn planner(model: &ScriptedModel) -> (ToolLoop, Log) {
    let (server, log) = desk();
    let agent = ToolLoop::new(model.clone()).source("desk", server);
    (agent.output::<Plan>(), log)
}

/// Runs a script.
async fn run<R: Into<ScriptedReply>>(
    replies: impl IntoIterator<Item = R>,
) -> (RunReport, ScriptedModel, Log) {
    let model = ScriptedModel::new(replies);
    let (agent, log) = planner(&model);
    let report = agent.run("A day in Oslo").await.unwrap();
    assert_well_formed(&report.transcript);
    assert_eq!(model.remaining(), 0);
    (report, model, log)
}

fn offered(request: &CreateMessageRequestParams) -> Vec<&str> {
    let tools = request.tools.iter().flatten();
    tools.map(|tool| &*tool.name).collect()
}

fn mode(request: &CreateMessageRequestParams) -> Option<ToolChoiceMode> {
    request.tool_choice.as_ref().and_then(|choice| choice.mode)
}

fn failed(report: &RunReport) -> Vec<bool> {
    report.calls.iter().map(|call| call.is_error).collect()
}

#[tokio::test]
async fn a_submission_ends_the_run() {
    let (report, model, _) = run([echo("a"), submit("Oslo", 3)]).await;
    assert_eq!(report.output_as::<Plan>().unwrap(), oslo());
    assert_eq!(report.stop_reason, StopReason::Finished);
    assert_eq!((report.iterations, report.transcript.len()), (2, 5));
    assert_eq!(results(&report)[1].2, "The output is accepted.");
    for request in model.requests() {
        assert_eq!(offered(&request).len(), 10);
        assert_eq!(mode(&request), Some(ToolChoiceMode::Required), "ALL-SAM-04");
    }
    let tools = model.requests().remove(0).tools.unwrap();
    let tool = serde_json::to_value(tools.last().unwrap()).unwrap();
    assert_eq!(tool["name"], "submit_output");
    let description = tool["description"].as_str().unwrap();
    assert!(description.ends_with("A plan for a day."), "{description}");
    assert_eq!(tool["inputSchema"]["required"], json!(["city", "hours"]));
    assert_eq!(tool["inputSchema"].get("description"), None);

    let stored = serde_json::to_string(&report).unwrap();
    let read: RunReport = serde_json::from_str(&stored).unwrap();
    assert_eq!(read, report);
}

#[tokio::test]
async fn a_value_that_is_not_a_struct_is_one_argument() {
    let cases = [json!(["a", "b"]), json!([])];
    for value in cases {
        let submission = ScriptedReply::call("submit_output", json!({"output": value}));
        let agent = ToolLoop::new(ScriptedModel::new([submission])).output::<Vec<String>>();
        let report = agent.run("List them.").await.unwrap();
        assert_eq!(report.output, Some(value));
    }
}

#[tokio::test]
async fn an_invalid_submission_is_corrected() {
    let (report, ..) = run([submit("Oslo", 0), submit("Oslo", "3")]).await;
    assert_eq!(report.output_as::<Plan>().unwrap(), oslo(), "repaired");
    assert_eq!(failed(&report), [true, false]);
    let (_, is_error, text) = results(&report).remove(0);
    let expected = "Wrong arguments for the tool `submit_output`:\n- /hours: expected an integer";
    assert!(is_error && text.starts_with(expected), "{text}");
    assert!(text.ends_with("Correct them and call the tool again."));
}

/// A number that only its type checks.
#[mcp_type(input)]
#[derive(Debug)]
#[serde(try_from = "u32")]
struct Even(#[schemars(with = "u32")] u32);

impl TryFrom<u32> for Even {
    type Error = &'static str;

    fn try_from(number: u32) -> Result<Self, Self::Error> {
        let is_even = number % 2 == 0;
        is_even.then_some(Self(number)).ok_or("the number is odd")
    }
}

#[tokio::test]
async fn the_type_itself_can_reject_a_submission() {
    let number = |number: u32| ScriptedReply::call("submit_output", json!({"output": number}));
    let model = ScriptedModel::new([number(3), number(4)]);
    let report = ToolLoop::new(model).output::<Even>().run("Go").await;
    let report = report.unwrap();
    assert_eq!(report.output_as::<Even>().unwrap().0, 4);
    let (_, is_error, text) = results(&report).remove(0);
    assert!(
        is_error && text.contains("- /output: the number is odd"),
        "{text}"
    );
}

#[tokio::test]
async fn a_text_is_answered_with_one_reminder() {
    let (report, ..) = run(["I would go to Oslo.".into(), submit("Oslo", 3)]).await;
    assert_eq!(report.output_as::<Plan>().unwrap(), oslo());
    let reminder = &report.transcript[2];
    assert_eq!(reminder.role, Role::User);
    let text = reminder.content.iter().find_map(|block| block.as_text());
    let expected = "You have not submitted an output. Call the tool `submit_output` now.";
    assert_eq!(text, Some(expected));

    let (report, ..) = run(["I would go to Oslo.", "To the opera."]).await;
    assert_eq!(report.stop_reason, StopReason::Finished);
    let error = report.output_as::<Plan>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the run ended without an output (Finished)"
    );
    assert!(matches!(error, ToolLoopError::Output { .. }));
    assert_eq!(error.report().text(), "To the opera.", "it is retained");

    // A truncated answer is the end.
    let (report, ..) = run([ScriptedReply::text("I would").stop_reason("maxTokens")]).await;
    assert_eq!(report.stop_reason, StopReason::MaxTokens);
    assert_eq!(report.output, None);
}

#[tokio::test]
async fn names_do_not_collide() {
    #[mcp_tool(read_only)]
    fn submit_output(text: String) -> String {
        text
    }

    let text = json!({"text": "a"});
    let submission = json!({"city": "Oslo", "hours": 3});
    let own = || ToolSource::from(tools![submit_output]);
    let named = ScriptedReply::from_fn(move |request: &CreateMessageRequestParams| {
        let tool = offered(request).pop().unwrap();
        assert!(tool.starts_with("submit_output_"), "{tool}");
        let tool_use = json!({"type": "tool_use", "id": "s", "name": tool, "input": submission});
        let message = json!({"role": "assistant", "model": "m", "content": [tool_use]});
        let message = serde_json::from_value::<treenail::schema::CreateMessageResult>(message);
        Ok(message.unwrap())
    });
    let model = ScriptedModel::new([ScriptedReply::call("submit_output", text.clone()), named]);
    let agent = ToolLoop::new(model).source("own", own()).output::<Plan>();
    let report = agent.run("Go").await.unwrap();
    assert_eq!(results(&report)[0].2, "a", "the tool of the source");
    assert_eq!(report.output_as::<Plan>().unwrap(), oslo());

    // With prefixes, the own name of a tool means the submission.
    let own_name = ScriptedReply::call("own__submit_output", text);
    let model = ScriptedModel::new([own_name, submit("Oslo", 3)]);
    let agent = ToolLoop::new(model).source("own", own());
    let agent = agent.source("desk", desk().0).output::<Plan>();
    let report = agent.run("Go").await.unwrap();
    assert_eq!(results(&report)[0].2, "a");
    assert_eq!(report.output_as::<Plan>().unwrap(), oslo());
}

#[tokio::test]
async fn a_model_without_tool_use_submits_in_its_text() {
    let capabilities = ModelCapabilities::default().tools(false);
    let submission = "TOOL: submit_output\nPARAMETERS: {\"city\": \"Oslo\", \"hours\": 3}\n";
    let model = ScriptedModel::new([submission]).with_capabilities(capabilities);
    let report = planner(&model).0.run("Go").await.unwrap();
    assert_eq!(report.output_as::<Plan>().unwrap(), oslo());
    let prompt = model.requests().remove(0).system_prompt.unwrap();
    assert!(
        prompt.contains("submit_output — Submits your final output"),
        "{prompt}"
    );
}

#[tokio::test]
async fn a_replayed_run_has_the_same_output() {
    let (report, ..) = run([echo("a"), "Done.".into(), submit("Oslo", 3)]).await;
    let model = ScriptedModel::replay(&report.transcript);
    let again = planner(&model).0.run("A day in Oslo").await.unwrap();
    assert_eq!(again.output, report.output);
    assert_eq!(again.transcript, report.transcript);
}

//! The scripted model, and replay of transcripts.

use serde_json::json;
use treenail::agent::{
    Conversation, ModelError, RunEvent, ScriptedModel, ScriptedReply, StopReason, ToolLoop,
    ToolLoopError,
};
use treenail::schema::{SamplingMessage, SamplingMessageContentBlock as Block};

use crate::fixture::{desk, events};

fn script() -> ScriptedModel {
    ScriptedModel::new([
        ScriptedReply::text("Let me see.")
            .and_call("add", json!({"a": 1, "b": 2}))
            .and_call("fail", json!({"text": "no"})),
        ScriptedReply::text("It is 3."),
    ])
}

#[tokio::test]
async fn a_transcript_is_replayed_without_the_model() {
    let (server, _) = desk();
    let agent = ToolLoop::new(script()).source("desk", &server);
    let report = agent.run("1 + 2?").await.unwrap();

    let replayed = ScriptedModel::replay(&report.transcript);
    let agent = ToolLoop::new(replayed).source("desk", &server);
    let again = agent.run("1 + 2?").await.unwrap();
    assert_eq!(again, {
        let mut report = report.clone();
        report.usage = again.usage;
        report
    });

    // The report can be stored in between.
    let stored = serde_json::to_string(&report).unwrap();
    let read: treenail::agent::RunReport = serde_json::from_str(&stored).unwrap();
    assert_eq!(read, report);
}

#[tokio::test]
async fn a_run_that_continues_a_conversation_is_replayed() {
    let chat = || Conversation::from("1 + 2?").assistant("3").user("Sure?");
    let agent = ToolLoop::new(ScriptedModel::new(["Yes."]));
    let report = agent.run(chat()).await.unwrap();
    let replayed = ScriptedModel::replay(&report.transcript);
    let again = ToolLoop::new(replayed.clone()).run(chat()).await.unwrap();
    assert_eq!(again.transcript, report.transcript);
    assert_eq!(replayed.remaining(), 0);
}

#[tokio::test]
async fn a_differing_conversation_fails_with_the_difference() {
    let (server, _) = desk();
    let agent = ToolLoop::new(script()).source("desk", &server);
    let report = agent.run("1 + 2?").await.unwrap();
    let play = |transcript: &[SamplingMessage], asked: Conversation| {
        let agent = ToolLoop::new(ScriptedModel::replay(transcript)).source("desk", &server);
        async move {
            match agent.run(asked).await.unwrap_err() {
                ToolLoopError::Model {
                    error: ModelError::Refused(why),
                    ..
                } => why.to_string(),
                other => panic!("{other:?}"),
            }
        }
    };
    let reported = play(&report.transcript, "1 + 3?".into()).await;
    assert!(
        reported.contains("message 0 is") && reported.contains("1 + 3?"),
        "{reported}"
    );
    let longer = Conversation::from("1 + 2?").assistant("3").user("Sure?");
    let reported = play(&report.transcript, longer).await;
    assert!(
        reported.contains("it has 3 messages, expected 1"),
        "{reported}"
    );

    // A tool that returns another result than before.
    let mut edited = serde_json::to_value(&report.transcript).unwrap();
    edited[2]["content"][0]["content"][0]["text"] = json!("4");
    let edited: Vec<SamplingMessage> = serde_json::from_value(edited).unwrap();
    let reported = play(&edited, "1 + 2?".into()).await;
    assert!(reported.contains("message 2 is"), "{reported}");
    let reported = play(&report.transcript[..2], "1 + 2?".into()).await;
    assert!(reported.contains("is left after 1"), "{reported}");
}

#[tokio::test]
async fn text_is_streamed_in_chunks_and_complete_at_the_end() {
    let model = ScriptedModel::new([ScriptedReply::text("Grüße aus Oslo").chunks(3)]);
    let mut run = ToolLoop::new(model).run("Go");
    let events = events(&mut run).await;
    let texts: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            RunEvent::Text(text) => Some(&**text),
            _ => None,
        })
        .collect();
    assert_eq!(texts, ["Grü", "ße ", "aus", " Os", "lo"]);
    assert_eq!(events.last(), Some(&RunEvent::Done(StopReason::Finished)));
    assert_eq!(run.await.unwrap().text(), "Grüße aus Oslo");
}

#[tokio::test]
async fn a_reply_can_be_computed_from_the_request() {
    let count = |request: &treenail::schema::CreateMessageRequestParams| {
        let text = Block::text(format!("{} messages", request.messages.len()));
        let role = treenail::schema::Role::Assistant;
        Ok(treenail::schema::CreateMessageResult::new(
            role, text, "counter",
        ))
    };
    let model = ScriptedModel::new([ScriptedReply::from_fn(count)]);
    let report = ToolLoop::new(model).run("Go").await.unwrap();
    assert_eq!(report.text(), "1 messages");
    assert_eq!(report.model.as_deref(), Some("counter"));
}

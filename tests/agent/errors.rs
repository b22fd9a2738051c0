//! Errors that end a run.

use std::time::Duration;

use serde_json::json;
use treenail::agent::{
    Conversation, ModelError, ScriptedModel, ScriptedReply, StopReason, ToolChoice, ToolLoop,
    ToolLoopError,
};
use treenail::prelude::*;
use treenail::schema::{JsonObject, Role, SamplingMessageContentBlock as Block, ToolUseContent};

use crate::fixture::desk;

#[tokio::test]
async fn invalid_configurations_are_errors_with_a_reason() {
    let (server, _) = desk();
    let use_without_result = vec![
        treenail::schema::SamplingMessage::new(Role::User, vec![Block::text("Go")]),
        treenail::schema::SamplingMessage::new(
            Role::Assistant,
            vec![Block::ToolUse(ToolUseContent::new(
                "1",
                "echo",
                JsonObject::new(),
            ))],
        ),
    ];
    let go = || Conversation::from("Go");
    let agent = || ToolLoop::new(ScriptedModel::new(["never said"]));
    let with_desk = || agent().source("desk", &server);
    let choosing = |choice| agent().tool_choice(choice);
    let cases = [
        (agent(), Conversation::new(), "the conversation is empty"),
        (
            agent(),
            use_without_result.into(),
            "no message has their results",
        ),
        (
            with_desk().source("desk", &server),
            go(),
            "duplicate source name `desk`",
        ),
        (
            agent().source("", &server),
            go(),
            "the name of a source is empty",
        ),
        (choosing(ToolChoice::Required), go(), "there are no tools"),
        (
            choosing(ToolChoice::Tool("fly".to_owned())),
            go(),
            "unknown tool `fly`",
        ),
    ];
    for (agent, conversation, expected) in cases {
        let messages = conversation.messages().to_vec();
        let error = agent.run(conversation).await.unwrap_err();
        assert!(matches!(error, ToolLoopError::Invalid { .. }), "{error:?}");
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(error.report().transcript, messages);
        assert_eq!(error.report().stop_reason, StopReason::Failed);
    }
}

#[tokio::test]
async fn the_transcript_survives_a_model_failure() {
    let (server, _) = desk();
    let model = ScriptedModel::new([
        ScriptedReply::call("echo", json!({"text": "a"})),
        ScriptedReply::error(ModelError::unavailable_for(
            "overloaded",
            Duration::from_secs(7),
        )),
    ]);
    let agent = ToolLoop::new(model).source("desk", server);
    let error = agent.run("Go").await.unwrap_err();
    assert!(matches!(error, ToolLoopError::Model { .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        "the model is unavailable for 7 s: overloaded"
    );
    let transcript = error.report().transcript.clone();
    assert_eq!(transcript.len(), 3);

    let again = ToolLoop::new(ScriptedModel::new(["Here I am."]));
    let report = again.run(transcript).await.unwrap();
    assert_eq!(report.text(), "Here I am.");
    let error: treenail::Error = error.into();
    assert!(error.to_string().contains("overloaded"));
}

#[tokio::test]
async fn a_source_that_cannot_be_listed_is_an_error() {
    #[mcp_tool]
    fn twice() {}

    let agent = ToolLoop::new(ScriptedModel::new(["never said"]));
    let agent = agent.source("twice", tools![twice].with::<twice>());
    let error = agent.run("Go").await.unwrap_err();
    assert!(matches!(error, ToolLoopError::Source { .. }), "{error:?}");
    assert!(
        error.to_string().contains("the tools of `twice`"),
        "{error}"
    );
}

#[tokio::test]
async fn invalid_model_messages_are_rejected() {
    use treenail::schema::{CreateMessageResult, ToolResultContent};

    let result = ToolResultContent::new("1", []);
    let cases = [
        CreateMessageResult::new(Role::User, vec![Block::text("a")], "m"),
        CreateMessageResult::new(Role::Assistant, vec![Block::ToolResult(result)], "m"),
    ];
    for message in cases {
        let reply = ScriptedReply::from_fn(move |_| Ok(message));
        let error = ToolLoop::new(ScriptedModel::new([reply])).run("Go").await;
        let error = error.unwrap_err();
        let ToolLoopError::Model { error, .. } = error else {
            panic!("{error:?}");
        };
        assert!(
            matches!(error, ModelError::InvalidResponse(_)),
            "ALL-SAM-02: {error}"
        );
    }
}

//! The agent with scripted replies in place of a model.

use treenail::agent::{ScriptedModel, ScriptedReply};
use treenail::prelude::*;

use crate::{agent, ask};

/// Deletes all files.
#[mcp_tool(destructive)]
async fn delete_all() -> String {
    unreachable!("the agent refuses it")
}

#[tokio::test]
async fn agent_uses_its_tool() -> treenail::Result<()> {
    let model = ScriptedModel::new([
        ScriptedReply::call("count_words", json!({"text": "one two three"})),
        ScriptedReply::text("Three words."),
    ]);
    let answer = ask(&agent(model), "How many words has \"one two three\"?").await?;
    assert_eq!(answer, "Three words.");
    Ok(())
}

#[tokio::test]
async fn tools_that_change_something_are_refused() -> treenail::Result<()> {
    let model = ScriptedModel::new([
        ScriptedReply::call("files__delete_all", json!({})),
        ScriptedReply::text("I may not do that."),
    ]);
    let agent = agent(model).source("files", tools![delete_all]);
    assert_eq!(ask(&agent, "Tidy up.").await?, "I may not do that.");
    Ok(())
}

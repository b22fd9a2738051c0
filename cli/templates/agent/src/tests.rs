//! The agent with scripted replies in place of a model.

use treenail::agent::{ScriptedModel, ScriptedReply};
use treenail::prelude::*;

use crate::{agent, ask};

/// Deletes all files.
#[mcp_tool(destructive)]
async fn delete_all() -> &'static str {
    "deleted"
}

#[tokio::test]
async fn agent_uses_its_tool() -> treenail::Result<()> {
    let model = ScriptedModel::new([
        ScriptedReply::call("count_words", json!({"text": "one two three"})),
        ScriptedReply::text("Three words."),
    ]);
    let question = "How many words has \"one two three\"?";
    let answer = ask(&agent(model), question, async |_| false).await?;
    assert_eq!(answer, "Three words.");
    Ok(())
}

#[tokio::test]
async fn tools_that_change_something_need_approval() -> treenail::Result<()> {
    for (is_approved, result) in [(true, "deleted"), (false, "not allowed")] {
        let model = ScriptedModel::new([
            ScriptedReply::call("files__delete_all", json!({})),
            ScriptedReply::text("Done."),
        ]);
        let agent = agent(model.clone()).source("files", tools![delete_all]);
        let answer = ask(&agent, "Tidy up.", async |_| is_approved).await?;
        assert_eq!(answer, "Done.");
        let conversation = format!("{:?}", model.requests().last());
        assert!(conversation.contains(result), "{conversation}");
    }
    Ok(())
}

//! Sampling: what the protocol demands of a conversation, and how older revisions write one.

use std::collections::BTreeSet;

use treenail_schema::{
    CreateMessageRequestParams, IncludeContext, OneOrMany, Revision, Role, SamplingMessage,
    SamplingMessageContentBlock as Block, TextContent,
};

use crate::ask::AskError;

/// Whether the client's model must be able to use tools.
pub fn needs_tools(params: &CreateMessageRequestParams) -> bool {
    let uses = |block: &Block| matches!(block, Block::ToolUse(_) | Block::ToolResult(_));
    params.tools.is_some()
        || params.tool_choice.is_some()
        || params
            .messages
            .iter()
            .any(|message| message.content.iter().any(uses))
}

/// Checks what clients refuse: the results of tools answer all their uses, in the message that follows, and stand alone.
pub(super) fn check(params: &CreateMessageRequestParams) -> Result<(), AskError> {
    check_messages(&params.messages).map_err(AskError::NotAllowed)
}

/// As [`check`], for the messages alone.
pub fn check_messages(messages: &[SamplingMessage]) -> Result<(), String> {
    let mut open = BTreeSet::new();
    for (index, message) in messages.iter().enumerate() {
        check_message(message, &mut open)
            .map_err(|problem| format!("message {index} {problem}"))?;
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err("the last message uses tools, and no message has their results".to_owned())
    }
}

/// `open` has the uses of tools in the message before.
fn check_message(message: &SamplingMessage, open: &mut BTreeSet<String>) -> Result<(), String> {
    let (mut results, mut others) = (BTreeSet::new(), 0);
    let mut uses = BTreeSet::new();
    for block in &message.content {
        match block {
            Block::ToolResult(result) => {
                results.insert(result.tool_use_id.clone());
            }
            Block::ToolUse(tool_use) => {
                uses.insert(tool_use.id.clone());
                others += 1;
            }
            _ => others += 1,
        }
    }
    if !results.is_empty() && (others > 0 || message.role != Role::User) {
        return Err("has results of tools, which stand alone in a message of the user".to_owned());
    }
    if !uses.is_empty() && message.role != Role::Assistant {
        return Err("uses tools, which only the assistant does".to_owned());
    }
    if results != *open {
        return Err(
            "does not have the results of just the tools that the message before it uses"
                .to_owned(),
        );
    }
    *open = uses;
    Ok(())
}

/// The conversation as a client of `revision` may be sent it; `context` says whether it can include context of servers.
pub(super) fn speak(
    mut params: CreateMessageRequestParams,
    revision: Revision,
    context: bool,
) -> CreateMessageRequestParams {
    params.task = None;
    if revision >= Revision::V2025_11_25 {
        if !context && params.include_context != Some(IncludeContext::None) {
            params.include_context = None;
        }
        return params;
    }
    let messages = std::mem::take(&mut params.messages);
    // A message has one block there.
    params.messages = messages
        .into_iter()
        .flat_map(|message| {
            let role = message.role;
            let blocks = message.content.into_vec().into_iter();
            blocks.map(move |block| {
                SamplingMessage::new(role, OneOrMany::One(speak_block(block, revision)))
            })
        })
        .collect();
    params
}

/// A kind of block that came later becomes a text.
fn speak_block(block: Block, revision: Revision) -> Block {
    match block {
        Block::Audio(audio) if revision < Revision::V2025_03_26 => {
            Block::Text(TextContent::new(format!(
                "[audio of type {}, which this client cannot take]",
                audio.mime_type
            )))
        }
        other => other,
    }
}

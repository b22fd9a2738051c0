//! Sampling: checks of a conversation, and its conversion to older revisions.

use std::collections::BTreeSet;
use std::slice;

use serde_json::Value;
use treenail_schema::{
    ClientCapabilities, CreateMessageRequestParams, IncludeContext, OneOrMany, Revision, Role,
    SamplingMessage, SamplingMessageContentBlock as Block, SchemaObject, TextContent,
};

use crate::ask::AskError;

/// Returns `true` if the request needs a model that can use tools.
#[doc(hidden)]
#[inline]
pub fn needs_tools(params: &CreateMessageRequestParams) -> bool {
    let uses = |block: &Block| matches!(block, Block::ToolUse(_) | Block::ToolResult(_));
    params.tools.is_some()
        || params.tool_choice.is_some()
        || params
            .messages
            .iter()
            .any(|message| message.content.iter().any(uses))
}

/// Returns `true` if a client can sample with tools. Revisions before 2025-11-25 have none, whatever the client declares.
#[inline]
pub(crate) fn takes_tools(revision: Revision, client: &ClientCapabilities) -> bool {
    let sampling = client.sampling.as_ref();
    revision >= Revision::V2025_11_25 && sampling.is_some_and(|sampling| sampling.tools.is_some())
}

/// Returns `true` if a client can answer the request.
#[inline]
pub(super) fn takes(
    params: &CreateMessageRequestParams,
    revision: Revision,
    client: &ClientCapabilities,
) -> bool {
    client.sampling.is_some() && (!needs_tools(params) || takes_tools(revision, client))
}

/// Checks the rules that clients enforce: the message after a use of tools has the results of all of them, and nothing else.
#[inline]
pub(super) fn check(params: &CreateMessageRequestParams) -> Result<(), AskError> {
    check_messages(&params.messages).map_err(AskError::NotAllowed)
}

/// Checks the messages of a request, as in each sampling request.
#[doc(hidden)]
#[inline]
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

/// Checks one message; `open` has the uses of tools in the message before.
#[inline]
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
        return Err(
            "has results of tools, which must be alone in a message of the user".to_owned(),
        );
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

/// Converts the request for a client of `revision`.
#[inline]
pub(super) fn downgrade(
    mut params: CreateMessageRequestParams,
    revision: Revision,
    client: &ClientCapabilities,
) -> CreateMessageRequestParams {
    params.task = None;
    if revision != Revision::V2025_11_25 {
        // No other revision has metadata here.
        params.meta = None;
    }
    if revision >= Revision::V2025_11_25 {
        let sampling = client.sampling.as_ref();
        let context = sampling.is_some_and(|sampling| sampling.context.is_some());
        if !context && params.include_context != Some(IncludeContext::None) {
            params.include_context = None;
        }
        if revision == Revision::V2025_11_25 {
            restrict_outputs(&mut params);
        }
        return params;
    }
    let messages = std::mem::take(&mut params.messages);
    // There, a message has exactly one block.
    params.messages = messages
        .into_iter()
        .flat_map(|message| {
            let role = message.role;
            let blocks = message.content.into_vec().into_iter();
            blocks.map(move |block| {
                SamplingMessage::new(role, OneOrMany::One(downgrade_block(block, revision)))
            })
        })
        .collect();
    params
}

/// Omits outputs of tools that are not objects, and their schemas: revision 2025-11-25 has none. The content has them as text.
#[inline]
fn restrict_outputs(params: &mut CreateMessageRequestParams) {
    for tool in params.tools.iter_mut().flatten() {
        let is_object = |schema: &SchemaObject| schema.get("type").is_some_and(|it| it == "object");
        tool.output_schema = tool.output_schema.take().filter(is_object);
    }
    for message in &mut params.messages {
        let blocks = match &mut message.content {
            OneOrMany::One(block) => slice::from_mut(block),
            OneOrMany::Many(blocks) => blocks,
        };
        for block in blocks {
            if let Block::ToolResult(result) = block {
                result.structured_content =
                    result.structured_content.take().filter(Value::is_object);
            }
        }
    }
}

/// Converts a block of a newer kind to text.
#[inline]
fn downgrade_block(block: Block, revision: Revision) -> Block {
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

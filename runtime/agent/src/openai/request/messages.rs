//! Messages in the format of the endpoint.

use std::borrow::Cow;

use serde::Serialize;
use treenail_schema::{
    CreateMessageRequestParams, Role, SamplingMessage, SamplingMessageContentBlock as Block,
    ToolResultContent, ToolUseContent,
};

use super::ToolNames;
use super::content::{Content, Part, join_texts, part, result_part};
use crate::{ModelCapabilities, ModelError};

/// A message.
#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub(super) enum Message<'a> {
    System {
        content: &'a str,
    },
    User {
        content: Content<'a>,
    },
    Assistant {
        /// `null` if there are only calls.
        content: Option<Cow<'a, str>>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: Cow<'a, str>,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "function")]
pub(super) struct ToolCall<'a> {
    id: &'a str,
    function: FunctionCall<'a>,
}

#[derive(Serialize)]
struct FunctionCall<'a> {
    name: &'a str,
    /// JSON as text.
    arguments: String,
}

impl<'a> Message<'a> {
    /// Converts all messages of a conversation, starting with the system prompt.
    pub(super) fn all(
        request: &'a CreateMessageRequestParams,
        capabilities: ModelCapabilities,
        names: &'a ToolNames,
    ) -> Result<Vec<Self>, ModelError> {
        let system = request.system_prompt.as_deref();
        let system = system.filter(|prompt| !prompt.is_empty());
        let mut messages: Vec<_> = system
            .map(|content| Message::System { content })
            .into_iter()
            .collect();
        for message in &request.messages {
            match message.role {
                Role::Assistant => messages.push(assistant(message, names)?),
                _ => user(message, capabilities, &mut messages)?,
            }
        }
        Ok(messages)
    }
}

impl Message<'_> {
    /// Inserts a message of the assistant between results of tools and a message of the user.
    pub(super) fn separate_results(messages: Vec<Self>) -> Vec<Self> {
        let mut separated = Vec::with_capacity(messages.len());
        for message in messages {
            let follows_result = matches!(separated.last(), Some(Self::Tool { .. }));
            if follows_result && matches!(message, Self::User { .. }) {
                separated.push(Self::Assistant {
                    content: Some("I have the results.".into()),
                    tool_calls: Vec::new(),
                });
            }
            separated.push(message);
        }
        separated
    }
}

fn assistant<'a>(
    message: &'a SamplingMessage,
    names: &'a ToolNames,
) -> Result<Message<'a>, ModelError> {
    let (mut texts, mut tool_calls) = (Vec::new(), Vec::new());
    for block in &message.content {
        match block {
            Block::ToolUse(call) => tool_calls.push(ToolCall::new(call, names)),
            Block::ToolResult(_) => {
                return Err(ModelError::refused(
                    "an assistant message contains a tool result",
                ));
            }
            // Endpoints accept only text from the assistant.
            other => texts.extend(part(other, ModelCapabilities::default()).into_text()),
        }
    }
    let content = (!texts.is_empty() || tool_calls.is_empty()).then(|| join_texts(texts));
    Ok(Message::Assistant {
        content,
        tool_calls,
    })
}

/// Converts a user message. Tool results become separate messages before the rest of it.
fn user<'a>(
    message: &'a SamplingMessage,
    capabilities: ModelCapabilities,
    messages: &mut Vec<Message<'a>>,
) -> Result<(), ModelError> {
    let (mut parts, mut has_results) = (Vec::new(), false);
    for block in &message.content {
        match block {
            Block::ToolResult(result) => {
                has_results = true;
                let (content, media) = tool_result(result, capabilities);
                let tool_call_id = &result.tool_use_id;
                messages.push(Message::Tool {
                    tool_call_id,
                    content,
                });
                parts.extend(media);
            }
            Block::ToolUse(_) => {
                return Err(ModelError::refused("a user message contains a tool call"));
            }
            other => parts.push(part(other, capabilities)),
        }
    }
    if !(has_results && parts.is_empty()) {
        let content = Content::from_parts(parts);
        messages.push(Message::User { content });
    }
    Ok(())
}

impl<'a> ToolCall<'a> {
    fn new(call: &'a ToolUseContent, names: &'a ToolNames) -> Self {
        // Raw arguments that are not JSON are not sent again: some endpoints parse them and fail. The result of the
        // call already tells the model about the mistake.
        let arguments = serde_json::Value::Object(call.input.clone()).to_string();
        let name = names.sent(&call.name);
        Self {
            id: &call.id,
            function: FunctionCall { name, arguments },
        }
    }
}

/// Splits a tool result into its text and its media. Media go into a user message, because endpoints accept only text
/// from tools.
fn tool_result(
    result: &ToolResultContent,
    capabilities: ModelCapabilities,
) -> (Cow<'_, str>, Vec<Part<'_>>) {
    let (mut texts, mut media) = (Vec::new(), Vec::new());
    for block in &result.content {
        match result_part(block, capabilities) {
            Part::Text { text } => texts.push(text),
            other => media.push(other),
        }
    }
    if let (true, Some(value)) = (result.content.is_empty(), &result.structured_content) {
        texts.push(value.to_string().into());
    }
    if !media.is_empty() {
        texts.push("[images and audio follow in the next message]".into());
        let text = format!("Images and audio of the tool call {}:", result.tool_use_id);
        media.insert(0, Part::text(text));
    }
    if result.is_error == Some(true) {
        texts.insert(0, "The tool failed.".into());
    }
    let text = if texts.is_empty() {
        "[the tool returned nothing]".into()
    } else {
        texts.join("\n").into()
    };
    (text, media)
}

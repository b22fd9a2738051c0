//! Messages in the format of the endpoint.

use std::borrow::Cow;

use serde::Serialize;
use treenail_schema::internal::shortened;
use treenail_schema::{
    AudioContent, ContentBlock, CreateMessageRequestParams, ImageContent, Role, SamplingMessage,
    SamplingMessageContentBlock as Block, ToolResultContent, ToolUseContent,
};

use super::ToolNames;
use crate::results::is_base64;
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

/// Plain text, because some endpoints accept nothing else; or parts, if one of them is not text.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Content<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Part<'a> {
    Text { text: Cow<'a, str> },
    ImageUrl { image_url: ImageUrl },
    InputAudio { input_audio: InputAudio<'a> },
}

#[derive(Serialize)]
pub(super) struct ImageUrl {
    url: String,
}

#[derive(Serialize)]
pub(super) struct InputAudio<'a> {
    data: &'a str,
    format: &'static str,
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

impl<'a> Content<'a> {
    fn from_parts(parts: Vec<Part<'a>>) -> Self {
        if parts.iter().any(|part| !matches!(part, Part::Text { .. })) {
            return Self::Parts(parts);
        }
        let texts = parts.into_iter().filter_map(Part::into_text);
        Self::Text(join_texts(texts.collect()))
    }
}

/// Joins texts with empty lines between them.
fn join_texts(mut texts: Vec<Cow<'_, str>>) -> Cow<'_, str> {
    match texts.len() {
        0 => Cow::Borrowed(""),
        1 => texts.remove(0),
        _ => texts.join("\n\n").into(),
    }
}

/// Converts a block of a message.
fn part(block: &Block, capabilities: ModelCapabilities) -> Part<'_> {
    match block {
        Block::Text(text) => Part::text(&text.text),
        Block::Image(image) => Part::image(image, capabilities),
        Block::Audio(audio) => Part::audio(audio, capabilities),
        other => Part::json(other),
    }
}

/// Converts a block of a tool result.
fn result_part(block: &ContentBlock, capabilities: ModelCapabilities) -> Part<'_> {
    match block {
        ContentBlock::Text(text) => Part::text(&text.text),
        ContentBlock::Image(image) => Part::image(image, capabilities),
        ContentBlock::Audio(audio) => Part::audio(audio, capabilities),
        other => Part::json(other),
    }
}

impl<'a> Part<'a> {
    fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text { text: text.into() }
    }

    fn json(block: &impl Serialize) -> Self {
        // Blocks of the protocol always serialize.
        Self::text(serde_json::to_string(block).unwrap_or_default())
    }

    fn image(image: &ImageContent, capabilities: ModelCapabilities) -> Self {
        let ImageContent {
            data, mime_type, ..
        } = image;
        let accepted = image_type(mime_type).filter(|_| capabilities.images && is_base64(data));
        let Some(mime_type) = accepted else {
            return Self::unsupported("image", mime_type);
        };
        let url = format!("data:{mime_type};base64,{data}");
        Self::ImageUrl {
            image_url: ImageUrl { url },
        }
    }

    fn audio(audio: &'a AudioContent, capabilities: ModelCapabilities) -> Self {
        match audio_format(&audio.mime_type) {
            Some(format) if capabilities.audio && is_base64(&audio.data) => Self::InputAudio {
                input_audio: InputAudio {
                    data: &audio.data,
                    format,
                },
            },
            _ => Self::unsupported("audio", &audio.mime_type),
        }
    }

    fn unsupported(kind: &str, mime_type: &str) -> Self {
        let mime_type = shortened(mime_type);
        Self::text(format!(
            "[{kind} of type {mime_type}, which you cannot process]"
        ))
    }

    fn into_text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Text { text } => Some(text),
            _ => None,
        }
    }
}

/// Type of an image that endpoints accept. With any other one they reject the whole conversation.
fn image_type(mime_type: &str) -> Option<&'static str> {
    match mime_type.to_ascii_lowercase().as_str() {
        "image/png" => Some("image/png"),
        "image/jpeg" | "image/jpg" => Some("image/jpeg"),
        "image/gif" => Some("image/gif"),
        "image/webp" => Some("image/webp"),
        _ => None,
    }
}

/// Format name of a supported audio type.
fn audio_format(mime_type: &str) -> Option<&'static str> {
    match mime_type.to_ascii_lowercase().as_str() {
        "audio/wav" | "audio/x-wav" | "audio/wave" => Some("wav"),
        "audio/mpeg" | "audio/mp3" => Some("mp3"),
        _ => None,
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

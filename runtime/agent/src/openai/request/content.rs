//! Content of messages in the format of the endpoint: text, images and audio.

use std::borrow::Cow;

use serde::Serialize;
use treenail_schema::internal::shortened;
use treenail_schema::{
    AudioContent, ContentBlock, ImageContent, SamplingMessageContentBlock as Block,
};

use crate::ModelCapabilities;
use crate::results::is_base64;

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

impl<'a> Content<'a> {
    pub(super) fn from_parts(parts: Vec<Part<'a>>) -> Self {
        if parts.iter().any(|part| !matches!(part, Part::Text { .. })) {
            return Self::Parts(parts);
        }
        let texts = parts.into_iter().filter_map(Part::into_text);
        Self::Text(join_texts(texts.collect()))
    }
}

/// Joins texts with empty lines between them.
pub(super) fn join_texts(mut texts: Vec<Cow<'_, str>>) -> Cow<'_, str> {
    match texts.len() {
        0 => Cow::Borrowed(""),
        1 => texts.remove(0),
        _ => texts.join("\n\n").into(),
    }
}

/// Converts a block of a message.
pub(super) fn part(block: &Block, capabilities: ModelCapabilities) -> Part<'_> {
    match block {
        Block::Text(text) => Part::text(&text.text),
        Block::Image(image) => Part::image(image, capabilities),
        Block::Audio(audio) => Part::audio(audio, capabilities),
        other => Part::json(other),
    }
}

/// Converts a block of a tool result.
pub(super) fn result_part(block: &ContentBlock, capabilities: ModelCapabilities) -> Part<'_> {
    match block {
        ContentBlock::Text(text) => Part::text(&text.text),
        ContentBlock::Image(image) => Part::image(image, capabilities),
        ContentBlock::Audio(audio) => Part::audio(audio, capabilities),
        other => Part::json(other),
    }
}

impl<'a> Part<'a> {
    pub(super) fn text(text: impl Into<Cow<'a, str>>) -> Self {
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

    pub(super) fn into_text(self) -> Option<Cow<'a, str>> {
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

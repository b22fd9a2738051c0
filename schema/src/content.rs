//! Constructors and accessors of content, and the deserialization of resource contents.

use serde::{Deserialize, Deserializer, de};
use serde_json::Value;

use crate::{
    AudioContent, BlobResourceContents, CallToolResult, ContentBlock, EmbeddedResource,
    ImageContent, JsonObject, PromptMessage, ResourceContents, ResourceLink, Role,
    SamplingMessageContentBlock, TextContent, TextResourceContents,
};

impl ContentBlock {
    /// Plain text.
    pub fn text(text: impl Into<String>) -> Self {
        TextContent::new(text).into()
    }

    /// An image, encoded in base64.
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        ImageContent::new(data, mime_type).into()
    }

    /// Audio, encoded in base64.
    pub fn audio(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        AudioContent::new(data, mime_type).into()
    }

    /// A link to a resource.
    pub fn resource_link(name: impl Into<String>, uri: impl Into<String>) -> Self {
        ResourceLink::new(name, uri).into()
    }

    /// The contents of a resource.
    pub fn resource(contents: impl Into<ResourceContents>) -> Self {
        EmbeddedResource::new(contents).into()
    }

    /// Returns the text, if this is plain text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(content) => Some(&content.text),
            _ => None,
        }
    }
}

impl From<String> for ContentBlock {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for ContentBlock {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl SamplingMessageContentBlock {
    /// Plain text.
    pub fn text(text: impl Into<String>) -> Self {
        TextContent::new(text).into()
    }

    /// Returns the text, if this is plain text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(content) => Some(&content.text),
            _ => None,
        }
    }
}

impl CallToolResult {
    /// A result with a single piece of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new([ContentBlock::text(text)])
    }

    /// An error result, with a message for the model.
    pub fn error(text: impl Into<String>) -> Self {
        Self::text(text).with_is_error(true)
    }
}

impl PromptMessage {
    /// A message of the user.
    pub fn user(content: impl Into<ContentBlock>) -> Self {
        Self::new(Role::User, content)
    }

    /// A message of the model.
    pub fn assistant(content: impl Into<ContentBlock>) -> Self {
        Self::new(Role::Assistant, content)
    }
}

impl ResourceContents {
    /// The URI of the resource.
    pub fn uri(&self) -> &str {
        match self {
            Self::Text(contents) => &contents.uri,
            Self::Blob(contents) => &contents.uri,
        }
    }
}

/// Text and binary contents have no common tag: one has `text`, the other `blob`.
impl<'de> Deserialize<'de> for ResourceContents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = JsonObject::deserialize(deserializer)?;
        let (text, blob) = (object.contains_key("text"), object.contains_key("blob"));
        let object = Value::Object(object);
        match (text, blob) {
            (true, _) => TextResourceContents::deserialize(object).map(Self::Text),
            (false, true) => BlobResourceContents::deserialize(object).map(Self::Blob),
            (false, false) => Err(de::Error::custom(
                "resource contents without `text` or `blob`",
            )),
        }
        .map_err(de::Error::custom)
    }
}

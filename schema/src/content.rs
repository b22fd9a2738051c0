//! Constructors and accessors of content and results, and the deserialization of resource contents.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, de};
use serde_json::Value;

use crate::{
    AudioContent, BlobResourceContents, CallToolResult, ContentBlock, CreateMessageResult,
    EmbeddedResource, GetPromptResult, ImageContent, JsonObject, PromptMessage, ReadResourceResult,
    ResourceContents, ResourceLink, Role, SamplingMessage, SamplingMessageContentBlock,
    TextContent, TextResourceContents,
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
    pub fn resource_link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        ResourceLink::new(uri, name).into()
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

impl From<String> for SamplingMessageContentBlock {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for SamplingMessageContentBlock {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl SamplingMessage {
    /// A message of the user.
    pub fn user(content: impl Into<SamplingMessageContentBlock>) -> Self {
        Self::new(Role::User, content.into())
    }

    /// A message of the model.
    pub fn assistant(content: impl Into<SamplingMessageContentBlock>) -> Self {
        Self::new(Role::Assistant, content.into())
    }

    /// Returns the first block of plain text, if there is one.
    pub fn as_text(&self) -> Option<&str> {
        let mut content = self.content.iter();
        content.find_map(SamplingMessageContentBlock::as_text)
    }
}

impl CreateMessageResult {
    /// Returns the first block of plain text, if there is one.
    pub fn as_text(&self) -> Option<&str> {
        self.content
            .iter()
            .find_map(SamplingMessageContentBlock::as_text)
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

    /// Returns the first block of plain text, if there is one.
    pub fn as_text(&self) -> Option<&str> {
        self.texts().next()
    }

    /// Returns all blocks of plain text, in order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.content.iter().filter_map(ContentBlock::as_text)
    }

    /// Returns `true` if the tool has failed. The content is the reason then.
    pub fn failed(&self) -> bool {
        self.is_error == Some(true)
    }

    /// Returns the structured content as a `T`, or as an error with the reason if there is none or it does not fit.
    ///
    /// Servers before 2026-07-28 wrap values other than objects, as `{"result": …}`; a typed call of the client unwraps them.
    pub fn structured<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        match &self.structured_content {
            Some(content) => T::deserialize(content),
            None => Err(de::Error::custom("the result has no structured content")),
        }
    }
}

impl GetPromptResult {
    /// Returns the first message of plain text, if there is one.
    pub fn as_text(&self) -> Option<&str> {
        let mut messages = self.messages.iter();
        messages.find_map(|message| message.content.as_text())
    }
}

impl ReadResourceResult {
    /// Returns the first contents that are text, if there are any.
    pub fn as_text(&self) -> Option<&str> {
        self.contents.iter().find_map(ResourceContents::as_text)
    }

    /// Reads the first contents that are text as the JSON of a `T`. The error is the reason if there are none, or they do not fit.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        match self.as_text() {
            Some(text) => serde_json::from_str(text),
            None => Err(de::Error::custom("the resource has no text")),
        }
    }

    /// Returns the first contents that are bytes, encoded in base64, if there are any.
    pub fn as_blob(&self) -> Option<&str> {
        self.contents.iter().find_map(ResourceContents::as_blob)
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
    /// Text, at the URI of its resource.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        TextResourceContents::new(uri, text).into()
    }

    /// Bytes, encoded in base64, at the URI of their resource.
    pub fn blob(uri: impl Into<String>, blob: impl Into<String>) -> Self {
        BlobResourceContents::new(uri, blob).into()
    }

    /// Sets the media type.
    #[must_use]
    pub fn with_mime_type(self, mime_type: impl Into<String>) -> Self {
        match self {
            Self::Text(contents) => contents.with_mime_type(mime_type).into(),
            Self::Blob(contents) => contents.with_mime_type(mime_type).into(),
        }
    }

    /// The URI of the resource.
    pub fn uri(&self) -> &str {
        match self {
            Self::Text(contents) => &contents.uri,
            Self::Blob(contents) => &contents.uri,
        }
    }

    /// Returns the text, if these are text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(contents) => Some(&contents.text),
            Self::Blob(_) => None,
        }
    }

    /// Returns the bytes, encoded in base64, if these are bytes.
    pub fn as_blob(&self) -> Option<&str> {
        match self {
            Self::Text(_) => None,
            Self::Blob(contents) => Some(&contents.blob),
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn results_are_read_without_matching_on_their_parts() {
        let image = ContentBlock::image("AA==", "image/png");
        let mut result = CallToolResult::new([image, "one".into(), "two".into()]);
        assert_eq!(result.as_text(), Some("one"));
        assert_eq!(result.texts().collect::<Vec<_>>(), ["one", "two"]);
        assert!(!result.failed() && CallToolResult::error("no").failed());
        let missing = result.structured::<Vec<u8>>().unwrap_err();
        assert!(missing.to_string().contains("no structured content"));
        result.structured_content = Some(json!([1, 2]));
        assert_eq!(result.structured::<Vec<u8>>().unwrap(), [1, 2]);
        let text = ResourceContents::text("a://b", "text");
        let blob = ResourceContents::blob("a://c", "AA==");
        assert_eq!((text.uri(), blob.uri()), ("a://b", "a://c"));
        let result = ReadResourceResult::new([blob, text]);
        assert_eq!(
            (result.as_text(), result.as_blob()),
            (Some("text"), Some("AA=="))
        );
        let result = GetPromptResult::new([PromptMessage::user("hello")]);
        assert_eq!(result.as_text(), Some("hello"));
        let image = SamplingMessageContentBlock::Image(ImageContent::new("AA==", "image/png"));
        let content = vec![image, "one".into(), "two".into()];
        let result = CreateMessageResult::new(Role::Assistant, content, "m");
        assert_eq!(result.as_text(), Some("one"));
    }

    #[test]
    fn messages_are_made_of_text() {
        let user = SamplingMessage::user("hello");
        assert_eq!((user.role, user.as_text()), (Role::User, Some("hello")));
        let assistant = SamplingMessage::assistant(String::from("hi"));
        assert_eq!(
            serde_json::to_value(&assistant).unwrap(),
            json!({"role": "assistant", "content": {"type": "text", "text": "hi"}})
        );
    }
}

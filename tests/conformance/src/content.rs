//! Tools that return each kind of content.

use treenail::prelude::*;
use treenail::schema::{AudioContent, ContentBlock, ImageContent, TextResourceContents};

/// Image of one red pixel.
pub(crate) const DOT: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGO4oKAAAALUARHMX99WAAAAAElFTkSuQmCC";

/// Audio with one millisecond of silence.
const SILENCE: &str = "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA==";

pub(crate) struct Content;

#[mcp_tool]
impl Content {
    /// Returns a text.
    #[tool(read_only)]
    fn test_simple_text() -> &'static str {
        "This is a simple text response for testing."
    }

    /// Returns an image.
    #[tool(read_only)]
    fn test_image_content() -> ImageContent {
        ImageContent::new(DOT, "image/png")
    }

    /// Returns audio.
    #[tool(read_only)]
    fn test_audio_content() -> AudioContent {
        AudioContent::new(SILENCE, "audio/wav")
    }

    /// Returns the contents of a resource.
    #[tool(read_only)]
    fn test_embedded_resource() -> ContentBlock {
        let text = "This is an embedded resource content.";
        let contents = TextResourceContents::new("test://embedded-resource", text);
        ContentBlock::resource(contents.with_mime_type("text/plain"))
    }

    /// Returns a text, an image and the contents of a resource.
    #[tool(read_only)]
    fn test_multiple_content_types() -> Vec<ContentBlock> {
        let json = r#"{"test":"data","value":123}"#;
        let contents = TextResourceContents::new("test://mixed-content-resource", json);
        vec![
            ContentBlock::text("Multiple content types test:"),
            ContentBlock::image(DOT, "image/png"),
            ContentBlock::resource(contents.with_mime_type("application/json")),
        ]
    }

    /// Fails.
    #[tool(read_only)]
    fn test_error_handling() -> Result<String, ToolError> {
        let message = "This tool intentionally returns an error for testing";
        Err(ToolError::new(message))
    }
}

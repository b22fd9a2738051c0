//! Writer for the result of a tool call. It writes directly into the output buffer, in the format of the peer's
//! revision.

mod structured;

use std::fmt;

use serde_json::Value;
use treenail_schema::{CallToolResult, ContentBlock};

use crate::result_writer::ResultWriter;
use crate::revision::{Placement, downgrade_content};
use crate::tool::error::ToolError;
use crate::tool::shape::Shape;
use crate::wire::{WriteJson, escape_from_within, escape_in_place};

/// Start of a result whose first member is structured content.
const STRUCTURED: &[u8] = br#"{"structuredContent":"#;
/// Start of a wrapped value.
pub(crate) const WRAPPED: &[u8] = br#"{"result":"#;
/// End of a wrapped value.
pub(crate) const WRAPPED_END: &[u8] = b"}";

/// Writer for the result of a tool call.
pub struct ToolResultWriter<'a, 'o> {
    result: &'a mut ResultWriter<'o>,
    shape: Shape,
}

impl fmt::Debug for ToolResultWriter<'_, '_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ToolResultWriter")
            .field("shape", &self.shape)
            .finish_non_exhaustive()
    }
}

impl<'a, 'o> ToolResultWriter<'a, 'o> {
    pub(crate) fn new(result: &'a mut ResultWriter<'o>, shape: Shape) -> Self {
        Self { result, shape }
    }

    /// Returns the writer of the result, and the shape of the output.
    #[cfg(feature = "dynamic")]
    pub(crate) fn parts(&mut self) -> (&mut ResultWriter<'o>, Shape) {
        (self.result, self.shape)
    }

    /// Writes a value as text, or as structured content with a text copy.
    pub(crate) fn json(&mut self, value: &dyn WriteJson) {
        let start = self.result.mark();
        let placement = self.result.style().placement(self.shape);
        let written = match (self.shape, placement) {
            (Shape::Nothing, _) => {
                self.result.push(br#"{"content":[]"#);
                Ok(())
            }
            (Shape::Text, _) => self.text(value),
            (_, Placement::Bare) => self.structured(value),
            (_, Placement::Object) => self.object(value),
            (_, Placement::Wrapped) => {
                let written = self.wrapped(value);
                if written.is_ok() {
                    return self.result.end_wrapped(None);
                }
                written
            }
            (_, Placement::Text) => self.text_only(value),
        };
        match written {
            Ok(()) => self.result.end(None),
            Err(error) => self.unwritable(start, &error),
        }
    }

    /// Replaces the result since `start` with a failure, because the output could not be written.
    #[cold]
    fn unwritable(&mut self, start: usize, error: &serde_json::Error) {
        self.result.rewind(start);
        let message = format!("the output could not be written as JSON: {error}");
        self.failure(ToolError::new(message));
    }

    /// Writes a string as one text block, and null as no block.
    fn text(&mut self, value: &dyn WriteJson) -> serde_json::Result<()> {
        let start = self.result.mark();
        self.result.push(br#"{"content":[{"type":"text","text":"#);
        let text = self.result.mark();
        value.write_json(self.result.out())?;
        match self.result.out()[text] {
            b'"' => self.result.push(b"}]"),
            b'n' => {
                self.result.rewind(start);
                self.result.push(br#"{"content":[]"#);
            }
            // The value contradicts its schema, so its JSON becomes the text.
            _ => {
                self.result.rewind(start);
                self.text_only(value)?;
            }
        }
        Ok(())
    }

    /// Writes a value as structured content with a text copy.
    fn structured(&mut self, value: &dyn WriteJson) -> serde_json::Result<()> {
        self.result.push(STRUCTURED);
        let start = self.result.mark();
        value.write_json(self.result.out())?;
        let end = self.result.mark();
        self.text_copy(start, end);
        Ok(())
    }

    /// Writes an object as structured content with a text copy, and any other value as text only.
    fn object(&mut self, value: &dyn WriteJson) -> serde_json::Result<()> {
        let start = self.result.mark();
        self.structured(value)?;
        if self.result.out()[start + STRUCTURED.len()] != b'{' {
            self.result.rewind(start);
            self.text_only(value)?;
        }
        Ok(())
    }

    /// Writes a value as structured content wrapped in an object, with a text copy of the value itself.
    fn wrapped(&mut self, value: &dyn WriteJson) -> serde_json::Result<()> {
        self.result.push(STRUCTURED);
        self.result.push(WRAPPED);
        let start = self.result.mark();
        value.write_json(self.result.out())?;
        let end = self.result.mark();
        self.result.push(WRAPPED_END);
        self.text_copy(start, end);
        Ok(())
    }

    /// Writes a copy of the JSON from `start` to `end`, as one text block.
    fn text_copy(&mut self, start: usize, end: usize) {
        self.result.push(br#","content":[{"type":"text","text":""#);
        escape_from_within(self.result.out(), start, end);
        self.result.push(br#""}]"#);
    }

    /// Writes the JSON of a value as one text block.
    fn text_only(&mut self, value: &dyn WriteJson) -> serde_json::Result<()> {
        self.result.push(br#"{"content":[{"type":"text","text":""#);
        let start = self.result.mark();
        value.write_json(self.result.out())?;
        escape_in_place(self.result.out(), start);
        self.result.push(br#""}]"#);
        Ok(())
    }

    /// Writes a complete result.
    pub(crate) fn result(&mut self, mut result: CallToolResult) {
        add_text_copy(&mut result);
        let style = self.result.style();
        self.result.push(br#"{"content":"#);
        self.result
            .value(&downgrade_content(result.content, style.revision()));
        let placement = style.placement(self.shape);
        let wrapped = result
            .structured_content
            .is_some_and(|value| self.structured_content(&value, placement));
        if result.is_error == Some(true) {
            self.result.push(br#","isError":true"#);
            self.result.fail();
        }
        if wrapped {
            self.result.end_wrapped(result.meta);
        } else {
            self.result.end(result.meta);
        }
    }

    /// Writes structured content after other members, and returns whether it is wrapped.
    fn structured_content(&mut self, value: &Value, placement: Placement) -> bool {
        let wrapped = placement == Placement::Wrapped;
        if wrapped {
            self.result.push(br#","structuredContent":{"result":"#);
            self.result.value(value);
            self.result.push(WRAPPED_END);
        } else if placement == Placement::Bare
            || (placement == Placement::Object && value.is_object())
        {
            self.result.push(br#","structuredContent":"#);
            self.result.value(value);
        }
        wrapped
    }

    /// Writes a failure for the model.
    pub(crate) fn failure(&mut self, error: ToolError) {
        self.result(CallToolResult::new(error.into_content()).with_is_error(true));
    }
}

/// Adds the JSON of structured content as text if a result has no other content: peers that do not read the former would lose it.
pub(crate) fn add_text_copy(result: &mut CallToolResult) {
    if let (true, Some(value)) = (result.content.is_empty(), &result.structured_content) {
        result.content.push(ContentBlock::text(value.to_string()));
    }
}

//! The result of one tool call, written straight into the output buffer in the shape that the caller's revision has.

use std::fmt;

use serde::Serialize;
use serde_json::Value;
use treenail_schema::CallToolResult;

use crate::result_writer::ResultWriter;
use crate::revision::{Placement, downgrade_content};
use crate::tool::error::ToolError;
use crate::tool::shape::Shape;
use crate::wire::{Escaped, escape_from_within, write_json};

/// What stands before structured content that comes first in a result.
const STRUCTURED: &[u8] = br#"{"structuredContent":"#;
/// What stands before a value that is wrapped.
pub(crate) const WRAPPED: &[u8] = br#"{"result":"#;
/// And what stands behind it.
pub(crate) const WRAPPED_END: &[u8] = b"}";

/// Writes the result of one tool call.
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

    /// Writes a value as text, or as structured content with a text copy.
    pub(crate) fn json<T: Serialize>(&mut self, value: &T) {
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
            (_, Placement::Text) => self.copy(value),
        };
        match written {
            Ok(()) => self.result.end(None),
            Err(error) => {
                self.result.rewind(start);
                let message = format!("the output could not be written as JSON: {error}");
                self.failure(ToolError::new(message));
            }
        }
    }

    /// Writes a string as the text of one block, and null as no block.
    fn text<T: Serialize>(&mut self, value: &T) -> serde_json::Result<()> {
        let start = self.result.mark();
        self.result.push(br#"{"content":[{"type":"text","text":"#);
        let text = self.result.mark();
        write_json(self.result.out(), value)?;
        match self.result.out()[text] {
            b'"' => self.result.push(b"}]"),
            b'n' => {
                self.result.rewind(start);
                self.result.push(br#"{"content":[]"#);
            }
            // The type is not what its schema says; its JSON is the text then.
            _ => {
                self.result.rewind(start);
                self.copy(value)?;
            }
        }
        Ok(())
    }

    /// Writes a value as structured content, and its JSON as the text of one block.
    fn structured<T: Serialize>(&mut self, value: &T) -> serde_json::Result<()> {
        self.result.push(STRUCTURED);
        let start = self.result.mark();
        write_json(self.result.out(), value)?;
        let end = self.result.mark();
        self.text_copy(start, end);
        Ok(())
    }

    /// The same for an object; any other value is text alone.
    fn object<T: Serialize>(&mut self, value: &T) -> serde_json::Result<()> {
        let start = self.result.mark();
        self.structured(value)?;
        if self.result.out()[start + STRUCTURED.len()] != b'{' {
            self.result.rewind(start);
            self.copy(value)?;
        }
        Ok(())
    }

    /// Writes an object that holds a value as structured content, and the JSON of the value as the text of one block.
    fn wrapped<T: Serialize>(&mut self, value: &T) -> serde_json::Result<()> {
        self.result.push(STRUCTURED);
        self.result.push(WRAPPED);
        let start = self.result.mark();
        write_json(self.result.out(), value)?;
        let end = self.result.mark();
        self.result.push(WRAPPED_END);
        self.text_copy(start, end);
        Ok(())
    }

    /// Writes the JSON that stands from `start` to `end` again, as the text of one block.
    fn text_copy(&mut self, start: usize, end: usize) {
        self.result.push(br#","content":[{"type":"text","text":""#);
        escape_from_within(self.result.out(), start, end);
        self.result.push(br#""}]"#);
    }

    /// Writes the JSON of a value as the text of one block.
    fn copy<T: Serialize>(&mut self, value: &T) -> serde_json::Result<()> {
        self.result.push(br#"{"content":[{"type":"text","text":""#);
        write_json(Escaped(self.result.out()), value)?;
        self.result.push(br#""}]"#);
        Ok(())
    }

    /// Writes a whole result.
    pub(crate) fn result(&mut self, result: CallToolResult) {
        let style = self.result.style();
        self.result.push(br#"{"content":"#);
        self.result
            .value(&downgrade_content(result.content, style.revision()));
        let placement = style.placement(self.shape);
        let wrapped = result
            .structured_content
            .is_some_and(|value| self.content(&value, placement));
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

    /// Writes structured content as a further member, and says whether that is wrapped.
    fn content(&mut self, value: &Value, placement: Placement) -> bool {
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

    /// Writes a failure that the model can read.
    pub(crate) fn failure(&mut self, error: ToolError) {
        self.result(CallToolResult::new(error.into_content()).with_is_error(true));
    }
}

//! The result of one tool call, written straight into the output buffer in the shape that the caller's revision has.

use std::fmt;

use serde::Serialize;
use treenail_schema::CallToolResult;

use crate::respond::ResultWriter;
use crate::revision::speak_content;
use crate::tool::error::ToolError;
use crate::tool::output::Shape;
use crate::wire::{Escaped, escape_from_within, write_json};

/// Writes the result of one tool call.
pub struct ToolReply<'a, 'o> {
    result: &'a mut ResultWriter<'o>,
    shape: Shape,
}

impl fmt::Debug for ToolReply<'_, '_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ToolReply")
            .field("shape", &self.shape)
            .finish_non_exhaustive()
    }
}

impl<'a, 'o> ToolReply<'a, 'o> {
    pub(crate) fn new(result: &'a mut ResultWriter<'o>, shape: Shape) -> Self {
        Self { result, shape }
    }

    /// Writes a value as text, or as structured content with a text copy.
    pub(crate) fn json<T: Serialize>(&mut self, value: &T) {
        let start = self.result.mark();
        let style = self.result.style();
        let written = match self.shape {
            Shape::Nothing => {
                self.result.push(br#"{"content":[]"#);
                Ok(())
            }
            Shape::Text => self.text(value),
            Shape::Object if style.has_structured_content() => self.structured(value),
            Shape::Value if style.has_structured_values() => self.structured(value),
            Shape::Object | Shape::Value => self.copy(value),
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
        self.result.push(br#"{"structuredContent":"#);
        let start = self.result.mark();
        write_json(self.result.out(), value)?;
        let end = self.result.mark();
        self.result.push(br#","content":[{"type":"text","text":""#);
        escape_from_within(self.result.out(), start, end);
        self.result.push(br#""}]"#);
        Ok(())
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
            .value(&speak_content(result.content, style.revision()));
        if let Some(value) = result
            .structured_content
            .filter(|value| style.allows_structured(value))
        {
            self.result.push(br#","structuredContent":"#);
            self.result.value(&value);
        }
        if result.is_error == Some(true) {
            self.result.push(br#","isError":true"#);
            self.result.fail();
        }
        self.result.end(result.meta);
    }

    /// Writes a failure that the model can read.
    pub(crate) fn failure(&mut self, error: ToolError) {
        self.result(CallToolResult::new(error.into_content()).with_is_error(true));
    }
}

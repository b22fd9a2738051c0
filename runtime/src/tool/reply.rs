//! The result of one tool call, written straight into the output buffer in the shape that the caller's revision has.

use std::fmt;

use serde::Serialize;
use treenail_schema::{CallToolResult, ResultMetaObject};

use crate::revision::{Style, speak_content};
use crate::tool::error::ToolError;
use crate::tool::output::Shape;
use crate::wire::{Escaped, escape_from_within};

/// Writes the result of one tool call.
pub struct ToolReply<'a> {
    out: &'a mut Vec<u8>,
    style: &'a Style,
    shape: Shape,
}

impl fmt::Debug for ToolReply<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ToolReply")
            .field("shape", &self.shape)
            .finish_non_exhaustive()
    }
}

impl<'a> ToolReply<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>, style: &'a Style, shape: Shape) -> Self {
        Self { out, style, shape }
    }

    /// How much has been written, for [`ToolReply::rewind`].
    pub(crate) fn mark(&self) -> usize {
        self.out.len()
    }

    /// Takes back what has been written since `mark`.
    pub(crate) fn rewind(&mut self, mark: usize) {
        self.out.truncate(mark);
    }

    /// Writes a value as text, or as structured content with a text copy.
    pub(crate) fn json<T: Serialize>(&mut self, value: &T) {
        let start = self.out.len();
        let written = match self.shape {
            Shape::Nothing => {
                self.push(br#"{"content":[]"#);
                Ok(())
            }
            Shape::Text => self.text(value),
            Shape::Object if self.style.has_structured_content() => self.structured(value),
            Shape::Value if self.style.has_structured_values() => self.structured(value),
            Shape::Object | Shape::Value => self.copy(value),
        };
        match written {
            Ok(()) => self.end(),
            Err(error) => {
                self.out.truncate(start);
                self.failure(ToolError::new(format!(
                    "the output could not be written as JSON: {error}"
                )));
            }
        }
    }

    /// Writes a string as the text of one block, and null as no block.
    fn text<T: Serialize>(&mut self, value: &T) -> serde_json::Result<()> {
        let start = self.out.len();
        self.push(br#"{"content":[{"type":"text","text":"#);
        let text = self.out.len();
        serde_json::to_writer(&mut *self.out, value)?;
        match self.out[text] {
            b'"' => self.push(b"}]"),
            b'n' => {
                self.out.truncate(start);
                self.push(br#"{"content":[]"#);
            }
            // The type is not what its schema says; its JSON is the text then.
            _ => {
                self.out.truncate(start);
                self.copy(value)?;
            }
        }
        Ok(())
    }

    /// Writes a value as structured content, and its JSON as the text of one block.
    fn structured<T: Serialize>(&mut self, value: &T) -> serde_json::Result<()> {
        self.push(br#"{"structuredContent":"#);
        let start = self.out.len();
        serde_json::to_writer(&mut *self.out, value)?;
        let end = self.out.len();
        self.push(br#","content":[{"type":"text","text":""#);
        escape_from_within(self.out, start, end);
        self.push(br#""}]"#);
        Ok(())
    }

    /// Writes the JSON of a value as the text of one block.
    fn copy<T: Serialize>(&mut self, value: &T) -> serde_json::Result<()> {
        self.push(br#"{"content":[{"type":"text","text":""#);
        serde_json::to_writer(Escaped(self.out), value)?;
        self.push(br#""}]"#);
        Ok(())
    }

    /// Writes a whole result.
    pub(crate) fn result(&mut self, result: CallToolResult) {
        self.push(br#"{"content":"#);
        self.value(&speak_content(result.content, self.style.revision()));
        if let Some(structured) = result
            .structured_content
            .filter(|value| self.style.allows_structured(value))
        {
            self.push(br#","structuredContent":"#);
            self.value(&structured);
        }
        if result.is_error == Some(true) {
            self.push(br#","isError":true"#);
        }
        match result.meta {
            None => self.end(),
            Some(meta) => self.end_with_meta(meta),
        }
    }

    /// Writes a failure that the model can read.
    pub(crate) fn failure(&mut self, error: ToolError) {
        self.push(br#"{"content":"#);
        self.value(&speak_content(error.into_content(), self.style.revision()));
        self.push(br#","isError":true"#);
        self.end();
    }

    fn end(&mut self) {
        self.push(self.style.result_end());
        self.push(b"}");
    }

    fn end_with_meta(&mut self, mut meta: ResultMetaObject) {
        self.style.complete_meta(&mut meta);
        self.push(self.style.result_type());
        self.push(br#","_meta":"#);
        self.value(&meta);
        self.push(b"}");
    }

    /// Writes a value of the protocol's own types, whose JSON has no cause to fail.
    fn value<T: Serialize + ?Sized>(&mut self, value: &T) {
        let start = self.out.len();
        if let Err(error) = serde_json::to_writer(&mut *self.out, value) {
            tracing::error!(%error, "a value of the protocol could not be written");
            self.out.truncate(start);
            self.push(b"null");
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }
}

//! The result of a streaming tool.

use treenail_schema::ContentBlock;

use crate::panic::unexpected;
use crate::result_writer::ResultWriter;
use crate::revision::{Placement, downgrade_content};
use crate::stream::collected::{Collected, Fold, Form, Stop, TEXT_BLOCK, TEXT_BLOCK_END};
use crate::tool::ToolInfo;
use crate::tool::error::ToolError;
use crate::tool::reply::{WRAPPED, WRAPPED_END};
use crate::tool::shape::Shape;
use crate::wire::{escape_from_within, push_escaped};

impl Collected {
    /// Writes the collected output, followed by the reason if the stream was stopped early.
    ///
    /// Structured content is present in that case too: the declared schema also allows an array of fewer items, or an
    /// earlier item.
    #[inline]
    pub(super) fn write_result(mut self, info: &ToolInfo, result: &mut ResultWriter<'_>) {
        let missing = self.items == 0 && self.fold == Fold::Last && self.form == Form::Json;
        if missing && info.shape != Shape::Nothing {
            let none = || Stop::Failed(ToolError::new("the stream ended without an item"));
            self.stop.get_or_insert_with(none);
        }
        let stop = self.stop.take().map(|stop| self.explain(stop, info));
        result.push(b"{");
        let placement = if self.items > 0 || stop.is_none() {
            self.write_output(info.shape, result)
        } else {
            result.push(br#""content":["#);
            Placement::Text
        };
        match stop {
            None => result.push(b"]"),
            Some(content) => {
                let content = downgrade_content(content, result.style().revision());
                write_blocks(&content, result);
                result.push(br#"],"isError":true"#);
                result.fail();
            }
        }
        if placement == Placement::Wrapped {
            result.end_wrapped(None);
        } else {
            result.end(None);
        }
    }

    /// Describes an early stop for the model.
    fn explain(&self, stop: Stop, info: &ToolInfo) -> Vec<ContentBlock> {
        let error = match stop {
            Stop::Failed(error) => error,
            Stop::Panicked(message) => ToolError::new(unexpected("tool", &info.name, &message)),
            Stop::TooManyItems => ToolError::new(format!(
                "stopped after {} items, the maximum that the server accepts from one stream",
                self.bounds.items
            )),
            Stop::TooManyBytes => ToolError::new(format!(
                "stopped after {} items; with the next one there would be more than {} bytes, the maximum that the server \
                 accepts from one stream",
                self.items, self.bounds.bytes
            )),
        };
        error.into_content()
    }

    /// Writes the members for the output, up to the last block of `content`. Returns the placement of structured
    /// content.
    #[inline]
    fn write_output(&self, shape: Shape, result: &mut ResultWriter<'_>) -> Placement {
        let structured = result.style().placement(shape);
        match (self.fold, self.form) {
            (_, Form::Content) => self.write_content(b"", b"", result),
            // Its schema is declared.
            (Fold::Concat, _) if shape == Shape::Value => {
                return self.write_json([b"\"", b"\""], structured, result);
            }
            (Fold::Concat, _) => self.write_content(TEXT_BLOCK, TEXT_BLOCK_END, result),
            (Fold::Collect, _) => return self.write_json([b"[", b"]"], structured, result),
            (Fold::Last, _) => match shape {
                Shape::Text if self.output.starts_with(b"\"") => {
                    self.write_content(br#"{"type":"text","text":"#, b"}", result);
                }
                Shape::Text | Shape::Nothing => result.push(br#""content":["#),
                Shape::Object | Shape::Value | Shape::Any => {
                    return self.write_json([b"", b""], structured, result);
                }
            },
        }
        Placement::Text
    }

    /// Writes the output as content between `before` and `after`, or nothing without items.
    fn write_content(&self, before: &[u8], after: &[u8], result: &mut ResultWriter<'_>) {
        result.push(br#""content":["#);
        if self.items > 0 {
            for part in [before, &self.output, after] {
                result.push(part);
            }
        }
    }

    /// Writes the output in `brackets`, as text and, if the caller accepts it, as structured content.
    fn write_json(
        &self,
        brackets: [&[u8]; 2],
        placement: Placement,
        result: &mut ResultWriter<'_>,
    ) -> Placement {
        let output = [brackets[0], &self.output, brackets[1]];
        let is_object = brackets[0].is_empty() && self.output.starts_with(b"{");
        let wrapped = match placement {
            Placement::Wrapped => true,
            Placement::Bare => false,
            Placement::Object if is_object => false,
            Placement::Object | Placement::Text => {
                write_text(output, result);
                return Placement::Text;
            }
        };
        result.push(br#""structuredContent":"#);
        result.push(if wrapped { WRAPPED } else { b"" });
        let start = result.mark();
        for part in output {
            result.push(part);
        }
        let end = result.mark();
        result.push(if wrapped { WRAPPED_END } else { b"" });
        result.push(br#","content":["#);
        result.push(TEXT_BLOCK);
        escape_from_within(result.out(), start, end);
        result.push(TEXT_BLOCK_END);
        placement
    }
}

/// Writes JSON as text only.
fn write_text(json: [&[u8]; 3], result: &mut ResultWriter<'_>) {
    result.push(br#""content":["#);
    result.push(TEXT_BLOCK);
    for part in json {
        push_escaped(result.out(), part);
    }
    result.push(TEXT_BLOCK_END);
}

fn write_blocks(content: &[ContentBlock], result: &mut ResultWriter<'_>) {
    for block in content {
        if !result.out().ends_with(b"[") {
            result.push(b",");
        }
        result.value(block);
    }
}

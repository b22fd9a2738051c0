//! The collected items of a stream.

use serde::Serialize;
use treenail_schema::{ContentBlock, Revision};

use crate::revision::downgrade_block;
use crate::stream::limited_writer::LimitedWriter;
use crate::tool::error::ToolError;
use crate::wire::{push_escaped, write_json};

/// Start of a text block without annotations.
pub(super) const TEXT_BLOCK: &[u8] = br#"{"type":"text","text":""#;
/// End of a text block without annotations.
pub(super) const TEXT_BLOCK_END: &[u8] = br#""}"#;

/// Method that combines the items of a stream to one result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fold {
    /// All items: values as one array, content blocks as a list.
    Collect,
    /// One text. Strings are concatenated; other values are written as JSON, one per line. Adjacent content blocks with
    /// text are merged.
    Concat,
    /// The last item only.
    Last,
}

/// Encoding of the items of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Plain strings, or null.
    Text,
    /// Any JSON.
    Json,
    /// Content blocks.
    Content,
}

/// Limits of a stream, and the protocol revision of its content.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) items: usize,
    pub(crate) bytes: usize,
    pub(crate) revision: Revision,
}

/// Reason why a stream was stopped early.
#[derive(Debug)]
pub(crate) enum Stop {
    Failed(ToolError),
    /// The panic message.
    Panicked(String),
    TooManyItems,
    TooManyBytes,
}

/// The collected items of a stream, as JSON.
#[derive(Debug)]
pub struct Collected {
    pub(super) form: Form,
    pub(super) fold: Fold,
    pub(super) bounds: Bounds,
    /// Number of items.
    pub(super) items: usize,
    /// The combined output: a comma-separated list, the inside of a string, or the last item.
    pub(super) output: Vec<u8>,
    /// Buffer of the latest item, so that an item that fails to serialize leaves no partial output.
    item: Vec<u8>,
    /// Whether the latest item is a text block to which more text can be appended.
    ends_with_text: bool,
    pub(super) stop: Option<Stop>,
}

impl Collected {
    pub(super) fn new(form: Form, fold: Fold, bounds: Bounds) -> Self {
        Self {
            form,
            fold,
            bounds,
            items: 0,
            output: Vec::new(),
            item: Vec::new(),
            ends_with_text: false,
            stop: None,
        }
    }

    /// Returns the JSON of the latest item.
    pub(super) fn latest(&self) -> &[u8] {
        match self.fold {
            Fold::Last => &self.output,
            Fold::Collect | Fold::Concat => &self.item,
        }
    }

    /// Returns the JSON of the latest item's text, if it has one.
    pub(super) fn latest_text(&self) -> Option<&[u8]> {
        let latest = self.latest();
        match self.form {
            Form::Text => latest.starts_with(b"\"").then_some(latest),
            Form::Content if self.ends_with_text => {
                latest.get(TEXT_BLOCK.len() - 1..latest.len() - 1)
            }
            Form::Content | Form::Json => None,
        }
    }

    /// Adds a value.
    pub(super) fn add_value<T: Serialize>(&mut self, value: &T) -> Result<(), Stop> {
        self.write(value)?;
        self.items += 1;
        match self.fold {
            Fold::Last => std::mem::swap(&mut self.output, &mut self.item),
            Fold::Collect => self.append_list_item(),
            Fold::Concat if self.form == Form::Text => self.append_text(),
            Fold::Concat => self.append_line(),
        }
        Ok(())
    }

    /// Adds a content block, converted to the caller's revision.
    #[inline]
    pub(super) fn add_block(&mut self, mut block: ContentBlock) -> Result<(), Stop> {
        downgrade_block(&mut block, self.bounds.revision);
        self.write(&block)?;
        let after_text = std::mem::replace(&mut self.ends_with_text, is_plain_text(&block));
        self.items += 1;
        match self.fold {
            Fold::Last => std::mem::swap(&mut self.output, &mut self.item),
            Fold::Concat if after_text && self.ends_with_text => {
                self.output
                    .truncate(self.output.len() - TEXT_BLOCK_END.len());
                self.output
                    .extend_from_slice(&self.item[TEXT_BLOCK.len()..]);
            }
            Fold::Collect | Fold::Concat => self.append_list_item(),
        }
        Ok(())
    }

    /// Serializes an item into its buffer, within the limits.
    fn write<T: Serialize>(&mut self, value: &T) -> Result<(), Stop> {
        if self.items >= self.bounds.items {
            return Err(Stop::TooManyItems);
        }
        let taken = match self.fold {
            Fold::Last => 0,
            // Includes the comma or the line break before the item.
            Fold::Collect | Fold::Concat => self.output.len() + 1,
        };
        self.item.clear();
        let mut writer = LimitedWriter {
            out: &mut self.item,
            remaining: self.bounds.bytes.checked_sub(taken),
        };
        match write_json(&mut writer, value) {
            Ok(()) => Ok(()),
            Err(_) if writer.remaining.is_none() => Err(Stop::TooManyBytes),
            Err(error) => {
                let message = format!("an item could not be written as JSON: {error}");
                Err(Stop::Failed(ToolError::new(message)))
            }
        }
    }

    fn append_list_item(&mut self) {
        if !self.output.is_empty() {
            self.output.push(b',');
        }
        self.output.extend_from_slice(&self.item);
    }

    /// Appends the inside of a string; null adds nothing.
    fn append_text(&mut self) {
        if let [b'"', text @ .., b'"'] = self.item.as_slice() {
            self.output.extend_from_slice(text);
        }
    }

    /// Appends JSON as a line of text, escaped.
    fn append_line(&mut self) {
        if !self.output.is_empty() {
            self.output.extend_from_slice(br"\n");
        }
        push_escaped(&mut self.output, &self.item);
    }
}

/// Returns whether a block has text and nothing else.
fn is_plain_text(block: &ContentBlock) -> bool {
    match block {
        ContentBlock::Text(text) => text.annotations.is_none() && text.meta.is_none(),
        _ => false,
    }
}

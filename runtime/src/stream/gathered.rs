//! What has come out of a stream so far.

use std::io::Write;

use serde::Serialize;
use treenail_schema::{ContentBlock, Revision};

use crate::revision::downgrade_block;
use crate::stream::bounded::Bounded;
use crate::tool::error::ToolError;
use crate::wire::{Escaped, write_json};

/// How a text block without annotations begins.
pub(super) const TEXT_BLOCK: &[u8] = br#"{"type":"text","text":""#;
/// And how it ends.
pub(super) const TEXT_BLOCK_END: &[u8] = br#""}"#;

/// How the items of a stream become one result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// All of them: values as one array, content blocks as they are.
    Collect,
    /// One text: texts as they are, values as JSON, each on a line of its own; content blocks that are texts become one
    /// where they follow each other.
    Concat,
    /// The last one only.
    Last,
}

/// What the items of a stream are written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Plain strings, or null.
    Text,
    /// Any JSON.
    Json,
    /// Content blocks.
    Content,
}

/// What bounds a stream, and the revision that its content is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) items: usize,
    pub(crate) bytes: usize,
    pub(crate) revision: Revision,
}

/// Why a stream ended before its end.
#[derive(Debug)]
pub(crate) enum Stop {
    Failed(ToolError),
    /// What the panic said.
    Panicked(String),
    TooManyItems,
    TooManyBytes,
}

/// What has come out of a stream so far, as JSON.
#[derive(Debug)]
pub struct Gathered {
    pub(super) form: Form,
    pub(super) fold: Fold,
    pub(super) bounds: Bounds,
    /// How many items there were.
    pub(super) items: usize,
    /// What is kept of them: with commas between, the inside of a string, or the last one.
    pub(super) kept: Vec<u8>,
    /// Where an item is written first, so that one which fails leaves nothing behind.
    item: Vec<u8>,
    /// Whether the newest item is a text block that another text can be appended to.
    plain: bool,
    pub(super) stop: Option<Stop>,
}

impl Gathered {
    pub(super) fn new(form: Form, fold: Fold, bounds: Bounds) -> Self {
        Self {
            form,
            fold,
            bounds,
            items: 0,
            kept: Vec::new(),
            item: Vec::new(),
            plain: false,
            stop: None,
        }
    }

    /// The JSON of the newest item.
    pub(super) fn newest(&self) -> &[u8] {
        match self.fold {
            Fold::Last => &self.kept,
            Fold::Collect | Fold::Concat => &self.item,
        }
    }

    /// The JSON of the newest item's text, if it is one.
    pub(super) fn newest_text(&self) -> Option<&[u8]> {
        let newest = self.newest();
        match self.form {
            Form::Text => newest.starts_with(b"\"").then_some(newest),
            Form::Content if self.plain => newest.get(TEXT_BLOCK.len() - 1..newest.len() - 1),
            Form::Content | Form::Json => None,
        }
    }

    /// Adds an item that is a value.
    pub(super) fn add_value<T: Serialize>(&mut self, value: &T) -> Result<(), Stop> {
        self.write(value)?;
        self.items += 1;
        match self.fold {
            Fold::Last => std::mem::swap(&mut self.kept, &mut self.item),
            Fold::Collect => self.keep_listed(),
            Fold::Concat if self.form == Form::Text => self.keep_text(),
            Fold::Concat => self.keep_line(),
        }
        Ok(())
    }

    /// Adds an item that is a content block, as the caller's revision knows it.
    pub(super) fn add_block(&mut self, mut block: ContentBlock) -> Result<(), Stop> {
        downgrade_block(&mut block, self.bounds.revision);
        self.write(&block)?;
        let after_text = std::mem::replace(&mut self.plain, is_plain(&block));
        self.items += 1;
        match self.fold {
            Fold::Last => std::mem::swap(&mut self.kept, &mut self.item),
            Fold::Concat if after_text && self.plain => {
                self.kept.truncate(self.kept.len() - TEXT_BLOCK_END.len());
                self.kept.extend_from_slice(&self.item[TEXT_BLOCK.len()..]);
            }
            Fold::Collect | Fold::Concat => self.keep_listed(),
        }
        Ok(())
    }

    /// Writes an item, if there is room for it, to where nothing depends on it yet.
    fn write<T: Serialize>(&mut self, value: &T) -> Result<(), Stop> {
        if self.items >= self.bounds.items {
            return Err(Stop::TooManyItems);
        }
        let taken = match self.fold {
            Fold::Last => 0,
            // With the comma or the line end before it.
            Fold::Collect | Fold::Concat => self.kept.len() + 1,
        };
        self.item.clear();
        let mut writer = Bounded {
            out: &mut self.item,
            room: self.bounds.bytes.checked_sub(taken),
        };
        match write_json(&mut writer, value) {
            Ok(()) => Ok(()),
            Err(_) if writer.room.is_none() => Err(Stop::TooManyBytes),
            Err(error) => {
                let message = format!("an item could not be written as JSON: {error}");
                Err(Stop::Failed(ToolError::new(message)))
            }
        }
    }

    fn keep_listed(&mut self) {
        if !self.kept.is_empty() {
            self.kept.push(b',');
        }
        self.kept.extend_from_slice(&self.item);
    }

    /// Keeps the inside of a string; null adds nothing.
    fn keep_text(&mut self) {
        if let [b'"', text @ .., b'"'] = self.item.as_slice() {
            self.kept.extend_from_slice(text);
        }
    }

    /// Keeps JSON as a line of a text, escaped already.
    fn keep_line(&mut self) {
        if !self.kept.is_empty() {
            self.kept.extend_from_slice(br"\n");
        }
        // Writing to a vector cannot fail.
        let _ = Escaped(&mut self.kept).write_all(&self.item);
    }
}

/// Whether a block is a text and nothing else.
fn is_plain(block: &ContentBlock) -> bool {
    match block {
        ContentBlock::Text(text) => text.annotations.is_none() && text.meta.is_none(),
        _ => false,
    }
}

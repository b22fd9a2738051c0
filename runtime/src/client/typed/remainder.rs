//! Remainder of a stream's result: the items that did not arrive in progress notifications.

use serde_json::Value;
use treenail_schema::{CallToolResult, ContentBlock};

use crate::revision::{is_marked, wrapped_value};
use crate::stream::{Fold, Form};
use crate::typed_contract::text_of_blocks;

/// Summary of the items received in progress notifications, sufficient to find their end in the result.
#[derive(Debug, Default)]
pub(super) struct ReceivedItems {
    form_and_fold: Option<(Form, Fold)>,
    pub(super) items: usize,
    /// Further items were dropped or missing.
    pub(super) has_gap: bool,
    /// Bytes of their text, if the result is a single text.
    text: usize,
    /// Number of their blocks, if adjacent texts are merged into one.
    blocks: usize,
    /// True if the last of these blocks is a text, to which `text` belongs.
    ends_with_text: bool,
    /// The latest item, if the result is the last item alone.
    last: Option<Value>,
}

impl ReceivedItems {
    pub(super) fn new(form: Form, fold: Fold) -> Self {
        Self {
            form_and_fold: Some((form, fold)),
            ..Self::default()
        }
    }

    /// Adds an item.
    pub(super) fn add(&mut self, item: &Value) {
        self.items += 1;
        match self.form_and_fold {
            Some((_, Fold::Last)) => self.last = Some(item.clone()),
            Some((Form::Text, Fold::Concat)) => self.text += item.as_str().map_or(0, str::len),
            Some((Form::Content, Fold::Concat)) => self.add_block(item),
            _ => {}
        }
    }

    fn add_block(&mut self, block: &Value) {
        match plain_text(block) {
            Some(text) if self.ends_with_text => self.text += text.len(),
            text => {
                self.blocks += 1;
                self.text = text.map_or(0, str::len);
                self.ends_with_text = text.is_some();
            }
        }
    }

    /// Returns the number of blocks at the start of a failed result that are items, if it has any. The reason follows.
    pub(super) fn item_blocks(&self, result: &CallToolResult) -> usize {
        let before_last = result.content.len().saturating_sub(1);
        match self.form_and_fold {
            None => 0,
            // The reason may have several blocks too.
            Some((form @ Form::Content, fold)) => self.min_blocks(form, fold).min(before_last),
            Some(_) => before_last.min(1),
        }
    }

    /// Returns the items of the result that have not been received, in order.
    pub(super) fn remainder(self, result: &CallToolResult) -> serde_json::Result<Vec<Value>> {
        let Some((form, fold)) = self.form_and_fold else {
            return Ok(Vec::new());
        };
        let items = ResultItems::new(result, self.min_blocks(form, fold));
        match (form, fold) {
            (Form::Content, Fold::Collect) => self.skip_received(items.blocks()?),
            (Form::Content, Fold::Concat) => self.skip_received_blocks(items.blocks()?),
            (Form::Content, Fold::Last) => Ok(self.last_if_new(items.blocks()?.pop())),
            (_, Fold::Collect) => match items.value(fold)? {
                Some(Value::Array(items)) => self.skip_received(items),
                Some(_) => Err(invalid("the items are not an array")),
                None => Ok(Vec::new()),
            },
            (Form::Text, Fold::Concat) => self.skip_received_text(items.text().as_deref()),
            (Form::Json, Fold::Concat) => self.skip_received(items.lines()?),
            (Form::Text, Fold::Last) => Ok(self.last_if_new(items.text().map(Value::from))),
            (Form::Json, Fold::Last) => Ok(self.last_if_new(items.value(fold)?)),
        }
    }

    /// Returns the minimum number of blocks in the result that are items.
    fn min_blocks(&self, form: Form, fold: Fold) -> usize {
        match (form, fold) {
            (_, Fold::Last) => 0,
            (Form::Content, Fold::Collect) => self.items,
            (Form::Content, Fold::Concat) => self.blocks,
            (_, Fold::Collect | Fold::Concat) => self.items.min(1),
        }
    }

    fn skip_received(&self, mut items: Vec<Value>) -> serde_json::Result<Vec<Value>> {
        if items.len() < self.items {
            return Err(invalid("the result has fewer items than were reported"));
        }
        Ok(items.split_off(self.items))
    }

    fn last_if_new(self, last: Option<Value>) -> Vec<Value> {
        let last = last.filter(|last| self.has_gap || self.last.as_ref() != Some(last));
        last.into_iter().collect()
    }

    fn skip_received_text(&self, text: Option<&str>) -> serde_json::Result<Vec<Value>> {
        let rest = text.unwrap_or_default().get(self.text..);
        let rest = rest.ok_or_else(|| invalid("the result has less text than was reported"))?;
        let rest = Some(rest).filter(|rest| !rest.is_empty());
        Ok(rest.into_iter().map(Value::from).collect())
    }

    /// Returns the remaining blocks. The last received one may have grown in the meantime.
    fn skip_received_blocks(&self, blocks: Vec<Value>) -> serde_json::Result<Vec<Value>> {
        let Some(newest) = self.blocks.checked_sub(1) else {
            return Ok(blocks);
        };
        if blocks.len() < self.blocks {
            return Err(invalid("the result has fewer blocks than were reported"));
        }
        let mut rest = blocks.into_iter().skip(newest);
        let grown = rest.next().and_then(|block| {
            let text = plain_text(&block)?.get(self.text..)?;
            let block = ContentBlock::text(text);
            (self.ends_with_text && !text.is_empty()).then(|| serde_json::to_value(block))
        });
        grown.into_iter().chain(rest.map(Ok)).collect()
    }
}

/// Returns the text of a block that has no other members.
fn plain_text(block: &Value) -> Option<&str> {
    let block = block.as_object()?;
    let is_plain = block.len() == 2 && block.get("type")? == "text";
    block.get("text")?.as_str().filter(|_| is_plain)
}

/// Items of a result. The result of a failed tool has further blocks after them.
struct ResultItems<'a> {
    result: &'a CallToolResult,
    /// The blocks that may contain items.
    blocks: &'a [ContentBlock],
}

impl<'a> ResultItems<'a> {
    /// Drops the last block of a failed result, which is the reason of the failure, if at least `min_blocks` blocks
    /// remain.
    fn new(result: &'a CallToolResult, min_blocks: usize) -> Self {
        let content = result.content.as_slice();
        let blocks = match content.split_last() {
            Some((_reason, items))
                if result.is_error == Some(true) && items.len() >= min_blocks =>
            {
                items
            }
            _ => content,
        };
        Self { result, blocks }
    }

    fn blocks(&self) -> serde_json::Result<Vec<Value>> {
        self.blocks.iter().map(serde_json::to_value).collect()
    }

    /// Joins all texts, because not every server writes the result as a single block.
    fn text(&self) -> Option<String> {
        let has_text = self.blocks.iter().any(|block| block.as_text().is_some());
        has_text.then(|| text_of_blocks(self.blocks))
    }

    fn value(&self, fold: Fold) -> serde_json::Result<Option<Value>> {
        if let Some(content) = &self.result.structured_content {
            let is_wrapped = fold == Fold::Collect || is_marked(self.result.meta.as_ref());
            let wrapped = wrapped_value(content).filter(|_| is_wrapped);
            return Ok(Some(wrapped.unwrap_or(content).clone()));
        }
        let text = self.text();
        text.map(|text| serde_json::from_str(&text)).transpose()
    }

    fn lines(&self) -> serde_json::Result<Vec<Value>> {
        let text = self.text().unwrap_or_default();
        text.lines().map(serde_json::from_str).collect()
    }
}

fn invalid(reason: &str) -> serde_json::Error {
    serde::de::Error::custom(reason)
}

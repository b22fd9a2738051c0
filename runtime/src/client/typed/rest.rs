//! What the result of a stream has beyond the items that have come live.

use serde_json::Value;
use treenail_schema::{CallToolResult, ContentBlock};

use crate::revision::{is_marked, wrapped_value};
use crate::stream::{Fold, Form};
use crate::typed_contract::text_of_blocks;

/// What is known of the items that have come live: enough to find where they end in the result.
#[derive(Debug, Default)]
pub(super) struct Seen {
    way: Option<(Form, Fold)>,
    pub(super) items: usize,
    /// Whether there were further items, which have not been taken.
    pub(super) has_gap: bool,
    /// Bytes of their text, where the result is one text.
    text: usize,
    /// How many blocks they are, where texts that follow each other are one.
    blocks: usize,
    /// The newest one, where the result is that alone.
    last: Option<Value>,
}

impl Seen {
    pub(super) fn new(form: Form, fold: Fold) -> Self {
        Self {
            way: Some((form, fold)),
            ..Self::default()
        }
    }

    /// One more item.
    pub(super) fn add(&mut self, item: &Value) {
        self.items += 1;
        match self.way {
            Some((_, Fold::Last)) => self.last = Some(item.clone()),
            Some((Form::Text, Fold::Concat)) => self.text += item.as_str().map_or(0, str::len),
            Some((Form::Content, Fold::Concat)) => self.add_block(item),
            _ => {}
        }
    }

    fn add_block(&mut self, block: &Value) {
        match plain_text(block) {
            Some(text) if self.blocks > 0 && self.text > 0 => self.text += text.len(),
            Some(text) => {
                self.blocks += 1;
                self.text = text.len();
            }
            None => {
                self.blocks += 1;
                self.text = 0;
            }
        }
    }

    /// The items of the result that have not come live, in order.
    pub(super) fn rest(self, result: &CallToolResult) -> serde_json::Result<Vec<Value>> {
        let Some((form, fold)) = self.way else {
            return Ok(Vec::new());
        };
        let told = Told::new(result, self.least(form, fold));
        match (form, fold) {
            (Form::Content, Fold::Collect) => self.beyond(told.blocks()?),
            (Form::Content, Fold::Concat) => self.beyond_blocks(told.blocks()?),
            (Form::Content, Fold::Last) => Ok(self.newer(told.blocks()?.pop())),
            (_, Fold::Collect) => match told.value(fold)? {
                Some(Value::Array(items)) => self.beyond(items),
                Some(_) => Err(wrong("the items are no array")),
                None => Ok(Vec::new()),
            },
            (Form::Text, Fold::Concat) => self.beyond_text(told.text().as_deref()),
            (Form::Json, Fold::Concat) => self.beyond(told.lines()?),
            (Form::Text, Fold::Last) => Ok(self.newer(told.text().map(Value::from))),
            (Form::Json, Fold::Last) => Ok(self.newer(told.value(fold)?)),
        }
    }

    /// How many blocks of the result are items for certain.
    fn least(&self, form: Form, fold: Fold) -> usize {
        match (form, fold) {
            (_, Fold::Last) => 0,
            (Form::Content, Fold::Collect) => self.items,
            (Form::Content, Fold::Concat) => self.blocks,
            (_, Fold::Collect | Fold::Concat) => self.items.min(1),
        }
    }

    fn beyond(&self, mut items: Vec<Value>) -> serde_json::Result<Vec<Value>> {
        if items.len() < self.items {
            return Err(wrong("the result has fewer items than have been told"));
        }
        Ok(items.split_off(self.items))
    }

    fn newer(self, last: Option<Value>) -> Vec<Value> {
        let last = last.filter(|last| self.has_gap || self.last.as_ref() != Some(last));
        last.into_iter().collect()
    }

    fn beyond_text(&self, text: Option<&str>) -> serde_json::Result<Vec<Value>> {
        let rest = text.unwrap_or_default().get(self.text..);
        let rest = rest.ok_or_else(|| wrong("the result has less text than has been told"))?;
        let rest = Some(rest).filter(|rest| !rest.is_empty());
        Ok(rest.into_iter().map(Value::from).collect())
    }

    /// The last block that came live may have grown since.
    fn beyond_blocks(&self, blocks: Vec<Value>) -> serde_json::Result<Vec<Value>> {
        let Some(newest) = self.blocks.checked_sub(1) else {
            return Ok(blocks);
        };
        if blocks.len() < self.blocks {
            return Err(wrong("the result has fewer blocks than have been told"));
        }
        let mut rest = blocks.into_iter().skip(newest);
        let grown = rest.next().and_then(|block| {
            let text = plain_text(&block)?.get(self.text..)?;
            let block = ContentBlock::text(text);
            (self.text > 0 && !text.is_empty()).then(|| serde_json::to_value(block))
        });
        grown.into_iter().chain(rest.map(Ok)).collect()
    }
}

/// The text of a block that is nothing but that.
fn plain_text(block: &Value) -> Option<&str> {
    let block = block.as_object()?;
    let is_plain = block.len() == 2 && block.get("type")? == "text";
    block.get("text")?.as_str().filter(|_| is_plain)
}

/// What a result tells of items; behind them, a failure has blocks of its own.
struct Told<'a> {
    result: &'a CallToolResult,
    /// The blocks that items may be in.
    blocks: &'a [ContentBlock],
}

impl<'a> Told<'a> {
    /// A failure tells why in one block, as far as can be known, behind at least so many blocks of items.
    fn new(result: &'a CallToolResult, least: usize) -> Self {
        let content = result.content.as_slice();
        let blocks = match content.split_last() {
            Some((_reason, items)) if result.is_error == Some(true) && items.len() >= least => {
                items
            }
            _ => content,
        };
        Self { result, blocks }
    }

    fn blocks(&self) -> serde_json::Result<Vec<Value>> {
        self.blocks.iter().map(serde_json::to_value).collect()
    }

    /// All texts: not every server writes one that is for the whole.
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

fn wrong(reason: &str) -> serde_json::Error {
    serde::de::Error::custom(reason)
}

//! Structured content beside content blocks of a function.

use treenail_schema::{ContentBlock, ResultMetaObject};

use super::{STRUCTURED, ToolResultWriter, WRAPPED, WRAPPED_END};
use crate::revision::{Placement, downgrade_content};
use crate::wire::WriteJson;

impl ToolResultWriter<'_, '_> {
    /// Writes a value as structured content beside content blocks, or a text copy if there are none.
    ///
    /// A peer that does not read structured content receives the blocks alone. `is_text` returns whether the value is a plain string,
    /// or null, for such a peer.
    #[inline]
    pub(in crate::tool) fn structured_result(
        &mut self,
        value: &dyn WriteJson,
        mut content: Vec<ContentBlock>,
        meta: Option<ResultMetaObject>,
        is_text: fn() -> bool,
    ) {
        let start = self.result.mark();
        let style = self.result.style();
        let placement = style.placement(self.shape);
        let received = style.received_placement(self.shape);
        let written = match (content.is_empty(), placement) {
            (true, Placement::Text) => self.text_or_json(value, is_text),
            (true, _) if received == Placement::Text => self
                .text_or_json(value, is_text)
                .and_then(|()| self.structured_member(value)),
            (true, Placement::Bare) => self.structured(value),
            (true, Placement::Object) => self.object(value),
            (true, Placement::Wrapped) => self.wrapped(value),
            (false, _) => self.beside(value, placement, &mut content).map(|()| {
                let content = downgrade_content(content, style.revision());
                self.result.value(&content);
            }),
        };
        match written {
            Ok(()) if placement == Placement::Wrapped => self.result.end_wrapped(meta),
            Ok(()) => self.result.end(meta),
            Err(error) => self.unwritable(start, &error),
        }
    }

    /// Writes a value as structured content if the peer reads it, and the key of the content.
    ///
    /// A peer that receives a value that is no object as it is gets the JSON copy too, as the last block.
    #[inline]
    fn beside(
        &mut self,
        value: &dyn WriteJson,
        placement: Placement,
        content: &mut Vec<ContentBlock>,
    ) -> serde_json::Result<()> {
        let start = self.result.mark();
        let is_wrapped = placement == Placement::Wrapped;
        self.result.push(STRUCTURED);
        if is_wrapped {
            self.result.push(WRAPPED);
        }
        let json = self.result.mark();
        // Also a value that is not sent fails if it cannot be written, so that all peers get the same answer.
        value.write_json(self.result.out())?;
        let is_object = self.result.out()[json] == b'{';
        if self.result.style().received_placement(self.shape) == Placement::Bare && !is_object {
            let copy = String::from_utf8_lossy(&self.result.out()[json..]);
            if content.last().and_then(ContentBlock::as_text) != Some(&*copy) {
                content.push(ContentBlock::text(copy));
            }
        }
        if placement == Placement::Text || (placement == Placement::Object && !is_object) {
            self.result.rewind(start);
            self.result.push(br#"{"content":"#);
            return Ok(());
        }
        if is_wrapped {
            self.result.push(WRAPPED_END);
        }
        self.result.push(br#","content":"#);
        Ok(())
    }

    /// Writes a value as one text block: a plain string as it is, any other value as JSON. Null in place of a string is no block.
    #[inline]
    fn text_or_json(
        &mut self,
        value: &dyn WriteJson,
        is_text: fn() -> bool,
    ) -> serde_json::Result<()> {
        let start = self.result.mark();
        value.write_json(self.result.out())?;
        let may_be_text = matches!(self.result.out()[start], b'"' | b'n');
        self.result.rewind(start);
        if may_be_text && is_text() {
            self.text(value)
        } else {
            self.text_only(value)
        }
    }

    /// Writes a value as structured content after other members.
    #[inline]
    fn structured_member(&mut self, value: &dyn WriteJson) -> serde_json::Result<()> {
        self.result.push(br#","structuredContent":"#);
        value.write_json(self.result.out())
    }
}

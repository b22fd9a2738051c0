//! Buffer of text that has arrived but is not classified yet.

use crate::text::cursor::Cursor;
use crate::text::opening::MAX_OPENING_BYTES;

/// Buffer of text that has arrived but is not classified yet.
#[derive(Debug, Default)]
pub(super) struct PendingText {
    text: String,
    /// Length of the consumed prefix.
    taken: usize,
    /// Consumed length of the whole message, and the ranges that belong to calls.
    #[cfg(test)]
    pub(super) parts: (usize, Vec<std::ops::Range<usize>>),
}

impl PendingText {
    pub(super) fn push(&mut self, text: &str) {
        self.text.drain(..self.taken);
        self.taken = 0;
        self.text.push_str(text);
    }

    pub(super) fn text(&self) -> &str {
        &self.text[self.taken..]
    }

    /// Returns the length of the current line including its end, and whether the end has arrived.
    pub(super) fn line(&self) -> (usize, bool) {
        match self.text().find('\n') {
            Some(at) => (at + 1, true),
            None => (self.text().len(), false),
        }
    }

    /// Consumes text.
    pub(super) fn take(&mut self, length: usize) -> &str {
        #[cfg(test)]
        {
            self.parts.0 += length;
        }
        let start = self.taken;
        self.taken += length;
        &self.text[start..self.taken]
    }

    /// Consumes text that belongs to a call.
    pub(super) fn discard(&mut self, length: usize) {
        #[cfg(test)]
        {
            let start = self.parts.0;
            self.parts.1.push(start..start + length);
        }
        self.take(length);
    }

    /// Returns a cursor over the text that may be held back for detection; more is never needed.
    pub(super) fn cursor(&self, is_all: bool) -> Cursor<'_> {
        let text = self.text();
        let mut length = text.len().min(MAX_OPENING_BYTES);
        while !text.is_char_boundary(length) {
            length -= 1;
        }
        Cursor::new(&text[..length], is_all || text.len() > MAX_OPENING_BYTES)
    }
}

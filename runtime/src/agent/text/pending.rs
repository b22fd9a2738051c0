//! What has come of a message and is not told yet.

use crate::agent::text::cursor::Cursor;
use crate::agent::text::opening::MAX_OPENING_BYTES;

/// What has come of a message and is not told yet.
#[derive(Debug, Default)]
pub(super) struct PendingText {
    text: String,
    /// How much of the text has been taken already.
    taken: usize,
    /// How much has been taken of the whole message, and which parts of it belong to calls.
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

    /// How much belongs to this line, its end included, and whether its end has come.
    pub(super) fn line(&self) -> (usize, bool) {
        match self.text().find('\n') {
            Some(at) => (at + 1, true),
            None => (self.text().len(), false),
        }
    }

    /// Takes so much of it, which is text.
    pub(super) fn take(&mut self, length: usize) -> &str {
        #[cfg(test)]
        {
            self.parts.0 += length;
        }
        let start = self.taken;
        self.taken += length;
        &self.text[start..self.taken]
    }

    /// Takes so much of it, which belongs to a call.
    pub(super) fn discard(&mut self, length: usize) {
        #[cfg(test)]
        {
            let start = self.parts.0;
            self.parts.1.push(start..start + length);
        }
        self.take(length);
    }

    /// As much as may be held back to see what it is. If there is more, that does not count.
    pub(super) fn cursor(&self, is_all: bool) -> Cursor<'_> {
        let text = self.text();
        let mut length = text.len().min(MAX_OPENING_BYTES);
        while !text.is_char_boundary(length) {
            length -= 1;
        }
        Cursor::new(&text[..length], is_all || text.len() > MAX_OPENING_BYTES)
    }
}

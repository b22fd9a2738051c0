//! Scanner that checks JSON text and extracts the members of objects, without building values.
//!
//! It is the only pass over a message before its arguments are deserialized. It accepts exactly RFC 8259, returns slices of
//! the input instead of copies, and bounds nesting without recursion.

mod canonical;
mod compact;
mod container;
mod skip;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

pub use self::canonical::canonical;
use self::container::container_end;
use self::skip::{Cursor, Key};

/// Maximum nesting that a `Scanner` can accept. Its stack holds one bit per level.
pub const DEEPEST: u32 = 128;

/// Reason of an error of a text that may be valid JSON.
const TOO_DEEP: &str = "nested too deeply";

/// Error of the scanner: the reason, and the position in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    reason: &'static str,
    at: usize,
}

impl SyntaxError {
    /// Returns whether the text is nested too deeply. It may be valid JSON then.
    pub(crate) fn is_too_deep(&self) -> bool {
        self.reason == TOO_DEEP
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} at byte {}", self.reason, self.at)
    }
}

/// Reader of a JSON text.
#[derive(Debug)]
pub struct Scanner<'a> {
    cursor: Cursor<'a>,
    depth: u32,
    /// An object that has been checked, see [`Scanner::known_value`].
    known: &'a str,
}

impl<'a> Scanner<'a> {
    /// Creates a scanner at the start of `text`. Values nested deeper than `depth` (at most [`DEEPEST`]) are errors.
    #[inline]
    pub fn new(text: &'a str, depth: u32) -> Self {
        Self {
            cursor: Cursor { text, at: 0 },
            depth: depth.min(DEEPEST),
            known: "",
        }
    }

    /// Sets the object for [`Scanner::known_value`], which was checked at the same place of an earlier text.
    #[inline]
    #[must_use]
    pub fn with_known(self, known: &'a str) -> Self {
        Self { known, ..self }
    }

    /// Skips white space and returns the next byte without consuming it.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        self.cursor.peek()
    }

    /// Checks one value of any kind and returns its text.
    #[inline]
    pub fn value(&mut self) -> Result<&'a str, SyntaxError> {
        self.value_in_place()
    }

    /// As [`Scanner::value`], for callers of which each message makes many calls.
    #[expect(clippy::inline_always, reason = "see the module `skip`")]
    #[inline(always)]
    pub(crate) fn value_in_place(&mut self) -> Result<&'a str, SyntaxError> {
        let first = self.peek();
        let start = self.cursor.at;
        match first {
            Some(b'{' | b'[') => {
                self.cursor.at = container_end(self.cursor.text, self.cursor.at, self.depth)?;
            }
            _ => self.cursor.skip_scalar()?,
        }
        Ok(self.since(start))
    }

    /// As [`Scanner::value`], but the known object is not checked again. An object shows its own end, so a text that starts
    /// with the known one continues with exactly that value.
    #[inline]
    pub fn known_value(&mut self) -> Result<&'a str, SyntaxError> {
        self.peek();
        let (start, known) = (self.cursor.at, self.known);
        if known.is_empty() || !self.cursor.text.as_bytes()[start..].starts_with(known.as_bytes()) {
            return self.value();
        }
        self.cursor.at += known.len();
        Ok(self.since(start))
    }

    /// Consumes an opening brace and returns its position. Call [`Scanner::next_member`] for the members.
    #[inline]
    pub fn open_object(&mut self) -> Result<usize, SyntaxError> {
        if self.peek() != Some(b'{') {
            return self.fail("expected an object");
        }
        let start = self.cursor.at;
        self.advance();
        self.depth = self
            .depth
            .checked_sub(1)
            .ok_or_else(|| self.error(TOO_DEEP))?;
        Ok(start)
    }

    /// Returns the text from `start` up to the current position.
    #[inline]
    pub fn since(&self, start: usize) -> &'a str {
        &self.cursor.text[start..self.cursor.at]
    }

    /// Returns the key of the next member, or `None` after the closing brace. `first` is true right after the opening brace.
    #[expect(clippy::inline_always, reason = "see the module `skip`")]
    #[inline(always)]
    pub fn next_member(&mut self, first: bool) -> Result<Option<Cow<'a, str>>, SyntaxError> {
        match (self.peek(), first) {
            (Some(b'}'), _) => {
                self.advance();
                self.depth += 1;
                return Ok(None);
            }
            (Some(b','), false) => self.advance(),
            (_, true) => {}
            _ => return self.fail("expected `,` or `}`"),
        }
        self.key().map(Some)
    }

    /// Consumes a comma or `close`, and returns true if another member or element follows. `first` is true right after the
    /// opening bracket.
    pub fn has_next(&mut self, close: u8, first: bool) -> Result<bool, SyntaxError> {
        match (self.peek(), first) {
            (Some(byte), _) if byte == close => {
                self.advance();
                self.depth += 1;
                return Ok(false);
            }
            (Some(b','), false) => self.advance(),
            (_, true) => {}
            _ => return self.fail("expected `,` or the end of the container"),
        }
        Ok(true)
    }

    /// Consumes an opening bracket and returns its position. Call [`Scanner::next_element`] for the elements.
    #[inline]
    pub fn open_array(&mut self) -> Result<usize, SyntaxError> {
        if self.peek() != Some(b'[') {
            return self.fail("expected an array");
        }
        let start = self.cursor.at;
        self.advance();
        self.depth = self
            .depth
            .checked_sub(1)
            .ok_or_else(|| self.error(TOO_DEEP))?;
        Ok(start)
    }

    /// Returns the text of the next element, or `None` after the closing bracket.
    #[inline]
    pub fn next_element(&mut self, first: bool) -> Result<Option<&'a str>, SyntaxError> {
        match (self.peek(), first) {
            (Some(b']'), _) => {
                self.advance();
                self.depth += 1;
                return Ok(None);
            }
            (Some(b','), false) => self.advance(),
            (_, true) => {}
            _ => return self.fail("expected `,` or `]`"),
        }
        self.value().map(Some)
    }

    /// Fails unless only white space is left.
    #[inline]
    pub fn end(&mut self) -> Result<(), SyntaxError> {
        match self.peek() {
            None => Ok(()),
            Some(_) => self.fail("unexpected text after the value"),
        }
    }

    #[expect(clippy::inline_always, reason = "see the module `skip`")]
    #[inline(always)]
    fn key(&mut self) -> Result<Cow<'a, str>, SyntaxError> {
        self.peek();
        let start = self.cursor.at;
        let Key { end, escaped } = self.cursor.skip_key()?;
        if escaped {
            self.unescape(&self.cursor.text[start..end])
        } else {
            Ok(Cow::Borrowed(&self.cursor.text[start + 1..end - 1]))
        }
    }

    #[cold]
    fn unescape(&self, text: &str) -> Result<Cow<'a, str>, SyntaxError> {
        serde_json::from_str(text)
            .map(Cow::Owned)
            .or_else(|_| self.fail("invalid escape in a key"))
    }

    fn advance(&mut self) {
        self.cursor.advance();
    }

    fn error(&self, reason: &'static str) -> SyntaxError {
        skip::error(reason, self.cursor.at)
    }

    fn fail<T>(&self, reason: &'static str) -> Result<T, SyntaxError> {
        self.cursor.fail(reason)
    }
}

/// Returns whether the checked JSON value `text` is a string without escapes.
#[inline]
pub fn is_plain_string(text: &str) -> bool {
    text.starts_with('"') && !skip::has_escape(text)
}

/// Returns the unescaped string if the checked JSON value `text` is a string.
#[inline]
pub fn as_string(text: &str) -> Option<Cow<'_, str>> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    if skip::has_escape(inner) {
        serde_json::from_str(text).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
}

//! Walks over JSON text without building values: checks it, and cuts out the members of an object.
//!
//! This is the one pass over a message before its arguments are read with their types. It accepts exactly RFC 8259,
//! keeps slices of the input instead of copies, and bounds nesting without recursion.

mod canonical;
mod skip;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

pub(crate) use self::canonical::canonical;
use self::skip::Key;

/// The deepest nesting that [`Scanner`] can be told to accept; one bit each is kept on the stack.
pub const DEEPEST: u32 = 128;

/// Why a text is not the JSON that was expected, and at which byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    what: &'static str,
    at: usize,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} at byte {}", self.what, self.at)
    }
}

/// A position in a JSON text.
#[derive(Debug)]
pub(crate) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
    /// An object that has been checked, see [`Scanner::known_value`].
    known: &'a str,
}

impl<'a> Scanner<'a> {
    /// Starts at the beginning of `text`; values nested deeper than `depth` (at most [`DEEPEST`]) are refused.
    pub(crate) fn new(text: &'a str, depth: u32) -> Self {
        Self {
            text,
            at: 0,
            depth: depth.min(DEEPEST),
            known: "",
        }
    }

    /// The same with an object for [`Scanner::known_value`], which has been checked at the same place of an earlier text.
    pub(crate) fn with_known(self, known: &'a str) -> Self {
        Self { known, ..self }
    }

    /// The next byte that is not white space, without taking it.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        match self.byte() {
            Some(b'\0'..=b' ') => self.skip_space(),
            byte => byte,
        }
    }

    #[cold]
    fn skip_space(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.byte() {
            self.advance();
        }
        self.byte()
    }

    /// Checks one value of any kind and returns its text.
    pub(crate) fn value(&mut self) -> Result<&'a str, SyntaxError> {
        let first = self.peek();
        let start = self.at;
        match first {
            Some(b'{' | b'[') => self.skip_container()?,
            _ => self.skip_scalar()?,
        }
        Ok(self.since(start))
    }

    /// As [`Scanner::value`], but the known object is not checked again. An object shows its own end, so a text that starts
    /// with the known one continues with exactly that value.
    pub(crate) fn known_value(&mut self) -> Result<&'a str, SyntaxError> {
        self.peek();
        let (start, known) = (self.at, self.known);
        if known.is_empty() || !self.text.as_bytes()[start..].starts_with(known.as_bytes()) {
            return self.value();
        }
        self.at += known.len();
        Ok(self.since(start))
    }

    /// Takes the opening brace, and returns where it was; the members follow with [`Scanner::next_member`].
    pub(crate) fn open_object(&mut self) -> Result<usize, SyntaxError> {
        if self.peek() != Some(b'{') {
            return self.fail("expected an object");
        }
        let start = self.at;
        self.advance();
        self.depth = self
            .depth
            .checked_sub(1)
            .ok_or_else(|| self.error("nested too deeply"))?;
        Ok(start)
    }

    /// The text from `start` up to here.
    pub(crate) fn since(&self, start: usize) -> &'a str {
        &self.text[start..self.at]
    }

    /// The key of the next member, or `None` after the closing brace. `first` is true right after the opening brace.
    #[expect(clippy::inline_always, reason = "see the module `skip`")]
    #[inline(always)]
    pub(crate) fn next_member(&mut self, first: bool) -> Result<Option<Cow<'a, str>>, SyntaxError> {
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

    /// Whether another member or element comes before `close`, which is taken if it comes next, as the comma is. `first` is
    /// true right after the opening bracket.
    fn has_next(&mut self, close: u8, first: bool) -> Result<bool, SyntaxError> {
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

    /// Takes the opening bracket; the elements follow with [`Scanner::next_element`].
    pub(crate) fn open_array(&mut self) -> Result<(), SyntaxError> {
        match self.peek() {
            Some(b'[') => self.advance(),
            _ => return self.fail("expected an array"),
        }
        self.depth = self
            .depth
            .checked_sub(1)
            .ok_or_else(|| self.error("nested too deeply"))?;
        Ok(())
    }

    /// The text of the next element, or `None` after the closing bracket.
    pub(crate) fn next_element(&mut self, first: bool) -> Result<Option<&'a str>, SyntaxError> {
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

    /// Makes sure that nothing but white space is left.
    pub(crate) fn end(&mut self) -> Result<(), SyntaxError> {
        match self.peek() {
            None => Ok(()),
            Some(_) => self.fail("unexpected text after the value"),
        }
    }

    #[expect(clippy::inline_always, reason = "see the module `skip`")]
    #[inline(always)]
    fn key(&mut self) -> Result<Cow<'a, str>, SyntaxError> {
        self.peek();
        let start = self.at;
        let Key { end, escaped } = self.skip_key()?;
        if escaped {
            self.unescape(&self.text[start..end])
        } else {
            Ok(Cow::Borrowed(&self.text[start + 1..end - 1]))
        }
    }

    #[cold]
    fn unescape(&self, text: &str) -> Result<Cow<'a, str>, SyntaxError> {
        serde_json::from_str(text)
            .map(Cow::Owned)
            .or_else(|_| self.fail("invalid escape in a key"))
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn advance(&mut self) {
        self.at += 1;
    }

    #[cold]
    fn error(&self, what: &'static str) -> SyntaxError {
        SyntaxError { what, at: self.at }
    }

    fn fail<T>(&self, what: &'static str) -> Result<T, SyntaxError> {
        Err(self.error(what))
    }
}

/// The string that `text`, one checked JSON value, stands for, if it is a string.
pub(crate) fn as_string(text: &str) -> Option<Cow<'_, str>> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    if inner.bytes().any(|byte| byte == b'\\') {
        serde_json::from_str(text).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
}

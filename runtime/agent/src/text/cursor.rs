//! Cursor in text that arrives incrementally.

/// More text is needed for a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Incomplete;

/// Position in a text. Anything that depends on missing text returns [`Incomplete`], so that chunk boundaries never
/// change the result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// True if no more text follows.
    ended: bool,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, ended: bool) -> Self {
        Self { text, at: 0, ended }
    }

    /// Returns the position in bytes.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Returns the next byte; `None` at the end of the text.
    pub(super) fn peek(&self) -> Result<Option<u8>, Incomplete> {
        match self.text.as_bytes().get(self.at) {
            Some(byte) => Ok(Some(*byte)),
            None if self.ended => Ok(None),
            None => Err(Incomplete),
        }
    }

    /// Returns the next character; `None` at the end of the text.
    pub(super) fn peek_char(&self) -> Result<Option<char>, Incomplete> {
        self.peek()?;
        Ok(self.text[self.at..].chars().next())
    }

    /// Consumes at most `max` ASCII bytes that satisfy the predicate.
    pub(super) fn take(
        &mut self,
        max: usize,
        test: impl Fn(u8) -> bool,
    ) -> Result<&'a str, Incomplete> {
        let start = self.at;
        while self.at - start < max {
            match self.peek()? {
                Some(byte) if byte.is_ascii() && test(byte) => self.at += 1,
                _ => break,
            }
        }
        Ok(&self.text[start..self.at])
    }

    /// Consumes an ASCII literal, ignoring case, if it is next.
    pub(super) fn literal(&mut self, literal: &str) -> Result<bool, Incomplete> {
        let start = self.at;
        for wanted in literal.bytes() {
            match self.peek()? {
                Some(byte) if byte.eq_ignore_ascii_case(&wanted) => self.at += 1,
                _ => {
                    self.at = start;
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Consumes the end of the line, if it is next; the end of the text counts.
    pub(super) fn line_end(&mut self) -> Result<bool, Incomplete> {
        match self.peek()? {
            None => Ok(true),
            Some(b'\n') => {
                self.at += 1;
                Ok(true)
            }
            Some(_) => Ok(false),
        }
    }

    /// Consumes at most `max` spaces, tabs and carriage returns.
    pub(super) fn blanks(&mut self, max: usize) -> Result<(), Incomplete> {
        self.take(max, is_blank).map(drop)
    }

    /// Returns the position after blanks.
    pub(super) fn after_blanks(mut self, max: usize) -> Result<Self, Incomplete> {
        self.blanks(max)?;
        Ok(self)
    }

    /// Consumes at most `max` blanks and line ends.
    pub(super) fn whitespace(&mut self, max: usize) -> Result<(), Incomplete> {
        self.take(max, |byte| is_blank(byte) || byte == b'\n')
            .map(drop)
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

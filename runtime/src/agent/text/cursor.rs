//! A place in text that may not all have come yet.

/// What is asked cannot be told before more of the text has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Incomplete;

/// A place in a text. Whatever depends on what has not come yet is [`More`], so that it never matters in which pieces the
/// text comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// Nothing comes after the text.
    ended: bool,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, ended: bool) -> Self {
        Self { text, at: 0, ended }
    }

    /// How many bytes are behind it.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The next byte; nothing at the end of the text.
    pub(super) fn peek(&self) -> Result<Option<u8>, Incomplete> {
        match self.text.as_bytes().get(self.at) {
            Some(byte) => Ok(Some(*byte)),
            None if self.ended => Ok(None),
            None => Err(Incomplete),
        }
    }

    /// The next character; nothing at the end of the text.
    pub(super) fn peek_char(&self) -> Result<Option<char>, Incomplete> {
        self.peek()?;
        Ok(self.text[self.at..].chars().next())
    }

    /// Takes at most so many ASCII bytes for which the test holds.
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

    /// Takes this ASCII text, its case aside, if it is next.
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

    /// Takes the end of the line, if it is next; the end of the text is one.
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

    /// Takes at most so many spaces, tabs and carriage returns.
    pub(super) fn blanks(&mut self, max: usize) -> Result<(), Incomplete> {
        self.take(max, is_blank).map(drop)
    }

    /// The place after blanks.
    pub(super) fn after_blanks(mut self, max: usize) -> Result<Self, Incomplete> {
        self.blanks(max)?;
        Ok(self)
    }

    /// Takes at most so many blanks and ends of lines.
    pub(super) fn whitespace(&mut self, max: usize) -> Result<(), Incomplete> {
        self.take(max, |byte| is_blank(byte) || byte == b'\n')
            .map(drop)
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

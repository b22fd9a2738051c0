//! Skipping keys and scalars: checked to the last byte, without building anything.

#![expect(
    clippy::inline_always,
    reason = "keys and scalars are most of a message; with calls for them, reading one takes a fifth more instructions"
)]

use crate::wire::scan::SyntaxError;

/// Position in a text. It stays in registers, because all of its methods are inlined: the functions that are not take and return
/// positions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    /// Skips the key of a member, and the colon after it.
    #[inline(always)]
    pub(super) fn skip_key(&mut self) -> Result<Key, SyntaxError> {
        if self.peek() != Some(b'"') {
            return self.fail("expected a key in double quotes");
        }
        let escaped = self.skip_string()?;
        let end = self.at;
        if self.peek() != Some(b':') {
            return self.fail("expected `:`");
        }
        self.advance();
        Ok(Key { end, escaped })
    }

    /// Skips a string, a number, or one of the words.
    #[inline(always)]
    pub(super) fn skip_scalar(&mut self) -> Result<(), SyntaxError> {
        match self.byte() {
            Some(b'"') => self.skip_string().map(drop),
            Some(b'-' | b'0'..=b'9') => self.skip_number(),
            Some(b't') => self.skip_word("true"),
            Some(b'f') => self.skip_word("false"),
            Some(b'n') => self.skip_word("null"),
            _ => self.fail("expected a value"),
        }
    }

    /// Skips a string and says whether it holds an escape.
    #[inline(always)]
    pub(super) fn skip_string(&mut self) -> Result<bool, SyntaxError> {
        self.advance();
        self.skip_plain();
        if self.byte() == Some(b'"') {
            self.advance();
            return Ok(false);
        }
        self.at = escaped_end(self.text, self.at)?;
        Ok(true)
    }

    /// Skips the bytes of a string that come before its end, an escape or a control character; eight at a time.
    ///
    /// A byte of `word - ONES * n` has its upper bit set where the byte of `word` is less than `n`, unless a lower byte
    /// borrowed; the lowest such byte is never wrong, and it is the one that counts. With its second bit flipped, a quote is
    /// 0x20, and control characters are still those below: one comparison finds both.
    #[inline(always)]
    fn skip_plain(&mut self) {
        const ONES: u64 = u64::from_le_bytes([1; 8]);
        const UPPER: u64 = ONES << 7;
        let mut rest = self.rest();
        while let Some((chunk, after)) = rest.split_first_chunk() {
            let word = u64::from_le_bytes(*chunk);
            let quote_or_control = (word ^ (ONES * 0x02)).wrapping_sub(ONES * 0x21);
            let escape = (word ^ (ONES * 0x5c)).wrapping_sub(ONES);
            let special = (quote_or_control | escape) & !word & UPPER;
            if special != 0 {
                self.at += special.trailing_zeros() as usize / 8;
                return;
            }
            self.at += 8;
            rest = after;
        }
        self.at = last_plain_end(self.text, self.at);
    }

    /// Skips a number.
    #[inline(always)]
    fn skip_number(&mut self) -> Result<(), SyntaxError> {
        self.at = number_end(self.text, self.at)?;
        Ok(())
    }

    #[inline(always)]
    fn skip_digits(&mut self) -> Result<(), SyntaxError> {
        let rest = self.rest();
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += digits;
        if digits == 0 {
            self.fail("expected a digit")
        } else {
            Ok(())
        }
    }

    #[inline(always)]
    fn skip_word(&mut self, word: &'static str) -> Result<(), SyntaxError> {
        if self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(())
        } else {
            self.fail("expected a value")
        }
    }

    /// Skips white space and returns the next byte without consuming it.
    #[inline(always)]
    pub(super) fn peek(&mut self) -> Option<u8> {
        match self.byte() {
            Some(b'\0'..=b' ') => {
                self.at = space_end(self.text, self.at);
                self.byte()
            }
            byte => byte,
        }
    }

    /// Returns the bytes from the position on.
    #[inline(always)]
    pub(super) fn rest(self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    #[inline(always)]
    pub(super) fn byte(self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline(always)]
    pub(super) fn advance(&mut self) {
        self.at += 1;
    }

    #[inline(always)]
    pub(super) fn fail<T>(self, reason: &'static str) -> Result<T, SyntaxError> {
        Err(error(reason, self.at))
    }
}

#[cold]
pub(super) fn error(reason: &'static str, at: usize) -> SyntaxError {
    SyntaxError { reason, at }
}

/// Returns the position after the string whose first escape is at `at`.
#[inline(never)]
fn escaped_end(text: &str, at: usize) -> Result<usize, SyntaxError> {
    let (bytes, mut cursor) = (text.as_bytes(), Cursor { text, at });
    loop {
        match bytes.get(cursor.at) {
            Some(b'"') => return Ok(cursor.at + 1),
            Some(b'\\') => {
                cursor.at += match bytes.get(cursor.at + 1) {
                    Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
                    Some(b'u') if is_hex(bytes.get(cursor.at + 2..cursor.at + 6)) => 6,
                    _ => return cursor.fail("invalid escape in a string"),
                };
            }
            _ => return cursor.fail("unfinished string"),
        }
        cursor.skip_plain();
    }
}

/// Returns the position of the first byte from `at` on that is the end of a string, an escape or a control character.
#[cold]
fn last_plain_end(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    let is_plain = |byte: &&u8| !matches!(byte, b'"' | b'\\' | 0..0x20);
    at + rest.iter().take_while(is_plain).count()
}

/// Returns the position after the number at `at`.
fn number_end(text: &str, at: usize) -> Result<usize, SyntaxError> {
    let mut cursor = Cursor { text, at };
    if cursor.byte() == Some(b'-') {
        cursor.advance();
    }
    match cursor.byte() {
        Some(b'0') => cursor.advance(),
        _ => cursor.skip_digits()?,
    }
    if cursor.byte() == Some(b'.') {
        cursor.advance();
        cursor.skip_digits()?;
    }
    if let Some(b'e' | b'E') = cursor.byte() {
        cursor.advance();
        if let Some(b'+' | b'-') = cursor.byte() {
            cursor.advance();
        }
        cursor.skip_digits()?;
    }
    Ok(cursor.at)
}

/// Returns the position after the white space from `at` on.
#[cold]
fn space_end(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    let is_space = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    at + rest.iter().take_while(is_space).count()
}

/// Returns whether a text has a backslash; eight bytes at a time, because most texts are short.
#[inline]
pub(super) fn has_escape(text: &str) -> bool {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    let mut rest = text.as_bytes();
    while let Some((chunk, after)) = rest.split_first_chunk() {
        let word = u64::from_le_bytes(*chunk) ^ (ONES * 0x5c);
        if word.wrapping_sub(ONES) & !word & (ONES << 7) != 0 {
            return true;
        }
        rest = after;
    }
    rest.contains(&b'\\')
}

/// Where a key ends, after its closing quote, and whether it holds an escape.
pub(super) struct Key {
    pub(super) end: usize,
    pub(super) escaped: bool,
}

fn is_hex(digits: Option<&[u8]>) -> bool {
    digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

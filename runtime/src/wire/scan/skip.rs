//! Skipping of values. Every byte is checked, without recursion and without building a value.

use crate::wire::scan::{Scanner, SyntaxError};

impl Scanner<'_> {
    /// Skips an object or an array with its content, without recursion.
    pub(super) fn skip_container(&mut self) -> Result<(), SyntaxError> {
        let mut open = Open::default();
        loop {
            let ended = match self.peek() {
                Some(b'{') => self.enter(&mut open, true)?,
                Some(b'[') => self.enter(&mut open, false)?,
                _ => self.skip_scalar().map(|()| true)?,
            };
            if ended && self.leave(&mut open)? {
                return Ok(());
            }
        }
    }

    /// Opens a container and advances to its first value. Returns true if the container is empty, and so already closed.
    fn enter(&mut self, open: &mut Open, object: bool) -> Result<bool, SyntaxError> {
        self.advance();
        if open.count == self.depth {
            return self.fail("nested too deeply");
        }
        match self.peek() {
            Some(b'}') if object => self.advance(),
            Some(b']') if !object => self.advance(),
            _ => {
                open.push(object);
                return if object {
                    self.skip_key().map(|_| false)
                } else {
                    Ok(false)
                };
            }
        }
        Ok(true)
    }

    /// Closes the containers that end after a value, and advances to the next value. Returns true if there is none.
    fn leave(&mut self, open: &mut Open) -> Result<bool, SyntaxError> {
        while open.count > 0 {
            let object = open.is_object();
            match self.peek() {
                Some(b'}') if object => {}
                Some(b']') if !object => {}
                Some(b',') => {
                    self.advance();
                    return if object {
                        self.skip_key().map(|_| false)
                    } else {
                        Ok(false)
                    };
                }
                _ if object => return self.fail("expected `,` or `}`"),
                _ => return self.fail("expected `,` or `]`"),
            }
            open.pop();
            self.advance();
        }
        Ok(true)
    }

    /// Skips the key of a member and the colon after it.
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

    /// Skips a string, a number or a literal name.
    pub(super) fn skip_scalar(&mut self) -> Result<(), SyntaxError> {
        match self.byte() {
            Some(b'"') => self.skip_string().map(drop),
            Some(b'-' | b'0'..=b'9') => self.skip_number(),
            Some(b't') => self.skip_literal("true"),
            Some(b'f') => self.skip_literal("false"),
            Some(b'n') => self.skip_literal("null"),
            _ => self.fail("expected a value"),
        }
    }

    /// Skips a string. Returns true if it contains an escape.
    fn skip_string(&mut self) -> Result<bool, SyntaxError> {
        let bytes = self.text.as_bytes();
        let mut escaped = false;
        self.at += 1;
        loop {
            self.at += plain_bytes(&bytes[self.at..]);
            match bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(escaped);
                }
                Some(b'\\') => {
                    escaped = true;
                    self.at += match bytes.get(self.at + 1) {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
                        Some(b'u') if is_hex(bytes.get(self.at + 2..self.at + 6)) => 6,
                        _ => return self.fail("invalid escape in a string"),
                    };
                }
                _ => return self.fail("unfinished string"),
            }
        }
    }

    fn skip_number(&mut self) -> Result<(), SyntaxError> {
        if self.byte() == Some(b'-') {
            self.advance();
        }
        match self.byte() {
            Some(b'0') => self.advance(),
            _ => self.skip_digits()?,
        }
        if self.byte() == Some(b'.') {
            self.advance();
            self.skip_digits()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.advance();
            if let Some(b'+' | b'-') = self.byte() {
                self.advance();
            }
            self.skip_digits()?;
        }
        Ok(())
    }

    fn skip_digits(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.byte() {
            self.advance();
        }
        if start == self.at {
            self.fail("expected a digit")
        } else {
            Ok(())
        }
    }

    fn skip_literal(&mut self, word: &'static str) -> Result<(), SyntaxError> {
        if self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(())
        } else {
            self.fail("expected a value")
        }
    }
}

/// Key that was skipped. `end` is the position after its closing quote.
pub(super) struct Key {
    pub(super) end: usize,
    pub(super) escaped: bool,
}

/// Stack of open containers, as one bit each: 1 for an object, 0 for an array.
#[derive(Default)]
struct Open {
    count: u32,
    kinds: u128,
}

impl Open {
    fn push(&mut self, object: bool) {
        self.count += 1;
        self.kinds = self.kinds << 1 | u128::from(object);
    }

    fn pop(&mut self) {
        self.count -= 1;
        self.kinds >>= 1;
    }

    fn is_object(&self) -> bool {
        self.kinds & 1 == 1
    }
}

/// Counts the bytes before the end of a string, an escape or a control character. Reads eight bytes at a time.
///
/// A byte of `word - ONES * n` has its upper bit set where the byte of `word` is less than `n`. A borrow can set the bit of a
/// higher byte wrongly, but only the lowest such byte is used, and that one is always right.
fn plain_bytes(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const UPPER: u64 = ONES << 7;
    let mut plain = 0;
    while let Some(chunk) = bytes[plain..].first_chunk() {
        let word = u64::from_le_bytes(*chunk);
        let (quote, escape) = (word ^ (ONES * 0x22), word ^ (ONES * 0x5c));
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        let special =
            control | quote.wrapping_sub(ONES) & !quote | escape.wrapping_sub(ONES) & !escape;
        if special & UPPER != 0 {
            return plain + (special & UPPER).trailing_zeros() as usize / 8;
        }
        plain += 8;
    }
    let special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
    plain
        + bytes[plain..]
            .iter()
            .position(special)
            .unwrap_or(bytes.len() - plain)
}

fn is_hex(digits: Option<&[u8]>) -> bool {
    digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

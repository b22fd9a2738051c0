//! Skipping a value: checked to the last byte, without recursion and without building anything.

#![expect(
    clippy::inline_always,
    reason = "keys and scalars are most of a message; with calls for them, reading one takes a fifth more instructions"
)]

use crate::wire::scan::{Scanner, SyntaxError, TOO_DEEP};

impl Scanner<'_> {
    /// Skips an object or an array, with everything in it, without recursion.
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
            if open.is_object() {
                self.skip_key()?;
            }
        }
    }

    /// Opens a container; says whether it ended at once, being empty.
    fn enter(&mut self, open: &mut Open, object: bool) -> Result<bool, SyntaxError> {
        self.advance();
        if open.count == self.depth {
            return self.fail(TOO_DEEP);
        }
        match self.peek() {
            Some(b'}') if object => self.advance(),
            Some(b']') if !object => self.advance(),
            _ => {
                open.push(object);
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// After a value: closes the containers that end here, up to the comma before the next one; says whether there is none.
    fn leave(&mut self, open: &mut Open) -> Result<bool, SyntaxError> {
        while open.count > 0 {
            let object = open.is_object();
            match self.peek() {
                Some(b'}') if object => {}
                Some(b']') if !object => {}
                Some(b',') => {
                    self.advance();
                    return Ok(false);
                }
                _ if object => return self.fail("expected `,` or `}`"),
                _ => return self.fail("expected `,` or `]`"),
            }
            open.pop();
            self.advance();
        }
        Ok(true)
    }

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
        self.skip_escaped().map(|()| true)
    }

    /// Skips the rest of a string from its first escape on.
    #[inline(never)]
    fn skip_escaped(&mut self) -> Result<(), SyntaxError> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at) {
                Some(b'"') => {
                    self.advance();
                    return Ok(());
                }
                Some(b'\\') => {
                    self.at += match bytes.get(self.at + 1) {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
                        Some(b'u') if is_hex(bytes.get(self.at + 2..self.at + 6)) => 6,
                        _ => return self.fail("invalid escape in a string"),
                    };
                }
                _ => return self.fail("unfinished string"),
            }
            self.skip_plain();
        }
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
        let mut rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
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
        self.skip_last_plain();
    }

    /// The same for the last bytes of the text.
    #[cold]
    fn skip_last_plain(&mut self) {
        while self
            .byte()
            .is_some_and(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20))
        {
            self.advance();
        }
    }

    #[inline]
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

    #[inline]
    fn skip_digits(&mut self) -> Result<(), SyntaxError> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += digits;
        if digits == 0 {
            self.fail("expected a digit")
        } else {
            Ok(())
        }
    }

    fn skip_word(&mut self, word: &'static str) -> Result<(), SyntaxError> {
        if self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(())
        } else {
            self.fail("expected a value")
        }
    }
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

/// The containers that are open: how many, and a bit for each, 1 for an object and 0 for an array.
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

fn is_hex(digits: Option<&[u8]>) -> bool {
    digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

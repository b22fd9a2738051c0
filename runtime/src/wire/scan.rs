//! Walks over JSON text without building values: checks it, and cuts out the members of an object.
//!
//! This is the one pass over a message before its arguments are read with their types. It accepts exactly RFC 8259,
//! keeps slices of the input instead of copies, and bounds nesting without recursion.

use std::borrow::Cow;
use std::fmt;

/// The deepest nesting that [`Scanner`] can be told to accept; one bit each is kept on the stack.
pub(crate) const DEEPEST: u32 = 128;

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
}

impl<'a> Scanner<'a> {
    /// Starts at the beginning of `text`; values nested deeper than `depth` (at most [`DEEPEST`]) are refused.
    pub(crate) fn new(text: &'a str, depth: u32) -> Self {
        Self {
            text,
            at: 0,
            depth: depth.min(DEEPEST),
        }
    }

    /// The next byte that is not white space, without taking it.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = bytes.get(self.at) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    /// Checks one value of any kind and returns its text.
    pub(crate) fn value(&mut self) -> Result<&'a str, SyntaxError> {
        self.peek();
        let start = self.at;
        self.skip_value()?;
        Ok(&self.text[start..self.at])
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
            .ok_or(self.error("nested too deeply"))?;
        Ok(start)
    }

    /// The text from `start` up to here.
    pub(crate) fn since(&self, start: usize) -> &'a str {
        &self.text[start..self.at]
    }

    /// The key of the next member, or `None` after the closing brace. `first` is true right after the opening brace.
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

    /// Takes the opening bracket; the elements follow with [`Scanner::next_element`].
    pub(crate) fn open_array(&mut self) -> Result<(), SyntaxError> {
        match self.peek() {
            Some(b'[') => self.advance(),
            _ => return self.fail("expected an array"),
        }
        self.depth = self
            .depth
            .checked_sub(1)
            .ok_or(self.error("nested too deeply"))?;
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

    fn key(&mut self) -> Result<Cow<'a, str>, SyntaxError> {
        if self.peek() != Some(b'"') {
            return self.fail("expected a key in double quotes");
        }
        let start = self.at;
        let escaped = self.skip_string()?;
        let text = &self.text[start..self.at];
        if self.peek() != Some(b':') {
            return self.fail("expected `:`");
        }
        self.advance();
        if escaped {
            self.unescape(text)
        } else {
            Ok(Cow::Borrowed(&text[1..text.len() - 1]))
        }
    }

    fn unescape(&self, text: &str) -> Result<Cow<'a, str>, SyntaxError> {
        serde_json::from_str(text)
            .map(Cow::Owned)
            .or_else(|_| self.fail("invalid escape in a key"))
    }

    /// Skips one value, with everything in it, without recursion.
    fn skip_value(&mut self) -> Result<(), SyntaxError> {
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

    /// Opens a container, up to its first value; says whether it ended at once, being empty.
    fn enter(&mut self, open: &mut Open, object: bool) -> Result<bool, SyntaxError> {
        self.advance();
        if open.count == self.depth {
            return self.fail("nested too deeply");
        }
        open.push(object);
        match self.peek() {
            Some(b'}') if object => {}
            Some(b']') if !object => {}
            _ if object => return self.key().map(|_| false),
            _ => return Ok(false),
        }
        open.pop();
        self.advance();
        Ok(true)
    }

    /// After a value: closes the containers that end here, and goes on to the next value; says whether there is none.
    fn leave(&mut self, open: &mut Open) -> Result<bool, SyntaxError> {
        while open.count > 0 {
            let object = open.is_object();
            match self.peek() {
                Some(b'}') if object => {}
                Some(b']') if !object => {}
                Some(b',') => {
                    self.advance();
                    return if object {
                        self.key().map(|_| false)
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

    fn skip_scalar(&mut self) -> Result<(), SyntaxError> {
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

    fn skip_word(&mut self, word: &'static str) -> Result<(), SyntaxError> {
        if self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(())
        } else {
            self.fail("expected a value")
        }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn advance(&mut self) {
        self.at += 1;
    }

    fn error(&self, what: &'static str) -> SyntaxError {
        SyntaxError { what, at: self.at }
    }

    fn fail<T>(&self, what: &'static str) -> Result<T, SyntaxError> {
        Err(self.error(what))
    }
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

/// How many bytes of a string come before its end, an escape or a control character; eight at a time.
///
/// A byte of `word - ONES * n` has its upper bit set where the byte of `word` is less than `n`, unless a lower byte
/// borrowed; the lowest such byte is never wrong, and it is the one that counts.
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

/// The members of an object, in order: key and text of the value.
#[derive(Debug)]
pub(crate) struct Members<'a> {
    scanner: Scanner<'a>,
    first: bool,
}

impl<'a> Members<'a> {
    /// Opens the object that `text` consists of.
    pub(crate) fn new(text: &'a str) -> Result<Self, SyntaxError> {
        let mut scanner = Scanner::new(text, DEEPEST);
        scanner.open_object()?;
        Ok(Self {
            scanner,
            first: true,
        })
    }

    /// The next member, or `None` at the end of the object and of the text.
    pub(crate) fn next(&mut self) -> Result<Option<(Cow<'a, str>, &'a str)>, SyntaxError> {
        let Some(key) = self.scanner.next_member(self.first)? else {
            self.scanner.end()?;
            return Ok(None);
        };
        self.first = false;
        Ok(Some((key, self.scanner.value()?)))
    }
}

/// The string that `text`, one checked JSON value, stands for, if it is a string.
pub(crate) fn as_string(text: &str) -> Option<Cow<'_, str>> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        serde_json::from_str(text).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<(), SyntaxError> {
        let mut scanner = Scanner::new(text, DEEPEST);
        scanner.value()?;
        scanner.end()
    }

    #[test]
    fn accepts_what_serde_json_accepts() {
        let texts = [
            "{}",
            "[]",
            "null",
            "true",
            "false",
            "0",
            "-0",
            "1.5e+10",
            "\"\"",
            "\"a\\u00e9\\n\"",
            " { \"a\" : [ 1 , { } ] } ",
            "[[],{},[{}]]",
            "{\"a\":{\"b\":[1,2,{\"c\":null}]},\"d\":\"\\\\\"}",
            "",
            "{",
            "}",
            "[1,]",
            "{\"a\":1,}",
            "{,}",
            "01",
            "1.",
            ".5",
            "-",
            "1e",
            "+1",
            "tru",
            "nul",
            "\"",
            "\"\\x\"",
            "\"\\u12\"",
            "{\"a\"}",
            "{a:1}",
            "[1 2]",
            "{\"a\" 1}",
            "\"\t\"",
            "[}",
            "{]",
            "1 1",
            "\u{feff}1",
            "\"\\",
            "[\"\\\"]",
            "{\"a\":1}}",
            "{\"\\u0061\":1}",
            "NaN",
            "[,1]",
        ];
        for text in texts {
            let expected = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
            assert_eq!(check(text).is_ok(), expected, "{text}: {:?}", check(text));
        }
    }

    /// Changes one byte after the other of a valid text at random, and compares what both parsers say.
    #[test]
    fn agrees_with_serde_json_on_mutated_texts() {
        let seed = br#"{"a":[1,-2.5e3,{"b\u00e9":"x\\y"},true,null],"c":{},"d":[[]]}"#;
        let alphabet = br#"{}[]":,\ue+-.019tfn 	x"#;
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..20_000 {
            let mut text = seed.to_vec();
            for _ in 0..=random.usize(..3) {
                let (at, byte) = (
                    random.usize(..text.len()),
                    alphabet[random.usize(..alphabet.len())],
                );
                match random.usize(..3) {
                    0 => text[at] = byte,
                    1 => text.insert(at, byte),
                    _ => drop(text.remove(at)),
                }
            }
            let Ok(text) = String::from_utf8(text) else {
                continue;
            };
            // serde_json refuses half of a surrogate pair; JSON itself does not, and nothing here reads it.
            let expected = serde_json::from_str::<serde::de::IgnoredAny>(&text);
            assert_eq!(
                check(&text).is_ok(),
                expected.is_ok(),
                "{text} {expected:?} {:?}",
                check(&text)
            );
        }
    }

    #[test]
    fn nesting_is_bounded_in_objects_and_arrays() {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let nested = |depth| open.repeat(depth) + "1" + &close.repeat(depth);
            assert_eq!(check(&nested(128)), Ok(()));
            assert!(check(&nested(129)).is_err_and(|error| error.what == "nested too deeply"));
        }
    }

    #[test]
    fn members_are_cut_out_with_their_keys_unescaped() {
        let mut members = Members::new(r#"{"a":[1, 2] , "b\u0063" : "x"}"#).expect("an object");
        assert_eq!(members.next(), Ok(Some(("a".into(), "[1, 2]"))));
        assert_eq!(members.next(), Ok(Some(("bc".into(), "\"x\""))));
        assert_eq!(members.next(), Ok(None));
    }
}

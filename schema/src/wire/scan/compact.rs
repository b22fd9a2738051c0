//! Reading of texts as most peers write them, without white space.

use super::Scanner;

impl<'a> Scanner<'a> {
    /// Consumes `text`, if it is next.
    #[cfg(feature = "client")]
    #[inline]
    pub(crate) fn skip_exact(&mut self, text: &str) -> bool {
        let rest = self.cursor.rest();
        let is_next = rest.starts_with(text.as_bytes());
        if is_next {
            self.cursor.at += text.len();
        }
        is_next
    }

    /// Reads with `read`, and returns to the current position if that returns `None`.
    #[cfg(feature = "client")]
    #[inline]
    pub(crate) fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let (at, depth) = (self.cursor.at, self.depth);
        let found = read(self);
        if found.is_none() {
            (self.cursor.at, self.depth) = (at, depth);
        }
        found
    }

    /// Consumes the key of the next member and its colon, if they are written as `key`, and no white space is before or after
    /// them. Otherwise nothing is consumed, and the result is false.
    #[inline]
    pub(crate) fn skip_compact_key(&mut self, first: bool, key: &str) -> bool {
        let rest = self.cursor.rest();
        let (comma, rest) = match (first, rest) {
            (false, [b',', rest @ ..]) => (1, rest),
            (false, _) => return false,
            (true, _) => (0, rest),
        };
        let value = rest.strip_prefix(key.as_bytes());
        let is_next = value
            .and_then(<[u8]>::first)
            .is_some_and(|byte| *byte > b' ');
        if is_next {
            self.cursor.at += comma + key.len();
        }
        is_next
    }

    /// Returns the integer that is next in a text that has been checked, if a comma or a brace follows it. Otherwise nothing is
    /// consumed.
    #[inline]
    pub(crate) fn compact_integer(&mut self) -> Option<&'a str> {
        let start = self.cursor.at;
        let rest = self.cursor.text.as_bytes().get(start..)?;
        let is_digit = |byte: &&u8| matches!(byte, b'-' | b'0'..=b'9');
        let length = rest.iter().take_while(is_digit).count();
        if length == 0 || !matches!(rest.get(length), Some(b',' | b'}')) {
            return None;
        }
        self.cursor.at += length;
        Some(self.since(start))
    }
}

//! Iteration over the members of an object whose JSON has been checked.

use std::borrow::Cow;

use crate::wire::{DEEPEST, Scanner, SyntaxError};

/// Members of an object in order, as key and JSON text of the value.
#[derive(Debug)]
pub struct Members<'a> {
    scanner: Scanner<'a>,
    first: bool,
}

impl<'a> Members<'a> {
    /// Opens the object in `text`.
    #[inline]
    pub fn new(text: &'a str) -> Result<Self, SyntaxError> {
        let mut scanner = Scanner::new(text, DEEPEST);
        scanner.open_object()?;
        Ok(Self {
            scanner,
            first: true,
        })
    }

    /// Consumes the key of the next member if it is written as `key`: the key in double quotes and a colon, without white space
    /// around them. Its value must be read next. With `false`, nothing has been consumed.
    #[inline]
    pub fn skip_key(&mut self, key: &str) -> bool {
        let is_next = self.scanner.skip_compact_key(self.first, key);
        self.first &= !is_next;
        is_next
    }

    /// Returns the value after a [skipped](Members::skip_key) key.
    #[inline]
    pub fn value(&mut self) -> Result<&'a str, SyntaxError> {
        self.scanner.value()
    }

    /// As [`Members::value`], but faster for an integer. Returns `None` for another value, and for one before white space.
    #[inline]
    pub fn integer(&mut self) -> Option<&'a str> {
        self.scanner.compact_integer()
    }

    /// Returns the next member, or `None` at the end of the object and of the text.
    #[expect(clippy::should_implement_trait, reason = "each step may fail")]
    #[inline]
    pub fn next(&mut self) -> Result<Option<(Cow<'a, str>, &'a str)>, SyntaxError> {
        let Some(key) = self.scanner.next_member(self.first)? else {
            self.scanner.end()?;
            return Ok(None);
        };
        self.first = false;
        Ok(Some((key, self.scanner.value()?)))
    }
}

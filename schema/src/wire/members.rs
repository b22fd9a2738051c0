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

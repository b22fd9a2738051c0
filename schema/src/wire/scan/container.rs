//! Skipping an object or an array: checked to the last byte, without recursion and without building anything.

#![expect(clippy::inline_always, reason = "see the module `skip`")]

use crate::wire::scan::skip::Cursor;
use crate::wire::scan::{SyntaxError, TOO_DEEP};

/// Returns the position after the object or array at `at`, with everything in it.
pub(super) fn container_end(text: &str, at: usize, depth: u32) -> Result<usize, SyntaxError> {
    let (mut cursor, mut open) = (Cursor { text, at }, Open::default());
    loop {
        let ended = match cursor.peek() {
            Some(b'{') => cursor.enter(&mut open, depth, true)?,
            Some(b'[') => cursor.enter(&mut open, depth, false)?,
            _ => cursor.skip_scalar().map(|()| true)?,
        };
        if ended && cursor.leave(&mut open)? {
            return Ok(cursor.at);
        }
        if open.is_object() {
            cursor.skip_key()?;
        }
    }
}

impl Cursor<'_> {
    /// Opens a container; says whether it ended at once, being empty.
    #[inline(always)]
    fn enter(&mut self, open: &mut Open, depth: u32, object: bool) -> Result<bool, SyntaxError> {
        self.advance();
        if open.count == depth {
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
    #[inline(always)]
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

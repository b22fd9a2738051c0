//! Code fences of Markdown.

use crate::text::cursor::{Cursor, Incomplete};

/// Maximum indentation of a line.
pub(super) const MAX_INDENT: usize = 16;

/// Maximum number of marks of a fence, and of bytes after them.
const MAX_FENCE_BYTES: usize = 64;

/// An open fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fence {
    mark: u8,
    count: usize,
}

impl Fence {
    /// Consumes a line that opens a fence, if it is next.
    pub(super) fn open(cursor: &mut Cursor<'_>) -> Result<Option<Self>, Incomplete> {
        let mut line = *cursor;
        let Some(fence) = Self::marks(&mut line)? else {
            return Ok(None);
        };
        line.take(MAX_FENCE_BYTES, |byte| byte != b'`' && byte != b'\n')?;
        if !line.line_end()? {
            return Ok(None);
        }
        *cursor = line;
        Ok(Some(fence))
    }

    /// Consumes the opening marks of a fence and the language after them, if they are next, anywhere in a line.
    pub(super) fn open_inline(cursor: &mut Cursor<'_>) -> Result<Option<Self>, Incomplete> {
        let mut ahead = *cursor;
        let Some(fence) = Self::marks(&mut ahead)? else {
            return Ok(None);
        };
        ahead.take(MAX_FENCE_BYTES, |byte| {
            byte.is_ascii_alphanumeric() || byte == b'_'
        })?;
        *cursor = ahead;
        Ok(Some(fence))
    }

    fn marks(cursor: &mut Cursor<'_>) -> Result<Option<Self>, Incomplete> {
        cursor.blanks(MAX_INDENT)?;
        let Some(mark @ (b'`' | b'~')) = cursor.peek()? else {
            return Ok(None);
        };
        let count = cursor.take(MAX_FENCE_BYTES, |byte| byte == mark)?.len();
        Ok((count >= 3).then_some(Self { mark, count }))
    }

    /// Consumes the line that closes this fence, if it is next.
    pub(super) fn close(self, cursor: &mut Cursor<'_>) -> Result<bool, Incomplete> {
        let mut line = *cursor;
        line.blanks(MAX_INDENT)?;
        let count = line.take(MAX_FENCE_BYTES, |byte| byte == self.mark)?.len();
        if count < self.count {
            return Ok(false);
        }
        line.blanks(MAX_FENCE_BYTES)?;
        let closed = line.line_end()?;
        if closed {
            *cursor = line;
        }
        Ok(closed)
    }
}

//! The fences of code in Markdown.

use crate::tool_loop::text::cursor::{Cursor, More};

/// How far a line may be indented.
pub(super) const INDENT: usize = 16;

/// How long the marks of a fence may be, and what stands behind them.
const LONGEST: usize = 64;

/// A fence that has been opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fence {
    mark: u8,
    count: usize,
}

impl Fence {
    /// Takes the line that opens a fence, if it is next.
    pub(super) fn open(cursor: &mut Cursor<'_>) -> Result<Option<Self>, More> {
        let mut line = *cursor;
        let Some(fence) = Self::marks(&mut line)? else {
            return Ok(None);
        };
        line.take(LONGEST, |byte| byte != b'`' && byte != b'\n')?;
        if !line.line_end()? {
            return Ok(None);
        }
        *cursor = line;
        Ok(Some(fence))
    }

    /// Takes the marks that open a fence and the language behind them, if they are next, wherever in a line.
    pub(super) fn open_inline(cursor: &mut Cursor<'_>) -> Result<Option<Self>, More> {
        let mut ahead = *cursor;
        let Some(fence) = Self::marks(&mut ahead)? else {
            return Ok(None);
        };
        ahead.take(LONGEST, |byte| byte.is_ascii_alphanumeric() || byte == b'_')?;
        *cursor = ahead;
        Ok(Some(fence))
    }

    fn marks(cursor: &mut Cursor<'_>) -> Result<Option<Self>, More> {
        cursor.blanks(INDENT)?;
        let Some(mark @ (b'`' | b'~')) = cursor.peek()? else {
            return Ok(None);
        };
        let count = cursor.take(LONGEST, |byte| byte == mark)?.len();
        Ok((count >= 3).then_some(Self { mark, count }))
    }

    /// Takes the line that closes this fence, if it is next.
    pub(super) fn close(self, cursor: &mut Cursor<'_>) -> Result<bool, More> {
        let mut line = *cursor;
        line.blanks(INDENT)?;
        let count = line.take(LONGEST, |byte| byte == self.mark)?.len();
        if count < self.count {
            return Ok(false);
        }
        line.blanks(LONGEST)?;
        let closed = line.line_end()?;
        if closed {
            *cursor = line;
        }
        Ok(closed)
    }
}

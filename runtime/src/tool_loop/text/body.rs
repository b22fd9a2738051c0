//! The arguments of a call, as they come.

use crate::tool_loop::text::cursor::{Cursor, More};
use crate::tool_loop::text::fence::Fence;
use crate::tool_loop::text::object::Scanner;

/// How many marks and blanks behind a call belong to it.
const BEHIND: usize = 64;

/// How much is kept of arguments that are too long, to show them to the model.
const SHOWN: usize = 1024;

/// The arguments of a call.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) name: String,
    /// The fence that they have of their own.
    pub(super) fence: Option<Fence>,
    pub(super) scanner: Scanner,
    /// How much of what is pending stands before them.
    pub(super) start: usize,
    /// How much of what is pending has been looked at.
    seen: usize,
    /// How the call begins, if it is too long to be kept.
    pub(super) dropped: Option<String>,
}

impl Body {
    pub(super) fn new(name: String, fence: Option<Fence>, start: usize) -> Self {
        Self {
            name,
            fence,
            scanner: Scanner::default(),
            start,
            seen: start,
            dropped: None,
        }
    }

    /// How much of what is pending belongs to the call, if its end has come.
    pub(super) fn end(&mut self, pending: &str, most: usize) -> Option<usize> {
        let end = self.scanner.end(&pending.as_bytes()[self.seen..]);
        let end = end.map(|end| self.seen + end);
        self.seen = end.unwrap_or(pending.len());
        if self.dropped.is_none() && self.seen - self.start > most {
            let mut shown = self.start + most.min(SHOWN);
            while !pending.is_char_boundary(shown) {
                shown -= 1;
            }
            self.dropped = Some(format!("{}…", &pending[..shown]));
        }
        end
    }

    /// Says that what was pending is not any more.
    pub(super) fn forget(&mut self) {
        self.start = 0;
        self.seen = 0;
    }
}

/// How much of what stands behind a call belongs to it: closing marks, and the end of the line.
pub(super) fn behind(cursor: Cursor<'_>, fence: Option<Fence>) -> Result<usize, More> {
    if let Some(fence) = fence {
        let mut ahead = cursor;
        ahead.white(BEHIND)?;
        if fence.close(&mut ahead)? {
            return Ok(ahead.at());
        }
    }
    let mut ahead = cursor;
    ahead.take(BEHIND, |byte| matches!(byte, b'*' | b'`'))?;
    ahead.blanks(BEHIND)?;
    let is_all = ahead.line_end()?;
    Ok(if is_all { ahead.at() } else { 0 })
}

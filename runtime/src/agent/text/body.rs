//! The arguments of a call, as they come.

use crate::agent::text::cursor::{Cursor, Incomplete};
use crate::agent::text::fence::Fence;
use crate::agent::text::object::Scanner;

/// How many marks and blanks behind a call belong to it.
const MAX_TRAILING_BYTES: usize = 64;

/// How much is kept of arguments that are too long, to show them to the model.
const EXCERPT_BYTES: usize = 1024;

/// The arguments of a call.
#[derive(Debug)]
pub(super) struct ArgumentBody {
    pub(super) name: String,
    /// The fence that they have of their own.
    pub(super) fence: Option<Fence>,
    pub(super) scanner: Scanner,
    /// How much of what is pending stands before them.
    pub(super) start: usize,
    /// How much of what is pending has been looked at.
    scanned: usize,
    /// How the call begins, if it is too long to be kept.
    pub(super) excerpt: Option<String>,
}

impl ArgumentBody {
    pub(super) fn new(name: String, fence: Option<Fence>, start: usize) -> Self {
        Self {
            name,
            fence,
            scanner: Scanner::default(),
            start,
            scanned: start,
            excerpt: None,
        }
    }

    /// How much of what is pending belongs to the call, if its end has come.
    pub(super) fn end(&mut self, pending: &str, max: usize) -> Option<usize> {
        let end = self.scanner.end(&pending.as_bytes()[self.scanned..]);
        let end = end.map(|end| self.scanned + end);
        self.scanned = end.unwrap_or(pending.len());
        if self.excerpt.is_none() && self.scanned - self.start > max {
            let mut excerpt_end = self.start + max.min(EXCERPT_BYTES);
            while !pending.is_char_boundary(excerpt_end) {
                excerpt_end -= 1;
            }
            self.excerpt = Some(format!("{}…", &pending[..excerpt_end]));
        }
        end
    }

    /// Says that what was pending is not any more.
    pub(super) fn reset(&mut self) {
        self.start = 0;
        self.scanned = 0;
    }
}

/// How much of what stands behind a call belongs to it: closing marks, and the end of the line.
pub(super) fn trailing_len(cursor: Cursor<'_>, fence: Option<Fence>) -> Result<usize, Incomplete> {
    if let Some(fence) = fence {
        let mut ahead = cursor;
        ahead.whitespace(MAX_TRAILING_BYTES)?;
        if fence.close(&mut ahead)? {
            return Ok(ahead.at());
        }
    }
    let mut ahead = cursor;
    ahead.take(MAX_TRAILING_BYTES, |byte| matches!(byte, b'*' | b'`'))?;
    ahead.blanks(MAX_TRAILING_BYTES)?;
    let is_all = ahead.line_end()?;
    Ok(if is_all { ahead.at() } else { 0 })
}

//! Arguments of a call, parsed incrementally.

use crate::text::cursor::{Cursor, Incomplete};
use crate::text::fence::Fence;
use crate::text::object::Scanner;

/// Maximum number of marks and blanks after a call that belong to it.
const MAX_TRAILING_BYTES: usize = 64;

/// Size of the excerpt of oversized arguments that the model receives, in bytes.
const EXCERPT_BYTES: usize = 1024;

/// Arguments of a call.
#[derive(Debug)]
pub(super) struct ArgumentBody {
    pub(super) name: String,
    /// Fence around the arguments only.
    pub(super) fence: Option<Fence>,
    pub(super) scanner: Scanner,
    /// Offset of the arguments in the pending text.
    pub(super) start: usize,
    /// Offset in the pending text up to which it has been scanned.
    scanned: usize,
    /// Start of the call, if the call is too long to be buffered.
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

    /// Returns the end of the call in the pending text, if it has arrived.
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

    /// Resets the offsets after the pending text has been discarded.
    pub(super) fn reset(&mut self) {
        self.start = 0;
        self.scanned = 0;
    }
}

/// Length of the text after a call that belongs to it: closing marks, and the end of the line.
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

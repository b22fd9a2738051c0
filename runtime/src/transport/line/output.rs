//! The bytes that wait to be written, many answers per write.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::AsyncWrite;

use crate::wire::{is_one_line, keep_one_line};

/// Answers on their way to the peer.
pub(super) struct Output<W> {
    writer: W,
    pub(super) bytes: Vec<u8>,
    written: usize,
    flushed: bool,
}

impl<W: AsyncWrite + Unpin> Output<W> {
    pub(super) fn new(writer: W) -> Self {
        Self {
            writer,
            bytes: Vec::new(),
            written: 0,
            flushed: true,
        }
    }

    pub(super) fn waiting(&self) -> usize {
        self.bytes.len() - self.written
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting() == 0 && self.flushed
    }

    pub(super) fn push_line(&mut self, line: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(line);
        keep_one_line(&mut self.bytes[start..]);
        self.end_line(start);
    }

    /// Ends what has been appended since `start`, if anything, as a line.
    pub(super) fn end_line(&mut self, start: usize) {
        if self.bytes.len() > start {
            debug_assert!(
                is_one_line(&self.bytes[start..]),
                "a message has a line end"
            );
            self.bytes.push(b'\n');
        }
    }

    /// Writes what the writer takes now.
    pub(super) fn poll_write(&mut self, context: &mut Context<'_>) -> io::Result<bool> {
        let mut progress = false;
        while self.waiting() > 0 {
            match Pin::new(&mut self.writer).poll_write(context, &self.bytes[self.written..])? {
                Poll::Ready(0) => return Err(ErrorKind::WriteZero.into()),
                Poll::Ready(count) => self.written += count,
                Poll::Pending => return Ok(progress),
            }
            (progress, self.flushed) = (true, false);
        }
        self.recycle();
        if !self.flushed {
            match Pin::new(&mut self.writer).poll_flush(context)? {
                Poll::Ready(()) => (progress, self.flushed) = (true, true),
                Poll::Pending => {}
            }
        }
        Ok(progress)
    }

    /// Starts over in the same memory, unless a burst has made it large.
    fn recycle(&mut self) {
        const KEPT: usize = 256 * 1024;
        self.bytes.clear();
        self.bytes.shrink_to(KEPT);
        self.written = 0;
    }
}

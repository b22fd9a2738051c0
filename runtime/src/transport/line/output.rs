//! Output buffer, with many messages per write.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::AsyncWrite;

use crate::wire::{is_one_line, keep_one_line};

/// Buffer for output to the peer.
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

    pub(super) fn pending_bytes(&self) -> usize {
        self.bytes.len() - self.written
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pending_bytes() == 0 && self.flushed
    }

    pub(super) fn push_line(&mut self, line: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(line);
        keep_one_line(&mut self.bytes[start..]);
        self.end_line(start);
    }

    /// Terminates the line that starts at `start`, if it is not empty.
    pub(super) fn end_line(&mut self, start: usize) {
        if self.bytes.len() > start {
            debug_assert!(
                is_one_line(&self.bytes[start..]),
                "a message has a line end"
            );
            self.bytes.push(b'\n');
        }
    }

    /// Writes and flushes as far as possible without blocking. Returns true if there was progress.
    pub(super) fn poll_write(&mut self, context: &mut Context<'_>) -> io::Result<bool> {
        let mut progress = false;
        while self.pending_bytes() > 0 {
            match Pin::new(&mut self.writer).poll_write(context, &self.bytes[self.written..])? {
                Poll::Ready(0) => return Err(ErrorKind::WriteZero.into()),
                Poll::Ready(count) => self.written += count,
                Poll::Pending => {
                    self.drop_written();
                    return Ok(progress);
                }
            }
            (progress, self.flushed) = (true, false);
        }
        self.reset_buffer();
        if !self.flushed {
            match Pin::new(&mut self.writer).poll_flush(context)? {
                Poll::Ready(()) => (progress, self.flushed) = (true, true),
                Poll::Pending => {}
            }
        }
        Ok(progress)
    }

    /// Drops the bytes that have been written, if they are most of the buffer. A peer that reads slowly may never empty it.
    fn drop_written(&mut self) {
        if self.written > self.pending_bytes() {
            self.bytes.drain(..self.written);
            self.written = 0;
        }
    }

    /// Clears the buffer, and releases memory that a burst of output has allocated.
    fn reset_buffer(&mut self) {
        const MAX_IDLE_CAPACITY: usize = 256 * 1024;
        self.bytes.clear();
        self.bytes.shrink_to(MAX_IDLE_CAPACITY);
        self.written = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    /// Writer that accepts 1 KiB in every second call.
    struct Slow(bool);

    impl AsyncWrite for Slow {
        fn poll_write(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            let this = self.get_mut();
            this.0 = !this.0;
            if this.0 {
                Poll::Ready(Ok(bytes.len().min(1_024)))
            } else {
                Poll::Pending
            }
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[test]
    fn a_peer_that_reads_slowly_takes_no_more_memory_than_its_backlog() {
        let mut output = Output::new(Slow(false));
        let mut context = Context::from_waker(Waker::noop());
        output.push_line(&vec![b'x'; 64 << 10]);
        for _ in 0..10_000 {
            output.push_line(&[b'x'; 1_023]);
            output.poll_write(&mut context).unwrap();
            assert!(output.pending_bytes() >= 64 << 10);
        }
        assert!(output.bytes.capacity() < 512 << 10);
    }
}

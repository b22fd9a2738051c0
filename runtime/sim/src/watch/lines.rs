//! Stream of a server with one message per line, watched.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::Monitor;
use crate::network::SimStream;
use crate::world::lock;

/// Stream of a server with one message per line.
pub(crate) struct WatchedLines {
    stream: SimStream,
    monitor: Arc<Mutex<Monitor>>,
    received: Vec<u8>,
    sent: Vec<u8>,
}

impl WatchedLines {
    pub(crate) fn new(stream: SimStream, monitor: Arc<Mutex<Monitor>>) -> Self {
        Self {
            stream,
            monitor,
            received: Vec::new(),
            sent: Vec::new(),
        }
    }
}

/// Adds bytes, and passes each complete line to `handle`.
fn add_lines(buffer: &mut Vec<u8>, bytes: &[u8], mut handle: impl FnMut(&[u8])) {
    buffer.extend_from_slice(bytes);
    while let Some(end) = buffer.iter().position(|byte| *byte == b'\n') {
        let line: Vec<u8> = buffer.drain(..=end).collect();
        handle(&line[..end]);
    }
}

impl AsyncRead for WatchedLines {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(context, buffer))?;
        let monitor = &this.monitor;
        add_lines(&mut this.received, &buffer.filled()[before..], |line| {
            lock(monitor).received(line);
        });
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for WatchedLines {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let count = ready!(Pin::new(&mut this.stream).poll_write(context, bytes))?;
        let monitor = &this.monitor;
        add_lines(&mut this.sent, &bytes[..count], |line| {
            lock(monitor).sent(line);
        });
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

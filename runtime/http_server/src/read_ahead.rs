//! Socket wrapper that notices a disconnect while a request waits for its response.
//!
//! hyper stops reading once it has a byte after the request in progress, and then notices no end of the connection.

use std::io::{self, ErrorKind, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};
use treenail_runtime::internal::deadline;

use crate::head_timeout::RequestCounter;

/// Number of bytes read ahead, from which no more are read. A complete pipelined request usually fits.
const MAX_AHEAD_BYTES: usize = 8 * 1024;

/// Maximum number of bytes of one read ahead.
const CHUNK_BYTES: usize = 1024;

/// Socket that is read ahead while a request is active and hyper does not read.
///
/// It fails at the end of the connection, and if a request is still active at the timeout after the buffer has become full: from then
/// on, a disconnect would not be noticed.
pub(super) struct ReadAhead<T> {
    inner: T,
    requests: RequestCounter,
    /// Bytes that hyper has not read yet.
    ahead: Vec<u8>,
    timeout: Duration,
    /// Timer of a full buffer.
    timer: Option<Pin<Box<Sleep>>>,
    /// Last read by hyper since the last flush.
    last_read: Option<Poll<()>>,
}

impl<T> ReadAhead<T> {
    pub(super) fn new(inner: T, timeout: Duration, requests: RequestCounter) -> Self {
        Self {
            inner,
            requests,
            ahead: Vec::new(),
            timeout,
            timer: None,
            last_read: None,
        }
    }

    /// Moves bytes that were read ahead to `buffer`.
    fn take_ahead(&mut self, buffer: &mut ReadBuf<'_>) {
        let length = self.ahead.len().min(buffer.remaining());
        buffer.put_slice(&self.ahead[..length]);
        self.ahead.drain(..length);
        self.timer = None;
        if self.ahead.is_empty() {
            self.ahead = Vec::new();
        }
    }
}

impl<T: AsyncRead + Unpin> ReadAhead<T> {
    /// Reads until nothing more is available, or until the buffer is full.
    fn read_ahead(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        while self.ahead.len() < MAX_AHEAD_BYTES {
            let mut chunk = [const { MaybeUninit::uninit() }; CHUNK_BYTES];
            let mut chunk = ReadBuf::uninit(&mut chunk);
            if Pin::new(&mut self.inner)
                .poll_read(context, &mut chunk)?
                .is_pending()
            {
                return Ok(());
            }
            if chunk.filled().is_empty() {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            self.ahead.extend_from_slice(chunk.filled());
        }
        let timeout = self.timeout;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(timeout)));
        match deadline::poll_timer(timer.as_mut(), context) {
            Poll::Ready(()) => Err(ErrorKind::TimedOut.into()),
            Poll::Pending => Ok(()),
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for ReadAhead<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let polled = if this.ahead.is_empty() {
            Pin::new(&mut this.inner).poll_read(context, buffer)
        } else {
            this.take_ahead(buffer);
            Poll::Ready(Ok(()))
        };
        this.last_read = Some(match &polled {
            Poll::Ready(_) => Poll::Ready(()),
            Poll::Pending => Poll::Pending,
        });
        polled
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> AsyncWrite for ReadAhead<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().inner).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().inner).poll_write_vectored(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    /// Flushes, and reads ahead if necessary. hyper flushes at the end of each poll of a connection.
    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        match this.last_read.take() {
            // The read wakes the connection.
            Some(Poll::Pending) => {}
            _ if !this.requests.is_active() => {}
            // In the next poll, hyper usually reads on.
            Some(Poll::Ready(())) => context.waker().wake_by_ref(),
            None => this.read_ahead(context)?,
        }
        Pin::new(&mut this.inner).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(context)
    }
}

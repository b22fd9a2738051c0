//! Socket wrapper with a write timeout.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};
use treenail_runtime::internal::deadline;

use crate::head_timeout::WriteFlag;

/// Socket that fails if a write makes no progress for the timeout.
pub(super) struct WriteTimeout<T> {
    inner: T,
    timeout: Duration,
    /// Timer of the write in progress.
    timer: Option<Pin<Box<Sleep>>>,
    /// Set while there is a timer.
    flag: WriteFlag,
}

impl<T> WriteTimeout<T> {
    pub(super) fn new(inner: T, timeout: Duration, flag: WriteFlag) -> Self {
        Self {
            inner,
            timeout,
            timer: None,
            flag,
        }
    }

    /// Returns the outcome of a write, or an error if it is pending and the timeout has elapsed.
    fn apply_timeout<R>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<R>>,
    ) -> Poll<io::Result<R>> {
        if written.is_ready() {
            if self.timer.take().is_some() {
                self.flag.set(false);
            }
            return written;
        }
        let (timeout, flag) = (self.timeout, &self.flag);
        let timer = self.timer.get_or_insert_with(|| {
            flag.set(true);
            Box::pin(sleep(timeout))
        });
        match deadline::poll_timer(timer.as_mut(), context) {
            Poll::Ready(()) => Poll::Ready(Err(ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for WriteTimeout<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_read(context, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.inner).poll_write(context, bytes);
        this.apply_timeout(context, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.inner).poll_write_vectored(context, bytes);
        this.apply_timeout(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = Pin::new(&mut this.inner).poll_flush(context);
        this.apply_timeout(context, flushed)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let shut = Pin::new(&mut this.inner).poll_shutdown(context);
        this.apply_timeout(context, shut)
    }
}

//! Standard output: a pipe or a socket in non-blocking mode, or threads that write it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::AsyncWrite;

#[cfg(unix)]
use super::unix;

pub(super) enum Output {
    #[cfg(unix)]
    Pipe(tokio::net::unix::pipe::Sender),
    #[cfg(unix)]
    Socket(tokio::net::UnixStream),
    Threads(BlockingOutput),
}

/// Standard output without a non-blocking mode.
#[cfg(unix)]
type BlockingOutput = tokio::fs::File;
#[cfg(not(unix))]
type BlockingOutput = tokio::io::Stdout;

impl Output {
    /// Opens the standard output that the process had when it started to serve.
    #[cfg(unix)]
    pub(super) fn open(stdout: &std::fs::File) -> io::Result<Self> {
        if !unix::is_same_file(stdout, &io::stderr()) {
            // Non-blocking mode would apply to standard error too if it is the same file, and log messages would be lost.
            match unix::open(stdout) {
                Ok(Some(unix::Stream::Socket(socket))) => return Ok(Self::Socket(socket)),
                Ok(Some(unix::Stream::Pipe(fd))) => {
                    if let Ok(pipe) = tokio::net::unix::pipe::Sender::from_owned_fd(fd) {
                        return Ok(Self::Pipe(pipe));
                    }
                }
                Ok(None) | Err(_) => {}
            }
        }
        Ok(Self::Threads(stdout.try_clone()?.into()))
    }

    /// Restores the blocking mode.
    pub(super) fn close(self) {
        match self {
            #[cfg(unix)]
            Self::Pipe(pipe) => drop(pipe.into_blocking_fd()),
            #[cfg(unix)]
            Self::Socket(socket) => unix::make_blocking(socket),
            Self::Threads(_) => {}
        }
    }
}

impl AsyncWrite for Output {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            #[cfg(unix)]
            Self::Pipe(pipe) => Pin::new(pipe).poll_write(context, bytes),
            #[cfg(unix)]
            Self::Socket(socket) => Pin::new(socket).poll_write(context, bytes),
            Self::Threads(stdout) => Pin::new(stdout).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            // Pipes and sockets have no user-space buffer.
            #[cfg(unix)]
            Self::Pipe(_) | Self::Socket(_) => Poll::Ready(Ok(())),
            Self::Threads(stdout) => Pin::new(stdout).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(context)
    }
}

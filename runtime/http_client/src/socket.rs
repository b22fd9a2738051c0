//! Sockets of connections.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;

/// A socket.
pub(crate) enum Socket {
    Tcp(TokioIo<TcpStream>),
    /// The socket of a proxy that forwards requests, which must contain the absolute URL.
    Proxy(TokioIo<TcpStream>),
    #[cfg(unix)]
    Unix(TokioIo<UnixStream>),
}

/// Evaluates an expression for the stream of each kind of socket.
macro_rules! with_stream {
    ($socket:expr, $stream:ident => $value:expr) => {
        match $socket {
            Socket::Tcp($stream) | Socket::Proxy($stream) => $value,
            #[cfg(unix)]
            Socket::Unix($stream) => $value,
        }
    };
}

impl Connection for Socket {
    fn connected(&self) -> Connected {
        match self {
            Self::Tcp(stream) => stream.inner().connected(),
            Self::Proxy(stream) => stream.inner().connected().proxy(true),
            #[cfg(unix)]
            Self::Unix(_) => Connected::new(),
        }
    }
}

impl Read for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        with_stream!(self.get_mut(), stream => Pin::new(stream).poll_read(context, buffer))
    }
}

impl Write for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        with_stream!(self.get_mut(), stream => Pin::new(stream).poll_write(context, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        with_stream!(self.get_mut(), stream => Pin::new(stream).poll_write_vectored(context, bytes))
    }

    fn is_write_vectored(&self) -> bool {
        with_stream!(self, stream => stream.is_write_vectored())
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        with_stream!(self.get_mut(), stream => Pin::new(stream).poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        with_stream!(self.get_mut(), stream => Pin::new(stream).poll_shutdown(context))
    }
}

//! Standard input: a pipe or a socket in non-blocking mode, or a thread that reads it.

use std::io::{self, Read};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::thread;

use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::mpsc;

#[cfg(unix)]
use super::unix;

pub(super) enum Input {
    #[cfg(unix)]
    Pipe(tokio::net::unix::pipe::Receiver),
    #[cfg(unix)]
    Socket(tokio::net::UnixStream),
    Thread(Reader),
}

impl Input {
    /// Opens the standard input that the process had when it started to serve.
    #[cfg(unix)]
    pub(super) fn open(stdin: &std::fs::File) -> io::Result<Self> {
        match unix::open(stdin) {
            Ok(Some(unix::Stream::Socket(socket))) => return Ok(Self::Socket(socket)),
            Ok(Some(unix::Stream::Pipe(fd))) => {
                if let Ok(pipe) = tokio::net::unix::pipe::Receiver::from_owned_fd(fd) {
                    return Ok(Self::Pipe(pipe));
                }
            }
            Ok(None) | Err(_) => {}
        }
        Ok(Self::Thread(Reader::start(stdin.try_clone()?)))
    }

    /// Restores the blocking mode.
    pub(super) fn close(self) {
        match self {
            #[cfg(unix)]
            Self::Pipe(pipe) => drop(pipe.into_blocking_fd()),
            #[cfg(unix)]
            Self::Socket(socket) => unix::make_blocking(socket),
            Self::Thread(_) => {}
        }
    }
}

impl AsyncRead for Input {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            #[cfg(unix)]
            Self::Pipe(pipe) => Pin::new(pipe).poll_read(context, buffer),
            #[cfg(unix)]
            Self::Socket(socket) => Pin::new(socket).poll_read(context, buffer),
            Self::Thread(reader) => Pin::new(reader).poll_read(context, buffer),
        }
    }
}

/// Bytes of input read at once.
const CHUNK_BYTES: usize = 16 * 1024;

/// Standard input, read by a thread.
///
/// It is not a tokio thread: a runtime waits for its blocking threads on shutdown, and a read from a terminal blocks until
/// the next line is typed. A plain thread ends with the process.
pub(super) struct Reader {
    chunks: mpsc::Receiver<io::Result<Vec<u8>>>,
    /// Current chunk, read up to `start`.
    chunk: Vec<u8>,
    start: usize,
}

impl Reader {
    pub(super) fn start(stdin: impl Read + Send + 'static) -> Self {
        let (sender, chunks) = mpsc::channel(1);
        let thread_sender = sender.clone();
        let thread = thread::Builder::new().name("treenail-stdin".to_owned());
        if let Err(error) = thread.spawn(move || read_chunks(stdin, &thread_sender)) {
            // Cannot fail: the channel is empty and has a capacity of one.
            let _ = sender.try_send(Err(error));
        }
        Self {
            chunks,
            chunk: Vec::new(),
            start: 0,
        }
    }
}

/// Reads until the end of the input, or until the receiver is dropped.
fn read_chunks(mut stdin: impl Read, chunks: &mpsc::Sender<io::Result<Vec<u8>>>) {
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        let chunk = match stdin.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => Ok(buffer[..count].to_vec()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let is_last = chunk.is_err();
        if chunks.blocking_send(chunk).is_err() || is_last {
            return;
        }
    }
}

impl AsyncRead for Reader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.start == self.chunk.len() {
            match ready!(self.chunks.poll_recv(context)) {
                Some(chunk) => {
                    self.chunk = chunk?;
                    self.start = 0;
                }
                None => return Poll::Ready(Ok(())),
            }
        }
        let rest = &self.chunk[self.start..];
        let count = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..count]);
        self.start += count;
        Poll::Ready(Ok(()))
    }
}

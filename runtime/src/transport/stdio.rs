//! The standard streams of the process.
//!
//! Where they are pipes or sockets they are used without blocking: the threads that tokio needs for standard streams of
//! other kinds cost several times the latency. Files, terminals and other systems get threads.

use std::io::{self, Read};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::thread;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, Stdout};
use tokio::sync::mpsc;

use crate::error::Result;
use crate::server::Server;

impl Server {
    /// Serves the process that started this one, over standard input and output, until its input ends or the server
    /// [closes](Server::close).
    ///
    /// Nothing else may write to standard output; logs belong to standard error. It works best on a current-thread
    /// runtime, `#[tokio::main(flavor = "current_thread")]`, with input, output and time enabled.
    ///
    /// # Errors
    ///
    /// As [`Server::serve`].
    pub async fn serve_stdio(&self) -> Result<()> {
        let mut input = Input::open();
        let mut output = Output::open();
        let ended = self.serve(&mut input, &mut output).await;
        input.close();
        output.close();
        ended
    }
}

enum Input {
    #[cfg(unix)]
    Pipe(tokio::net::unix::pipe::Receiver),
    #[cfg(unix)]
    Socket(tokio::net::UnixStream),
    Thread(Reader),
}

enum Output {
    #[cfg(unix)]
    Pipe(tokio::net::unix::pipe::Sender),
    #[cfg(unix)]
    Socket(tokio::net::UnixStream),
    Threads(Stdout),
}

impl Input {
    fn open() -> Self {
        #[cfg(unix)]
        match unix::open(&io::stdin()) {
            Ok(Some(unix::Stream::Socket(socket))) => return Self::Socket(socket),
            Ok(Some(unix::Stream::Pipe(fd))) => {
                if let Ok(pipe) = tokio::net::unix::pipe::Receiver::from_owned_fd(fd) {
                    return Self::Pipe(pipe);
                }
            }
            Ok(None) | Err(_) => {}
        }
        Self::Thread(Reader::start())
    }

    /// Leaves the stream as it was found, for others who have it.
    fn close(self) {
        match self {
            #[cfg(unix)]
            Self::Pipe(pipe) => drop(pipe.into_blocking_fd()),
            #[cfg(unix)]
            Self::Socket(socket) => unix::make_blocking(socket),
            Self::Thread(_) => {}
        }
    }
}

/// Bytes of input that are read at once.
const CHUNK: usize = 16 * 1024;

/// Standard input, read by a thread.
///
/// The thread is not one of tokio's: those are waited for when a runtime ends, and reading from a terminal ends with the next
/// line that is typed. A plain thread ends with the process.
struct Reader {
    chunks: mpsc::Receiver<io::Result<Vec<u8>>>,
    /// The chunk that is being taken, and the start of its rest.
    chunk: Vec<u8>,
    start: usize,
}

impl Reader {
    fn start() -> Self {
        let (sender, chunks) = mpsc::channel(1);
        let of_thread = sender.clone();
        let thread = thread::Builder::new().name("treenail-stdin".to_owned());
        if let Err(error) = thread.spawn(move || read_chunks(&of_thread)) {
            // There is room for one.
            let _ = sender.try_send(Err(error));
        }
        Self {
            chunks,
            chunk: Vec::new(),
            start: 0,
        }
    }
}

/// Reads until the end of the input, or until the chunks are no longer taken.
fn read_chunks(chunks: &mpsc::Sender<io::Result<Vec<u8>>>) {
    let mut buffer = vec![0; CHUNK];
    loop {
        let chunk = match io::stdin().read(&mut buffer) {
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

impl Output {
    fn open() -> Self {
        #[cfg(unix)]
        if !unix::is_same_file(&io::stdout(), &io::stderr()) {
            // Were standard error the same file, it would no longer block either, and messages on it would be lost.
            match unix::open(&io::stdout()) {
                Ok(Some(unix::Stream::Socket(socket))) => return Self::Socket(socket),
                Ok(Some(unix::Stream::Pipe(fd))) => {
                    if let Ok(pipe) = tokio::net::unix::pipe::Sender::from_owned_fd(fd) {
                        return Self::Pipe(pipe);
                    }
                }
                Ok(None) | Err(_) => {}
            }
        }
        Self::Threads(tokio::io::stdout())
    }

    /// Leaves the stream as it was found, for others who have it.
    fn close(self) {
        match self {
            #[cfg(unix)]
            Self::Pipe(pipe) => drop(pipe.into_blocking_fd()),
            #[cfg(unix)]
            Self::Socket(socket) => unix::make_blocking(socket),
            Self::Threads(_) => {}
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
            // What was written to a pipe or a socket is on its way.
            #[cfg(unix)]
            Self::Pipe(_) | Self::Socket(_) => Poll::Ready(Ok(())),
            Self::Threads(stdout) => Pin::new(stdout).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(context)
    }
}

#[cfg(unix)]
mod unix {
    //! What kind of file a standard stream is, found out without touching it.

    use std::fs::{File, Metadata};
    use std::io;
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    use std::os::unix::net::UnixStream;

    /// A standard stream that can be used without blocking.
    pub(super) enum Stream {
        Pipe(OwnedFd),
        Socket(tokio::net::UnixStream),
    }

    /// A second handle to a standard stream, if it is a pipe or a socket.
    pub(super) fn open(stream: &impl AsFd) -> io::Result<Option<Stream>> {
        let fd = stream.as_fd().try_clone_to_owned()?;
        let file = File::from(fd);
        let kind = file.metadata()?.file_type();
        if kind.is_fifo() {
            Ok(Some(Stream::Pipe(file.into())))
        } else if kind.is_socket() {
            let socket = UnixStream::from(OwnedFd::from(file));
            // Only a stream of the Unix domain has an address of that kind; a socket of the network has not.
            socket.local_addr()?;
            socket.set_nonblocking(true)?;
            tokio::net::UnixStream::from_std(socket).map(|socket| Some(Stream::Socket(socket)))
        } else {
            Ok(None)
        }
    }

    pub(super) fn make_blocking(socket: tokio::net::UnixStream) {
        // Should it fail, the stream is left as it is; it is not ours alone, but nobody can do better.
        let _ = socket
            .into_std()
            .and_then(|socket| socket.set_nonblocking(false));
    }

    /// Whether two streams lead to one file.
    pub(super) fn is_same_file(one: &impl AsFd, other: &impl AsFd) -> bool {
        let identity = |metadata: Metadata| (metadata.dev(), metadata.ino());
        let file = |stream: &dyn AsFd| -> io::Result<_> {
            File::from(stream.as_fd().try_clone_to_owned()?)
                .metadata()
                .map(identity)
        };
        matches!((file(one), file(other)), (Ok(one), Ok(other)) if one == other)
    }
}

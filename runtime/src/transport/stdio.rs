//! Stdio transport, over the standard streams of the process.
//!
//! On Unix, pipes and sockets are used in non-blocking mode, because tokio's threads for standard streams multiply the
//! latency. Files, terminals and other platforms use threads. While a server runs, descriptor 1 refers to standard error, so
//! that `println!` of a function or of a library cannot break the protocol.

use std::io::{self, Read};
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::thread;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc;

use crate::error::Result;
use crate::server::{Server, ServerBuilder};

/// Standard output without a non-blocking mode.
#[cfg(unix)]
type BlockingOutput = tokio::fs::File;
#[cfg(not(unix))]
type BlockingOutput = tokio::io::Stdout;

impl ServerBuilder {
    /// Builds the server and serves the parent process over standard input and output, see [`Server::serve_stdio`].
    ///
    /// ```no_run
    /// #[tokio::main(flavor = "current_thread")]
    /// async fn main() -> treenail::Result<()> {
    ///     treenail::server!().serve_stdio().await
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`ServerBuilder::build`] and [`Server::serve_stdio`].
    pub async fn serve_stdio(self) -> Result<()> {
        self.build()?.serve_stdio().await
    }
}

impl Server {
    /// Serves the parent process over standard input and output, until the input ends or the server
    /// [closes](Server::close).
    ///
    /// On Unix, the process's standard output is standard error meanwhile, so `println!` cannot break the session; it is restored
    /// when the future ends or is dropped. On other platforms, nothing else may write to standard output. Output from
    /// before is sent to the client, which ignores it at best. Use standard error for logs.
    ///
    /// A current-thread runtime is fastest: `#[tokio::main(flavor = "current_thread")]`. The runtime needs I/O and time enabled.
    ///
    /// # Errors
    ///
    /// See [`Server::serve`]. [`Error::Io`](crate::Error::Io) also if there is no free file descriptor.
    pub async fn serve_stdio(&self) -> Result<()> {
        let mut input = Shared::new(Input::open(), Input::close);
        #[cfg(unix)]
        let stdout = unix::ReservedStdout::take()?;
        #[cfg(unix)]
        let mut output = Shared::new(Output::open(stdout.file())?, Output::close);
        #[cfg(not(unix))]
        let mut output = Shared::new(Output::Threads(tokio::io::stdout()), Output::close);
        let connection = self.connect().over_stdio();
        connection.serve(&mut *input, &mut *output).await
    }
}

/// Standard stream, which other processes may share. It is closed when it is dropped.
struct Shared<T> {
    /// `None` after the end.
    stream: Option<T>,
    close: fn(T),
}

impl<T> Shared<T> {
    fn new(stream: T, close: fn(T)) -> Self {
        let stream = Some(stream);
        Self { stream, close }
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.stream.as_ref().expect("it is set until it is dropped")
    }
}

impl<T> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.stream.as_mut().expect("it is set until it is dropped")
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        if let Some(stream) = self.stream.take() {
            (self.close)(stream);
        }
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
    Threads(BlockingOutput),
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

    /// Restores the blocking mode.
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

/// Bytes of input read at once.
const CHUNK_BYTES: usize = 16 * 1024;

/// Standard input, read by a thread.
///
/// It is not a tokio thread: a runtime waits for its blocking threads on shutdown, and a read from a terminal blocks until
/// the next line is typed. A plain thread ends with the process.
struct Reader {
    chunks: mpsc::Receiver<io::Result<Vec<u8>>>,
    /// Current chunk, read up to `start`.
    chunk: Vec<u8>,
    start: usize,
}

impl Reader {
    fn start() -> Self {
        let (sender, chunks) = mpsc::channel(1);
        let thread_sender = sender.clone();
        let thread = thread::Builder::new().name("treenail-stdin".to_owned());
        if let Err(error) = thread.spawn(move || read_chunks(&thread_sender)) {
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
fn read_chunks(chunks: &mpsc::Sender<io::Result<Vec<u8>>>) {
    let mut buffer = vec![0; CHUNK_BYTES];
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
    /// Opens the standard output that the process had when it started to serve.
    #[cfg(unix)]
    fn open(stdout: &std::fs::File) -> io::Result<Self> {
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

#[cfg(unix)]
mod unix {
    //! Detection of the file type of standard streams, without changing them.

    use std::fs::{File, Metadata};
    use std::io::{self, Write as _};
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    use std::os::unix::net::UnixStream;

    /// Standard output, reserved for messages: the process writes to standard error meanwhile.
    pub(super) struct ReservedStdout(File);

    impl ReservedStdout {
        pub(super) fn take() -> io::Result<Self> {
            let original = io::stdout().as_fd().try_clone_to_owned()?;
            rustix::stdio::dup2_stdout(io::stderr())?;
            Ok(Self(original.into()))
        }

        pub(super) fn file(&self) -> &File {
            &self.0
        }
    }

    impl Drop for ReservedStdout {
        fn drop(&mut self) {
            // The start of a line may be buffered. Neither error can be handled here.
            let _ = io::stdout().flush();
            let _ = rustix::stdio::dup2_stdout(&self.0);
        }
    }

    /// Standard stream in non-blocking mode.
    pub(super) enum Stream {
        Pipe(OwnedFd),
        Socket(tokio::net::UnixStream),
    }

    /// Duplicates the handle of a standard stream if it is a pipe or a Unix socket.
    pub(super) fn open(stream: &impl AsFd) -> io::Result<Option<Stream>> {
        let fd = stream.as_fd().try_clone_to_owned()?;
        let file = File::from(fd);
        let kind = file.metadata()?.file_type();
        if kind.is_fifo() {
            Ok(Some(Stream::Pipe(file.into())))
        } else if kind.is_socket() {
            let socket = UnixStream::from(OwnedFd::from(file));
            // Fails for network sockets, which have no Unix domain address.
            socket.local_addr()?;
            socket.set_nonblocking(true)?;
            tokio::net::UnixStream::from_std(socket).map(|socket| Some(Stream::Socket(socket)))
        } else {
            Ok(None)
        }
    }

    pub(super) fn make_blocking(socket: tokio::net::UnixStream) {
        // An error leaves a shared stream in non-blocking mode, and cannot be handled here.
        let _ = socket
            .into_std()
            .and_then(|socket| socket.set_nonblocking(false));
    }

    /// Returns true if two streams refer to the same file.
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

//! Stdio transport, over the standard streams of the process.
//!
//! On Unix, pipes and sockets are used in non-blocking mode, because tokio's threads for standard streams multiply the
//! latency. Files, terminals and other platforms use threads. While a server runs, descriptor 1 refers to standard error, so
//! that `println!` of a function or of a library cannot break the protocol. Descriptor 0 refers to an empty file, so that a child
//! process of a function takes no messages.

mod input;
mod output;
#[cfg(unix)]
mod unix;

use std::ops::{Deref, DerefMut};

use self::input::Input;
#[cfg(not(unix))]
use self::input::Reader;
use self::output::Output;
use crate::error::Result;
use crate::server::{Server, ServerBuilder};

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
    /// It then finishes the calls in flight as [`Server::serve`] does, and [publishes](Server::flush_events) the last events to
    /// other replicas, within [`EventLimits::flush_timeout`](crate::EventLimits::flush_timeout).
    ///
    /// On Unix, the process's standard output is standard error meanwhile, so `println!` cannot break the session, and its standard
    /// input is empty, so a child process of a function takes no messages. Both are restored when the future ends or is dropped. On
    /// other platforms, nothing else may write to standard output, and a child process needs a standard input of its own
    /// (`Stdio::null()`). Output from before is sent to the client, which ignores it at best. Input that the program has buffered
    /// before, with `std::io::stdin`, is not served. Use standard error for logs.
    ///
    /// A current-thread runtime is fastest: `#[tokio::main(flavor = "current_thread")]`. The runtime needs I/O and time enabled.
    ///
    /// # Errors
    ///
    /// See [`Server::serve`]. [`Error::Io`](crate::Error::Io) also if there is no free file descriptor.
    pub async fn serve_stdio(&self) -> Result<()> {
        #[cfg(unix)]
        let stdin = unix::ReservedStdin::take()?;
        #[cfg(unix)]
        let mut input = Shared::new(Input::open(stdin.file())?, Input::close);
        #[cfg(not(unix))]
        let mut input = Shared::new(Input::Thread(Reader::start(std::io::stdin())), Input::close);
        #[cfg(unix)]
        let stdout = unix::ReservedStdout::take()?;
        #[cfg(unix)]
        let mut output = Shared::new(Output::open(stdout.file())?, Output::close);
        #[cfg(not(unix))]
        let mut output = Shared::new(Output::Threads(tokio::io::stdout()), Output::close);
        let connection = self.connect().over_stdio();
        let served = connection.serve(&mut *input, &mut *output).await;
        self.flush_last_events().await;
        served
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

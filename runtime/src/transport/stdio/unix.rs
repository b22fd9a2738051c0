//! Detection of the file type of standard streams, without changing them.

use std::fs::{File, Metadata};
use std::io::{self, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;

/// Standard input, reserved for messages: the process and its children read an empty file meanwhile.
pub(super) struct ReservedStdin(File);

impl ReservedStdin {
    pub(super) fn take() -> io::Result<Self> {
        let original = io::stdin().as_fd().try_clone_to_owned()?;
        // Without this file, such as in a minimal container, standard input stays shared.
        if let Ok(empty) = File::open("/dev/null") {
            rustix::stdio::dup2_stdin(empty)?;
        }
        Ok(Self(original.into()))
    }

    pub(super) fn file(&self) -> &File {
        &self.0
    }
}

impl Drop for ReservedStdin {
    fn drop(&mut self) {
        // An error cannot be handled here.
        let _ = rustix::stdio::dup2_stdin(&self.0);
    }
}

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

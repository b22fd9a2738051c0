//! A connection to Redis on which no long message is read.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes of one line of the protocol, which has a length or a short text.
const LINE: usize = 64 * 1024;
/// Bytes that are read at once.
const CHUNK: usize = 8 * 1024;

/// A stream of RESP3 in which strings beyond a length arrive as empty ones. A message that is published reaches the parser
/// as one string, which the parser would hold in memory as a whole.
pub(super) struct Guarded<S> {
    stream: S,
    filter: Filter,
    /// What has passed the filter, and how much of that has been taken.
    passed: Vec<u8>,
    taken: usize,
}

/// What comes next in the stream.
struct Filter {
    longest: u64,
    state: State,
}

enum State {
    /// A line, as far as it has arrived.
    Line(Vec<u8>),
    /// Bytes of a string.
    Passed(u64),
    /// Bytes of a string that is too long.
    Dropped(u64),
}

impl<S> Guarded<S> {
    pub(super) fn new(stream: S, longest: usize) -> Self {
        Self {
            stream,
            filter: Filter {
                longest: longest as u64,
                state: State::Line(Vec::new()),
            },
            passed: Vec::new(),
            taken: 0,
        }
    }
}

impl Filter {
    /// Adds to `out` what may pass of `bytes`.
    fn pass(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        while !bytes.is_empty() {
            let used = match &mut self.state {
                State::Passed(left) | State::Dropped(left) => {
                    let used =
                        usize::try_from(*left).map_or(bytes.len(), |left| left.min(bytes.len()));
                    *left -= used as u64;
                    used
                }
                State::Line(_) => memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1),
            };
            let (these, rest) = bytes.split_at(used);
            bytes = rest;
            match &mut self.state {
                State::Passed(left) => {
                    out.extend_from_slice(these);
                    if *left == 0 {
                        self.state = State::Line(Vec::new());
                    }
                }
                State::Dropped(0) => self.state = State::Line(Vec::new()),
                State::Dropped(_) => {}
                State::Line(line) => {
                    line.extend_from_slice(these);
                    if line.len() > LINE {
                        let why = "a line of the protocol is too long";
                        return Err(io::Error::new(ErrorKind::InvalidData, why));
                    }
                    if line.ends_with(b"\n") {
                        let line = std::mem::take(line);
                        self.end_line(&line, out);
                    }
                }
            }
        }
        Ok(())
    }

    /// Passes a whole line on, unless it begins a string that is too long.
    fn end_line(&mut self, line: &[u8], out: &mut Vec<u8>) {
        match length(line) {
            Some(length) if length > self.longest => {
                out.extend_from_slice(b"$0\r\n");
                self.state = State::Dropped(length);
            }
            Some(length) if length > 0 => {
                out.extend_from_slice(line);
                self.state = State::Passed(length);
            }
            _ => out.extend_from_slice(line),
        }
    }
}

/// The length of the string that a line begins, if it begins one.
fn length(line: &[u8]) -> Option<u64> {
    let (kind, length) = line.split_first()?;
    if !matches!(kind, b'$' | b'=' | b'!' | b';') {
        return None;
    }
    std::str::from_utf8(length).ok()?.trim_end().parse().ok()
}

impl<S: AsyncRead + Unpin> AsyncRead for Guarded<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        while this.taken == this.passed.len() {
            this.passed.clear();
            this.taken = 0;
            let mut chunk = [0; CHUNK];
            let mut read = ReadBuf::new(&mut chunk);
            ready!(Pin::new(&mut this.stream).poll_read(context, &mut read))?;
            if read.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            this.filter.pass(read.filled(), &mut this.passed)?;
        }
        let rest = &this.passed[this.taken..];
        let count = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..count]);
        this.taken += count;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Guarded<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter() -> Filter {
        Filter {
            longest: 8,
            state: State::Line(Vec::new()),
        }
    }

    #[test]
    fn strings_that_are_too_long_arrive_empty() {
        let long = "\r\n$3\r\n".repeat(2);
        let stream = format!(
            ">3\r\n$7\r\nmessage\r\n$4\r\ndesk\r\n$8\r\n12\r\n5678\r\n+OK\r\n$12\r\n{long}\r\n$0\r\n\r\n$-1\r\n:7\r\n"
        );
        let passed = ">3\r\n$7\r\nmessage\r\n$4\r\ndesk\r\n$8\r\n12\r\n5678\r\n+OK\r\n$0\r\n\r\n$0\r\n\r\n$-1\r\n:7\r\n";
        for size in 1..=stream.len() {
            let (mut filter, mut out) = (filter(), Vec::new());
            for piece in stream.as_bytes().chunks(size) {
                filter.pass(piece, &mut out).unwrap();
            }
            assert_eq!(String::from_utf8_lossy(&out), passed, "{size}");
        }
    }

    #[test]
    fn nothing_is_kept_of_what_is_too_long() {
        let (mut filter, mut out) = (filter(), Vec::new());
        filter.pass(b"$536870912\r\n", &mut out).unwrap();
        let chunk = [0; CHUNK];
        for _ in 0..1_000 {
            filter.pass(&chunk, &mut out).unwrap();
        }
        assert_eq!(out, b"$0\r\n");
        assert!(out.capacity() <= CHUNK);
    }

    #[test]
    fn a_line_without_end_is_an_error() {
        let (mut filter, mut out) = (filter(), Vec::new());
        let endless = (0..1_000).find(|_| filter.pass(&[b'+'; CHUNK], &mut out).is_err());
        assert_eq!(endless, Some(LINE / CHUNK));
    }
}

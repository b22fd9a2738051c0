//! A Redis connection that discards overlong messages while they are read.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Longest line of the protocol, in bytes. A line holds a length or a short text.
const MAX_LINE_BYTES: usize = 64 * 1024;
/// Bytes read at once.
const READ_CHUNK_BYTES: usize = 8 * 1024;

/// RESP3 stream that replaces strings beyond a length with empty ones.
///
/// A published message reaches the parser as one string, and the parser would hold all of it in memory.
#[derive(Debug)]
pub struct BoundedStream<S> {
    stream: S,
    filter: Filter,
    /// Filtered bytes, of which the reader has taken the first `taken`.
    filtered: Vec<u8>,
    taken: usize,
}

/// Position in the stream of RESP3 elements.
#[derive(Debug)]
struct Filter {
    max_string_bytes: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    /// In a line. Holds the part that has arrived.
    Line(Vec<u8>),
    /// In a string, with this many bytes left.
    String(u64),
    /// In an overlong string, with this many bytes left.
    LongString(u64),
}

impl<S> BoundedStream<S> {
    /// Reads `stream`, with strings of at most `max_string_bytes` bytes.
    pub fn new(stream: S, max_string_bytes: usize) -> Self {
        Self {
            stream,
            filter: Filter {
                max_string_bytes: max_string_bytes as u64,
                state: State::Line(Vec::new()),
            },
            filtered: Vec::new(),
            taken: 0,
        }
    }
}

impl Filter {
    /// Appends `bytes` to `out`, without overlong strings.
    fn filter_bytes(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        while !bytes.is_empty() {
            let used = match &mut self.state {
                State::String(left) | State::LongString(left) => {
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
                State::String(left) => {
                    out.extend_from_slice(these);
                    if *left == 0 {
                        self.state = State::Line(Vec::new());
                    }
                }
                State::LongString(0) => self.state = State::Line(Vec::new()),
                State::LongString(_) => {}
                State::Line(line) => {
                    line.extend_from_slice(these);
                    if line.len() > MAX_LINE_BYTES {
                        let reason = "a protocol line is too long";
                        return Err(io::Error::new(ErrorKind::InvalidData, reason));
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

    /// Forwards a complete line, unless it is the header of an overlong string.
    fn end_line(&mut self, line: &[u8], out: &mut Vec<u8>) {
        match string_length(line) {
            Some(length) if length > self.max_string_bytes => {
                out.extend_from_slice(b"$0\r\n");
                self.state = State::LongString(length);
            }
            Some(length) if length > 0 => {
                out.extend_from_slice(line);
                self.state = State::String(length);
            }
            _ => out.extend_from_slice(line),
        }
    }
}

/// Returns the length of the string that follows if `line` is the header of a string.
fn string_length(line: &[u8]) -> Option<u64> {
    let (kind, length) = line.split_first()?;
    if !matches!(kind, b'$' | b'=' | b'!' | b';') {
        return None;
    }
    std::str::from_utf8(length).ok()?.trim_end().parse().ok()
}

impl<S: AsyncRead + Unpin> AsyncRead for BoundedStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        while this.taken == this.filtered.len() {
            this.filtered.clear();
            this.taken = 0;
            let mut chunk = [0; READ_CHUNK_BYTES];
            let mut read = ReadBuf::new(&mut chunk);
            ready!(Pin::new(&mut this.stream).poll_read(context, &mut read))?;
            if read.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            this.filter
                .filter_bytes(read.filled(), &mut this.filtered)?;
        }
        let rest = &this.filtered[this.taken..];
        let count = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..count]);
        this.taken += count;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for BoundedStream<S> {
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
            max_string_bytes: 8,
            state: State::Line(Vec::new()),
        }
    }

    #[test]
    fn overlong_strings_become_empty() {
        let long = "\r\n$3\r\n".repeat(2);
        let stream = format!(
            ">3\r\n$7\r\nmessage\r\n$4\r\ndesk\r\n$8\r\n12\r\n5678\r\n+OK\r\n$12\r\n{long}\r\n$0\r\n\r\n$-1\r\n:7\r\n"
        );
        let passed = ">3\r\n$7\r\nmessage\r\n$4\r\ndesk\r\n$8\r\n12\r\n5678\r\n+OK\r\n$0\r\n\r\n$0\r\n\r\n$-1\r\n:7\r\n";
        for size in 1..=stream.len() {
            let (mut filter, mut out) = (filter(), Vec::new());
            for piece in stream.as_bytes().chunks(size) {
                filter.filter_bytes(piece, &mut out).unwrap();
            }
            assert_eq!(String::from_utf8_lossy(&out), passed, "{size}");
        }
    }

    #[test]
    fn an_overlong_string_takes_no_memory() {
        let (mut filter, mut out) = (filter(), Vec::new());
        filter.filter_bytes(b"$536870912\r\n", &mut out).unwrap();
        let chunk = [0; READ_CHUNK_BYTES];
        for _ in 0..1_000 {
            filter.filter_bytes(&chunk, &mut out).unwrap();
        }
        assert_eq!(out, b"$0\r\n");
        assert!(out.capacity() <= READ_CHUNK_BYTES);
    }

    #[test]
    fn a_line_without_an_end_is_an_error() {
        let (mut filter, mut out) = (filter(), Vec::new());
        let endless = (0..1_000).find(|_| {
            filter
                .filter_bytes(&[b'+'; READ_CHUNK_BYTES], &mut out)
                .is_err()
        });
        assert_eq!(endless, Some(MAX_LINE_BYTES / READ_CHUNK_BYTES));
    }
}

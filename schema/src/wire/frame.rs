//! Line framing of a byte stream, with bounded line length.

use std::ops::Range;

use memchr::memchr;

use crate::wire::Edges;

/// Next frame in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// Line without its terminator. Never blank.
    Line(&'a [u8]),
    /// Line that exceeded the bound and was dropped, except for its first and last bytes.
    TooLong {
        /// First bytes of the line.
        head: &'a [u8],
        /// Last bytes of the line, without its terminator.
        tail: &'a [u8],
    },
}

/// Spare capacity reserved at once, in bytes.
const CHUNK_BYTES: usize = 64 * 1024;

/// Buffer that splits a byte stream into lines.
#[derive(Debug)]
pub struct LineBuffer {
    /// Bytes of the stream up to `filled`, then spare capacity.
    bytes: Vec<u8>,
    filled: usize,
    /// Start of the next line.
    start: usize,
    /// End of the range from `start` that contains no line end.
    searched: usize,
    limit: usize,
    /// An overlong line is being dropped.
    dropping: bool,
    /// First and last bytes of that line.
    edges: Edges,
}

impl LineBuffer {
    /// Creates a buffer for lines of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            filled: 0,
            start: 0,
            searched: 0,
            limit,
            dropping: false,
            edges: Edges::default(),
        }
    }

    /// Returns spare capacity for the next bytes of the stream. Call [`LineBuffer::advance`] after writing to it.
    pub fn room(&mut self) -> &mut [u8] {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.filled, 0);
            self.filled -= self.start;
            self.searched -= self.start;
            self.start = 0;
        }
        if self.bytes.len() - self.filled < CHUNK_BYTES / 2 {
            self.bytes.resize(self.filled + CHUNK_BYTES, 0);
        }
        &mut self.bytes[self.filled..]
    }

    /// Adds `count` bytes written to the spare capacity to the stream.
    pub fn advance(&mut self, count: usize) {
        self.filled += count;
    }

    /// Returns true if fewer bytes are buffered than one read can return.
    pub fn is_low(&self) -> bool {
        self.filled - self.start < CHUNK_BYTES
    }

    /// Returns the next line, if a complete one is buffered.
    pub fn next_frame(&mut self) -> Option<Frame<'_>> {
        while let Some(at) = memchr(b'\n', &self.bytes[self.searched..self.filled]) {
            let line = self.start..self.searched + at;
            self.start = line.end + 1;
            self.searched = self.start;
            if self.dropping || line.len() > self.limit {
                return Some(self.finish_long_line(line));
            }
            if !is_blank(&self.bytes[line.clone()]) {
                return Some(Frame::Line(&self.bytes[line]));
            }
        }
        self.searched = self.filled;
        self.drop_long_line();
        None
    }

    /// Returns the unterminated last line, if there is one. Call it after the end of the stream.
    pub fn last(&mut self) -> Option<Frame<'_>> {
        let line = self.start..self.filled;
        self.start = self.filled;
        self.searched = self.filled;
        if self.dropping {
            return Some(self.finish_long_line(line));
        }
        (!is_blank(&self.bytes[line.clone()])).then(|| Frame::Line(&self.bytes[line]))
    }

    /// Drops an incomplete line that already exceeds the bound, and releases its memory.
    fn drop_long_line(&mut self) {
        if self.dropping || self.filled - self.start > self.limit {
            self.retain_edges(self.start..self.filled);
            self.dropping = true;
            (self.filled, self.start, self.searched) = (0, 0, 0);
            self.bytes.truncate(CHUNK_BYTES);
            self.bytes.shrink_to_fit();
        }
    }

    /// Updates the retained first and last bytes of an overlong line with its next part.
    fn retain_edges(&mut self, part: Range<usize>) {
        if !self.dropping {
            self.edges = Edges::default();
        }
        self.edges.push(&self.bytes[part]);
    }

    fn finish_long_line(&mut self, rest: Range<usize>) -> Frame<'_> {
        self.retain_edges(rest);
        self.dropping = false;
        Frame::TooLong {
            head: self.edges.head(),
            tail: self.edges.tail(),
        }
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `input` in pieces of `piece` bytes and collects the frames.
    fn lines(input: &[u8], piece: usize, limit: usize) -> Vec<String> {
        let mut buffer = LineBuffer::new(limit);
        let mut lines = Vec::new();
        let mut push = |frame: Frame<'_>| match frame {
            Frame::Line(line) => lines.push(String::from_utf8_lossy(line).into_owned()),
            Frame::TooLong { head, tail } => {
                let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
                lines.push(format!("too long: {head}…{tail}"));
            }
        };
        for piece in input.chunks(piece) {
            buffer.room()[..piece.len()].copy_from_slice(piece);
            buffer.advance(piece.len());
            while let Some(frame) = buffer.next_frame() {
                push(frame);
            }
        }
        if let Some(frame) = buffer.last() {
            push(frame);
        }
        lines
    }

    #[test]
    fn lines_are_split_for_any_chunking_of_the_input() {
        let input = b"one\r\n\n  \ntwo three four\nfive\n123456789\nlast";
        for piece in 1..input.len() {
            assert_eq!(
                lines(input, piece, 8),
                [
                    "one\r",
                    "too long: two three four…two three four",
                    "five",
                    "too long: 123456789…123456789",
                    "last"
                ],
                "{piece}"
            );
        }
        assert_eq!(lines(b"", 1, 8), Vec::<String>::new());
        let long = "too long: 123456789…123456789";
        assert_eq!(lines(b"123456789", 4, 8), [long]);
        let long = [vec![b'a'; 300], vec![b'z'; 300]].concat();
        for piece in [1, 7, 256, 300, 599, 600] {
            let expected = format!("too long: {}…{}", "a".repeat(256), "z".repeat(256));
            assert_eq!(lines(&long, piece, 290), [expected], "{piece}");
        }
    }

    #[test]
    fn an_endless_line_uses_bounded_memory() {
        let mut buffer = LineBuffer::new(100_000);
        for _ in 0..1_000 {
            let spare = buffer.room().len();
            buffer.advance(spare);
            assert_eq!(buffer.next_frame(), None);
            assert!(buffer.bytes.capacity() < 400_000);
        }
    }
}

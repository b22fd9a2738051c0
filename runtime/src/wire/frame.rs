//! Bytes of a stream cut into lines, with a bound on the length of each.

use std::ops::Range;

use memchr::memchr;

/// What the buffer holds next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// One line, without its end; never blank.
    Line(&'a [u8]),
    /// A line was longer than the bound and has been dropped, but for its ends.
    TooLong {
        /// Its first bytes, as many as the bound at least, or as are kept.
        head: &'a [u8],
        /// Its last bytes, without the line end.
        tail: &'a [u8],
    },
}

/// How many bytes of either end of a line are kept that is too long.
const END: usize = 256;

/// How many bytes are made room for at once.
const CHUNK: usize = 64 * 1024;

/// Collects bytes of a stream and cuts them into lines.
#[derive(Debug)]
pub struct LineBuffer {
    /// Bytes up to `filled` came from the stream; those after it are room for more.
    bytes: Vec<u8>,
    filled: usize,
    /// Where the next line starts.
    start: usize,
    /// Everything from `start` up to here is known to hold no line end.
    searched: usize,
    limit: usize,
    /// A line that is too long is being dropped.
    dropping: bool,
    /// The ends of that line.
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl LineBuffer {
    /// A buffer for lines of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            filled: 0,
            start: 0,
            searched: 0,
            limit,
            dropping: false,
            head: Vec::new(),
            tail: Vec::new(),
        }
    }

    /// Where the next bytes of the stream go; [`LineBuffer::advance`] says how many there were.
    pub fn room(&mut self) -> &mut [u8] {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.filled, 0);
            self.filled -= self.start;
            self.searched -= self.start;
            self.start = 0;
        }
        if self.bytes.len() - self.filled < CHUNK / 2 {
            self.bytes.resize(self.filled + CHUNK, 0);
        }
        &mut self.bytes[self.filled..]
    }

    /// Counts `count` more bytes as part of the stream.
    pub fn advance(&mut self, count: usize) {
        self.filled += count;
    }

    /// Whether less is waiting than is read at once.
    pub fn has_little(&self) -> bool {
        self.filled - self.start < CHUNK
    }

    /// The next line, if a whole one is there.
    pub fn next_frame(&mut self) -> Option<Frame<'_>> {
        while let Some(at) = memchr(b'\n', &self.bytes[self.searched..self.filled]) {
            let line = self.start..self.searched + at;
            self.start = line.end + 1;
            self.searched = self.start;
            if self.dropping || line.len() > self.limit {
                return Some(self.end_long_line(line));
            }
            if !is_blank(&self.bytes[line.clone()]) {
                return Some(Frame::Line(&self.bytes[line]));
            }
        }
        self.searched = self.filled;
        self.drop_long_line();
        None
    }

    /// What is left when the stream has ended: a last line without its end.
    pub fn last(&mut self) -> Option<Frame<'_>> {
        let line = self.start..self.filled;
        self.start = self.filled;
        self.searched = self.filled;
        if self.dropping {
            return Some(self.end_long_line(line));
        }
        (!is_blank(&self.bytes[line.clone()])).then(|| Frame::Line(&self.bytes[line]))
    }

    /// Lets go of an unfinished line that is too long already, and of the memory it took.
    fn drop_long_line(&mut self) {
        if self.dropping || self.filled - self.start > self.limit {
            self.keep_ends(self.start..self.filled);
            self.dropping = true;
            (self.filled, self.start, self.searched) = (0, 0, 0);
            self.bytes.truncate(CHUNK);
            self.bytes.shrink_to_fit();
        }
    }

    /// Keeps the ends of a line that is too long, of which this part has come now.
    fn keep_ends(&mut self, part: Range<usize>) {
        let part = &self.bytes[part];
        if !self.dropping {
            self.head.clear();
            self.head.extend_from_slice(&part[..part.len().min(END)]);
            self.tail.clear();
        }
        self.tail
            .extend_from_slice(&part[part.len().saturating_sub(END)..]);
        let surplus = self.tail.len().saturating_sub(END);
        self.tail.drain(..surplus);
    }

    fn end_long_line(&mut self, rest: Range<usize>) -> Frame<'_> {
        self.keep_ends(rest);
        self.dropping = false;
        Frame::TooLong {
            head: &self.head,
            tail: &self.tail,
        }
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `input` in pieces of `piece` bytes and collects what comes out.
    fn lines(input: &[u8], piece: usize, limit: usize) -> Vec<String> {
        let mut buffer = LineBuffer::new(limit);
        let mut lines = Vec::new();
        let mut push = |frame: Frame<'_>| match frame {
            Frame::Line(line) => lines.push(String::from_utf8_lossy(line).into_owned()),
            Frame::TooLong { head, tail } => {
                let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
                assert!(
                    head.len() >= limit.min(END),
                    "the beginning is kept: {head}"
                );
                lines.push(format!("too long: {}…{tail}", &head[..limit.min(END)]));
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
    fn lines_are_cut_however_the_bytes_arrive() {
        let input = b"one\r\n\n  \ntwo three four\nfive\n123456789\nlast";
        for piece in 1..input.len() {
            assert_eq!(
                lines(input, piece, 8),
                [
                    "one\r",
                    "too long: two thre…two three four",
                    "five",
                    "too long: 12345678…123456789",
                    "last"
                ],
                "{piece}"
            );
        }
        assert_eq!(lines(b"", 1, 8), Vec::<String>::new());
        let long = "too long: 12345678…123456789";
        assert_eq!(lines(b"123456789", 4, 8), [long]);
        let long = [vec![b'a'; 300], vec![b'z'; 300]].concat();
        for piece in [1, 7, 256, 300, 599, 600] {
            let expected = format!("too long: {}…{}", "a".repeat(END), "z".repeat(END));
            assert_eq!(lines(&long, piece, 290), [expected], "{piece}");
        }
    }

    #[test]
    fn an_endless_line_takes_bounded_memory() {
        let mut buffer = LineBuffer::new(100_000);
        for _ in 0..1_000 {
            let room = buffer.room().len();
            buffer.advance(room);
            assert_eq!(buffer.next_frame(), None);
            assert!(buffer.bytes.capacity() < 400_000);
        }
    }
}

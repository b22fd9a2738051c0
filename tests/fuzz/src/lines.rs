//! Framing of lines: the frames of a stream do not depend on its pieces.

use treenail_schema::internal::wire::{Frame, LineBuffer};

/// Frame, as the reference and the buffer report it.
#[derive(Debug, PartialEq)]
enum Found {
    Line(Vec<u8>),
    TooLong,
}

/// The first byte is the limit, the second one the size of the pieces. The rest is the stream.
pub(crate) fn run(data: &[u8]) {
    let [limit, piece, stream @ ..] = data else {
        return;
    };
    let (limit, piece) = (usize::from(*limit), usize::from(*piece) + 1);
    let expected = reference(stream, limit);
    let mut buffer = LineBuffer::new(limit);
    let mut frames = Vec::new();
    let mut check = |frame: Frame<'_>| match frame {
        Frame::Line(line) => frames.push(Found::Line(line.to_vec())),
        Frame::TooLong { head, tail } => {
            let is_part = |part: &[u8]| stream.windows(part.len().max(1)).any(|it| it == part);
            assert!(head.is_empty() || is_part(head), "head of the stream");
            assert!(tail.is_empty() || is_part(tail), "tail of the stream");
            assert!(head.len() >= limit.min(256), "length of the head");
            frames.push(Found::TooLong);
        }
    };
    for piece in stream.chunks(piece) {
        buffer.room()[..piece.len()].copy_from_slice(piece);
        buffer.advance(piece.len());
        while let Some(frame) = buffer.next_frame() {
            check(frame);
        }
    }
    if let Some(frame) = buffer.last() {
        check(frame);
    }
    assert_eq!(frames, expected);
}

fn reference(stream: &[u8], limit: usize) -> Vec<Found> {
    let is_blank = |line: &&[u8]| line.len() <= limit && line.trim_ascii().is_empty();
    let lines = stream.split(|byte| *byte == b'\n');
    let lines = lines.filter(|line| !is_blank(line));
    lines
        .map(|line| {
            if line.len() > limit {
                Found::TooLong
            } else {
                Found::Line(line.to_vec())
            }
        })
        .collect()
}

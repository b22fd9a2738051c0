//! Cuts what is too long, and says so.

use std::borrow::Cow;

use treenail_schema::ContentBlock;

use super::describe::{Piece, format_size};

/// How much there is always room for.
const MIN_BYTES: usize = 256;

/// The least that is left of a text that is cut, what is said of that included.
const MIN_TEXT_BYTES: usize = 160;

/// How many pieces there may be.
const MAX_PIECES: usize = 1000;

/// The pieces in order, in at most so many bytes. Short ones stay whole, and of long ones the middle is left out; where there
/// are too many, the last ones are.
pub(super) fn truncate(mut pieces: Vec<Piece<'_>>, max: usize) -> Vec<ContentBlock> {
    let max = max.max(MIN_BYTES);
    // What cannot be cut has to have room, and leave some.
    let mut remaining = max - max / 4;
    for piece in &mut pieces {
        if let Piece::Media(_, bytes, marker) = piece {
            if let Some(left) = remaining.checked_sub(*bytes) {
                remaining = left;
            } else {
                let marker = format!("[{marker}, which is too large to be shown to you]");
                *piece = Piece::Text(marker.into());
            }
        }
    }
    let count = fitting_count(&pieces, max);
    let omitted = pieces.len() - count;
    pieces.truncate(count);
    let note = (omitted > 0).then(|| format!("[{omitted} more pieces of the result are left out]"));
    let remaining = max - note.as_ref().map_or(0, String::len);
    let share = text_limit(&pieces, remaining);
    let mut blocks: Vec<_> = pieces
        .into_iter()
        .map(|piece| block(piece, share))
        .collect();
    blocks.extend(note.map(ContentBlock::text));
    blocks
}

/// How many bytes a piece takes at least.
fn min_size(piece: &Piece<'_>) -> usize {
    match piece {
        Piece::Text(text) => text.len().min(MIN_TEXT_BYTES),
        Piece::Media(_, bytes, _) => *bytes,
    }
}

/// How many of the pieces there is room for, if they are cut as far as they can be.
fn fitting_count(pieces: &[Piece<'_>], max: usize) -> usize {
    let all: usize = pieces.iter().map(min_size).sum();
    if all <= max && pieces.len() <= MAX_PIECES {
        return pieces.len();
    }
    // What is said of the others takes room too.
    let mut remaining = max - MIN_BYTES / 4;
    let fits = |piece: &&Piece<'_>| {
        let left = remaining.checked_sub(min_size(piece));
        remaining = left.unwrap_or_default();
        left.is_some()
    };
    pieces.iter().take(MAX_PIECES).take_while(fits).count()
}

/// How long a text may be, so that all of them have room.
fn text_limit(pieces: &[Piece<'_>], max: usize) -> usize {
    let mut remaining = max;
    let mut lengths = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => lengths.push(text.len()),
            Piece::Media(_, bytes, _) => remaining = remaining.saturating_sub(*bytes),
        }
    }
    lengths.sort_unstable();
    let mut left = lengths.len();
    for length in lengths {
        // What short texts do not take is for the longer ones.
        if length * left > remaining {
            return remaining / left;
        }
        remaining -= length;
        left -= 1;
    }
    usize::MAX
}

fn block(piece: Piece<'_>, max: usize) -> ContentBlock {
    match piece {
        Piece::Text(text) => ContentBlock::text(truncate_middle(text, max)),
        Piece::Media(block, _, _) => *block,
    }
}

/// A text of at most so many bytes: of a longer one, the beginning and less of the end, with words between them that say so.
fn truncate_middle(text: Cow<'_, str>, max: usize) -> String {
    if text.len() <= max {
        return text.into_owned();
    }
    let marker = |omitted: usize| {
        let (omitted, all) = (format_size(omitted as u64), format_size(text.len() as u64));
        format!("\n[… {omitted} of {all} are left out here …]\n")
    };
    // A smaller size can take some letters more: `1023.9 KiB` is less than `1 MiB`.
    let remaining = max.saturating_sub(marker(text.len()).len() + 8);
    let mut start = remaining - remaining / 4;
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = text.len() - remaining / 4;
    while !text.is_char_boundary(end) {
        end += 1;
    }
    format!("{}{}{}", &text[..start], marker(end - start), &text[end..])
}

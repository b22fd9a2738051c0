//! Cuts what is too long, and says so.

use std::borrow::Cow;

use treenail_schema::ContentBlock;

use super::told::{Piece, size};

/// How much there is always room for.
const LEAST: usize = 256;

/// The least that is left of a text that is cut, what is said of that included.
const CUT: usize = 160;

/// How many pieces there may be.
const PIECES: usize = 1000;

/// The pieces in order, in at most so many bytes. Short ones stay whole, and of long ones the middle is left out; where there
/// are too many, the last ones are.
pub(super) fn fit(mut pieces: Vec<Piece<'_>>, most: usize) -> Vec<ContentBlock> {
    let most = most.max(LEAST);
    // What cannot be cut has to have room, and leave some.
    let mut room = most - most / 4;
    for piece in &mut pieces {
        if let Piece::Media(_, bytes, words) = piece {
            if let Some(left) = room.checked_sub(*bytes) {
                room = left;
            } else {
                let words = format!("[{words}, which is too large to be shown to you]");
                *piece = Piece::Text(words.into());
            }
        }
    }
    let count = kept(&pieces, most);
    let left_out = pieces.len() - count;
    pieces.truncate(count);
    let note =
        (left_out > 0).then(|| format!("[{left_out} more pieces of the result are left out]"));
    let room = most - note.as_ref().map_or(0, String::len);
    let share = share(&pieces, room);
    let mut blocks: Vec<_> = pieces
        .into_iter()
        .map(|piece| block(piece, share))
        .collect();
    blocks.extend(note.map(ContentBlock::text));
    blocks
}

/// How many bytes a piece takes at least.
fn least(piece: &Piece<'_>) -> usize {
    match piece {
        Piece::Text(text) => text.len().min(CUT),
        Piece::Media(_, bytes, _) => *bytes,
    }
}

/// How many of the pieces there is room for, if they are cut as far as they can be.
fn kept(pieces: &[Piece<'_>], most: usize) -> usize {
    let all: usize = pieces.iter().map(least).sum();
    if all <= most && pieces.len() <= PIECES {
        return pieces.len();
    }
    // What is said of the others takes room too.
    let mut room = most - LEAST / 4;
    let fits = |piece: &&Piece<'_>| {
        let left = room.checked_sub(least(piece));
        room = left.unwrap_or_default();
        left.is_some()
    };
    pieces.iter().take(PIECES).take_while(fits).count()
}

/// How long a text may be, so that all of them have room.
fn share(pieces: &[Piece<'_>], most: usize) -> usize {
    let mut room = most;
    let mut lengths = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => lengths.push(text.len()),
            Piece::Media(_, bytes, _) => room = room.saturating_sub(*bytes),
        }
    }
    lengths.sort_unstable();
    let mut left = lengths.len();
    for length in lengths {
        // What short texts do not take is for the longer ones.
        if length * left > room {
            return room / left;
        }
        room -= length;
        left -= 1;
    }
    usize::MAX
}

fn block(piece: Piece<'_>, most: usize) -> ContentBlock {
    match piece {
        Piece::Text(text) => ContentBlock::text(cut(text, most)),
        Piece::Media(block, _, _) => *block,
    }
}

/// A text of at most so many bytes: of a longer one, the beginning and less of the end, with words between them that say so.
fn cut(text: Cow<'_, str>, most: usize) -> String {
    if text.len() <= most {
        return text.into_owned();
    }
    let words = |left_out: usize| {
        let (left_out, all) = (size(left_out as u64), size(text.len() as u64));
        format!("\n[… {left_out} of {all} are left out here …]\n")
    };
    // A smaller size can take some letters more: `1023.9 KiB` is less than `1 MiB`.
    let room = most.saturating_sub(words(text.len()).len() + 8);
    let mut start = room - room / 4;
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = text.len() - room / 4;
    while !text.is_char_boundary(end) {
        end += 1;
    }
    format!("{}{}{}", &text[..start], words(end - start), &text[end..])
}

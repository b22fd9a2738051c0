//! Truncation of long results, with a note.

use std::borrow::Cow;

use treenail_schema::ContentBlock;

use super::describe::{Piece, format_size, media_bytes};

/// Minimum budget, in bytes.
const MIN_BYTES: usize = 256;

/// Minimum size of a truncated text, including its marker.
const MIN_TEXT_BYTES: usize = 160;

/// Maximum number of pieces.
const MAX_PIECES: usize = 1000;

/// Replaces media beyond `max` bytes with their descriptions, because they cannot be truncated.
pub(super) fn omit_media(pieces: &mut [Piece<'_>], max: usize) {
    let mut remaining = max;
    for piece in pieces {
        if let Piece::Media(block, description) = piece {
            if let Some(left) = remaining.checked_sub(media_bytes(block)) {
                remaining = left;
            } else {
                let marker = format!("[{description}, too large to be shown]");
                *piece = Piece::Text(marker.into());
            }
        }
    }
}

/// Returns the pieces in order, with at most `max` bytes of text. Short pieces and media are unchanged, long texts lose their
/// middle, and surplus pieces at the end are dropped.
pub(super) fn truncate(mut pieces: Vec<Piece<'_>>, max: usize) -> Vec<ContentBlock> {
    let max = max.max(MIN_BYTES);
    let count = fitting_count(&pieces, max);
    let omitted = pieces.len() - count;
    pieces.truncate(count);
    let note = (omitted > 0).then(|| format!("[{omitted} more parts of the result are omitted]"));
    let remaining = max - note.as_ref().map_or(0, String::len);
    let share = text_limit(&pieces, remaining);
    let mut blocks: Vec<_> = pieces
        .into_iter()
        .map(|piece| block(piece, share))
        .collect();
    blocks.extend(note.map(ContentBlock::text));
    blocks
}

/// Length of the text of a piece.
fn text_len(piece: &Piece<'_>) -> usize {
    match piece {
        Piece::Text(text) => text.len(),
        Piece::Media(..) => 0,
    }
}

/// Number of pieces that fit if all of them are truncated to the minimum.
fn fitting_count(pieces: &[Piece<'_>], max: usize) -> usize {
    let min_len = |piece: &Piece<'_>| text_len(piece).min(MIN_TEXT_BYTES);
    let all: usize = pieces.iter().map(min_len).sum();
    if all <= max && pieces.len() <= MAX_PIECES {
        return pieces.len();
    }
    // The note about dropped pieces needs room too.
    let mut remaining = max - MIN_BYTES / 4;
    let fits = |piece: &&Piece<'_>| {
        let left = remaining.checked_sub(min_len(piece));
        remaining = left.unwrap_or_default();
        left.is_some()
    };
    pieces.iter().take(MAX_PIECES).take_while(fits).count()
}

/// Maximum length of a text so that all texts fit.
fn text_limit(pieces: &[Piece<'_>], max: usize) -> usize {
    let mut remaining = max;
    let mut lengths: Vec<_> = pieces.iter().map(text_len).collect();
    lengths.sort_unstable();
    let mut left = lengths.len();
    for length in lengths {
        // Short texts leave their share to longer ones.
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
        Piece::Media(block, _) => *block,
    }
}

/// Truncates a text to at most `max` bytes: retains its start and a smaller part of its end, with a marker between
/// them.
fn truncate_middle(text: Cow<'_, str>, max: usize) -> String {
    if text.len() <= max {
        return text.into_owned();
    }
    let marker = |omitted: usize| {
        let (omitted, all) = (format_size(omitted as u64), format_size(text.len() as u64));
        format!("\n[… {omitted} of {all} omitted …]\n")
    };
    // A smaller size can be longer as text: `1023.9 KiB` is less than `1 MiB`.
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

//! Text of a peer within messages, cut to a bounded length.

/// The longest piece of a peer's text that is repeated in an error message, in characters.
const QUOTED: usize = 64;

/// A peer's text between backticks, cut to a bounded length, with control characters escaped.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("`");
    let start = text.char_indices().nth(QUOTED);
    let start = start.map_or(text, |(end, _)| &text[..end]);
    push_start(&mut quoted, &start.replace('`', "'"), QUOTED);
    quoted.push_str(if start.len() < text.len() {
        "…`"
    } else {
        "`"
    });
    quoted
}

/// The longest reason that is told, in characters: those of `serde_json` repeat what the peer sent.
const REASON: usize = 200;

/// A reason why something could not be read, cut to a bounded length, with control characters escaped.
pub fn shortened(reason: &str) -> String {
    let mut shortened = String::with_capacity(reason.len().min(REASON));
    if push_start(&mut shortened, reason, REASON) {
        shortened.push('…');
    }
    shortened
}

/// Appends at most `most` characters. A line end of a peer must not start another line of a message. Returns true if more follow.
fn push_start(out: &mut String, text: &str, most: usize) -> bool {
    let mut characters = text.chars();
    for character in characters.by_ref().take(most) {
        if character.is_control() {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    characters.next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_of_a_peer_is_one_line_of_bounded_length() {
        assert_eq!(
            shortened("unknown field `a\nb\u{1b}`"),
            r"unknown field `a\nb\u{1b}`"
        );
        assert_eq!(shortened(&"é".repeat(REASON)), "é".repeat(REASON));
        let cut = shortened(&"é".repeat(REASON + 1));
        assert_eq!(cut, "é".repeat(REASON) + "…");
        assert_eq!(quoted("a`b\r"), r"`a'b\r`");
    }
}

//! Text of a peer within messages, cut to a bounded length.

/// Returns `true` for control characters, bidirectional controls, characters that Unicode defines as ignorable, and line
/// separators: a peer can use them to hide text from people. Joiners and the 16 variation selectors of the first plane are excluded,
/// because scripts and emoji need them. The public function is that of `treenail-contract`.
pub fn is_invisible(character: char) -> bool {
    match character {
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'
        | '\u{200e}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        other => other.is_control(),
    }
}

/// The longest piece of a peer's text that is repeated in an error message, in characters.
const QUOTED: usize = 64;

/// A peer's text between backticks, cut to a bounded length, with invisible characters escaped.
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

/// A reason why something could not be read, cut to a bounded length, with invisible characters escaped.
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
        if is_invisible(character) {
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

    #[test]
    fn a_text_of_a_peer_hides_nothing() {
        assert_eq!(quoted("a\u{202e}b\u{e0041}"), r"`a\u{202e}b\u{e0041}`");
        assert_eq!(shortened("\u{2066}\u{ad}"), r"\u{2066}\u{ad}");
        for text in ["ü 漢 한 ᠠ", "👩\u{200d}🚀 ❤\u{fe0f}", "می\u{200c}خواهم"] {
            assert_eq!(shortened(text), text);
        }
    }
}

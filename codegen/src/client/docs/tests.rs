//! Texts of servers that are rendered as written, whatever they contain.

use super::markdown::{MAX_LINE_LENGTH, is_invisible};
use super::{Docs, code, inline};

#[test]
fn texts_render_as_they_were_written() {
    for (text, escaped) in [
        ("The path, e.g. `a/b`.", "The path, e.g. `a/b`."),
        ("an `unclosed tick", "an \\`unclosed tick"),
        ("``two``", "\\`\\`two\\`\\`"),
        ("a [link](to) <b>", "a \\[link\\](to) \\<b\\>"),
        (
            "Vec<String> & max_length _x_",
            "Vec\\<String\\> \\& max_length \\_x\\_",
        ),
        ("*/ fn main() {}", "\\*/ fn main() {}"),
        ("# Errors", "\\# Errors"),
        ("1. one", "1\\. one"),
        ("--- a", "\\--- a"),
        (
            "see https://a.b/c_d?e=f, (http://x).",
            "see <https://a.b/c_d?e=f>, (<http://x>).",
        ),
        ("http://", "http:\\//"),
        ("a\u{202e}b\rc\0d", "a b c d"),
    ] {
        assert_eq!(inline(text), escaped);
    }
}

/// The list is repeated here because a dependency on `treenail-contract` would be circular.
#[test]
fn invisible_characters_are_those_of_the_contract() {
    for c in '\0'..=char::MAX {
        assert_eq!(is_invisible(c), treenail_contract::is_invisible(c), "{c:?}");
    }
}

#[test]
fn invisible_characters_are_removed() {
    for c in [
        '\u{1b}',
        '\u{9b}',
        '\u{ad}',
        '\u{34f}',
        '\u{61c}',
        '\u{115f}',
        '\u{1160}',
        '\u{17b4}',
        '\u{180e}',
        '\u{200b}',
        '\u{200f}',
        '\u{2028}',
        '\u{202e}',
        '\u{2060}',
        '\u{206f}',
        '\u{3164}',
        '\u{feff}',
        '\u{ffa0}',
        '\u{fff9}',
        '\u{1bca0}',
        '\u{1d173}',
        '\u{e0001}',
        '\u{e0041}',
        '\u{e007f}',
        '\u{e0100}',
        '\u{e01ef}',
        '\u{e0fff}',
    ] {
        assert_eq!(inline(&format!("a{c}b")), "a b", "{c:?}");
        assert_eq!(code(&format!("a{c}b")), "`a b`", "{c:?}");
    }
    for text in ["👩\u{200d}🚀", "❤\u{fe0f}", "می\u{200c}خواهم"] {
        assert_eq!(inline(text), text);
    }
}

fn lines(text: &str) -> Vec<String> {
    Docs::quoted(text).lines
}

#[test]
fn no_line_is_code() {
    assert_eq!(
        lines("a:\n\n    panic!();\n\tb"),
        ["a:", "", "panic!();", "b"]
    );
    assert_eq!(
        lines("```\npanic!()\n```"),
        ["\\`\\`\\`", "panic!()", "\\`\\`\\`"]
    );
}

#[test]
fn lists_stay_lists() {
    assert_eq!(
        lines("of:\n- a\n* b\nend"),
        ["of:", "", "- a", "- b", "", "end"]
    );
    assert_eq!(lines("- # a"), ["- \\# a"]);
    assert_eq!(lines("1. a\n2. b"), ["1\\. a", "", "2\\. b"]);
}

#[test]
fn long_texts_are_cut_off() {
    let text = "word ".repeat(2_000);
    let lines = lines(&text);
    assert!(
        lines
            .iter()
            .all(|line| line.chars().count() <= MAX_LINE_LENGTH)
    );
    assert_eq!(lines.last().map(String::as_str), Some("…"));
}

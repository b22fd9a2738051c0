//! Text without anything that a terminal would obey, or that would make it look like other text.

use treenail::client::is_invisible;

/// The text with what a terminal would obey made visible. Lines and tabs stay.
pub(crate) fn clean(text: &str) -> String {
    if text.chars().all(|c| !is_hostile(c)) {
        return text.to_owned();
    }
    let mut clean = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\r' if rest.peek() == Some(&'\n') => {}
            c if is_hostile(c) => push_visible(&mut clean, c),
            c => clean.push(c),
        }
    }
    clean
}

/// The same on one line: what separates words becomes one space.
pub(crate) fn clean_line(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    clean(&words.join(" "))
}

/// Whether a terminal might do something else with a character than show it in its place.
pub(super) fn is_hostile(c: char) -> bool {
    !matches!(c, '\n' | '\t') && is_invisible(c)
}

fn push_visible(clean: &mut String, c: char) {
    let picture = match c {
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(c)),
        '\x7f' => Some('␡'),
        _ => None,
    };
    match picture {
        Some(picture) => clean.push(picture),
        None => clean.extend(c.escape_unicode()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_that_a_terminal_obeys() {
        let cases = [
            ("plain\n\ttext ü 漢 👩‍🚀", "plain\n\ttext ü 漢 👩‍🚀"),
            ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
            ("\x1b]8;;http://a\x07link", "␛]8;;http://a␇link"),
            ("over\rwritten", "over␍written"),
            ("two\r\nlines", "two\nlines"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("a\u{202e}txt.exe", "a\\u{202e}txt.exe"),
            ("del\x7f\x08", "del␡␈"),
        ];
        for (text, expected) in cases {
            assert_eq!(clean(text), expected, "{text:?}");
        }
        assert_eq!(clean_line(" a\n  b\x1b "), "a b␛");
        for c in '\0'..=char::MAX {
            let text = clean(&c.to_string());
            assert!(!text.chars().any(is_hostile), "{c:?}");
        }
    }

    #[test]
    fn what_nobody_sees_is_made_visible() {
        let hidden = [
            "\u{ad}",
            "\u{34f}",
            "\u{61c}",
            "\u{115f}",
            "\u{1160}",
            "\u{17b4}",
            "\u{180b}",
            "\u{180e}",
            "\u{180f}",
            "\u{200b}",
            "\u{200e}",
            "\u{200f}",
            "\u{2028}",
            "\u{202e}",
            "\u{2060}",
            "\u{206f}",
            "\u{3164}",
            "\u{feff}",
            "\u{ffa0}",
            "\u{fff0}",
            "\u{fffb}",
            "\u{1bca0}",
            "\u{1d17a}",
            "\u{e0000}",
            "\u{e007f}",
            "\u{e0080}",
            "\u{e0100}",
            "\u{e01ef}",
            "\u{e01f0}",
            "\u{e0fff}",
        ];
        for text in hidden {
            let shown = clean(text);
            assert!(shown.starts_with("\\u{") && shown.is_ascii(), "{text:?}");
        }
        for text in ["ü 漢 한 ᠠ", "👩\u{200d}🚀 ❤\u{fe0f}", "می\u{200c}خواهم"] {
            assert_eq!(clean(text), text);
        }
    }
}

//! Escaping of control and invisible characters, so that untrusted text cannot control the terminal or disguise itself.

use treenail::client::is_invisible;

/// Replaces control and invisible characters by visible ones. Line feeds and tabs stay.
pub(crate) fn sanitize_text(text: &str) -> String {
    if text.chars().all(|c| !is_unsafe(c)) {
        return text.to_owned();
    }
    let mut sanitized = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\r' if rest.peek() == Some(&'\n') => {}
            c if is_unsafe(c) => push_escaped(&mut sanitized, c),
            c => sanitized.push(c),
        }
    }
    sanitized
}

/// Does the same for one line: each run of whitespace becomes a single space.
pub(crate) fn sanitize_line(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    sanitize_text(&words.join(" "))
}

/// Returns whether a terminal may interpret or hide the character instead of printing it.
pub(super) fn is_unsafe(c: char) -> bool {
    !matches!(c, '\n' | '\t') && is_invisible(c)
}

fn push_escaped(sanitized: &mut String, c: char) {
    let picture = match c {
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(c)),
        '\x7f' => Some('␡'),
        _ => None,
    };
    match picture {
        Some(picture) => sanitized.push(picture),
        None => sanitized.extend(c.escape_unicode()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_made_visible() {
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
            assert_eq!(sanitize_text(text), expected, "{text:?}");
        }
        assert_eq!(sanitize_line(" a\n  b\x1b "), "a b␛");
        for c in '\0'..=char::MAX {
            let text = sanitize_text(&c.to_string());
            assert!(!text.chars().any(is_unsafe), "{c:?}");
        }
    }

    #[test]
    fn invisible_characters_are_escaped() {
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
            let sanitized = sanitize_text(text);
            assert!(
                sanitized.starts_with("\\u{") && sanitized.is_ascii(),
                "{text:?}"
            );
        }
        for text in ["ü 漢 한 ᠠ", "👩\u{200d}🚀 ❤\u{fe0f}", "می\u{200c}خواهم"] {
            assert_eq!(sanitize_text(text), text);
        }
    }
}

//! Escaping of invisible characters. In descriptions from a server, such characters can hide text from the reader.

use std::borrow::Cow;
use std::fmt::Write;

use treenail_schema::internal;

/// Returns `true` for characters that are invisible, or that change how other characters are displayed: control characters,
/// bidirectional controls, characters that Unicode defines as ignorable, and line separators. A server can use them to hide
/// text from people, so programs should escape them before they display text from a server. Joiners and the 16 variation
/// selectors of the first plane are excluded, because scripts and emoji need them.
///
/// ```
/// use treenail::client::is_invisible;
///
/// assert!(is_invisible('\u{202e}') && is_invisible('\u{1b}'));
/// assert!(!"ü 漢 👩‍🚀".chars().any(is_invisible));
/// ```
pub fn is_invisible(character: char) -> bool {
    internal::is_invisible(character)
}

/// Escapes invisible characters in a line as `\u{…}`, except tabs.
pub(super) fn escape_invisible(text: &str) -> Cow<'_, str> {
    let is_shown = |character: char| character == '\t' || !is_invisible(character);
    if text.chars().all(is_shown) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if is_shown(character) {
            escaped.push(character);
        } else {
            escaped.extend(character.escape_unicode());
        }
    }
    Cow::Owned(escaped)
}

/// Escapes invisible characters in JSON. They occur in strings only, so the value does not change.
pub(super) fn escape_invisible_json(json: String) -> String {
    let is_shown = |character: char| character == '\n' || !is_invisible(character);
    if json.chars().all(is_shown) {
        return json;
    }
    let mut escaped = String::with_capacity(json.len());
    for character in json.chars() {
        if is_shown(character) {
            escaped.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            write!(escaped, "\\u{unit:04x}").expect("writing to a string does not fail");
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_escaped_and_others_are_unchanged() {
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
            let escaped = escape_invisible(text);
            assert!(
                escaped.starts_with("\\u{") && escaped.is_ascii(),
                "{text:?}"
            );
            let json = escape_invisible_json(format!("\"{text}\""));
            assert!(json.is_ascii(), "{json}");
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
        for text in ["\tü 漢 한 ᠠ", "👩\u{200d}🚀 ❤\u{fe0f}", "می\u{200c}خواهم"] {
            assert_eq!(escape_invisible(text), text);
            assert_eq!(
                escape_invisible_json(text.replace('\t', "")),
                text.replace('\t', "")
            );
        }
    }
}

//! Characters that nobody sees, and that change how others look: in what a server says of its tools they hide something.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character is not shown in its place, or changes how others are shown: what controls something, what Unicode
/// calls ignorable, marks of direction, separators of lines. What a server says may hide something from people in them, so
/// programs that show it should show them as something else. Joiners and the 16 selectors of the first plane are not among
/// them: scripts and emoji are made with them.
///
/// ```
/// use treenail::client::is_invisible;
///
/// assert!(is_invisible('\u{202e}') && is_invisible('\u{1b}'));
/// assert!(!"ü 漢 👩‍🚀".chars().any(is_invisible));
/// ```
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

/// The text with such characters as `\u{…}`. Tabs stay; there are no lines here.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    let is_shown = |character: char| character == '\t' || !is_invisible(character);
    if text.chars().all(is_shown) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_shown(character) {
            shown.push(character);
        } else {
            shown.extend(character.escape_unicode());
        }
    }
    Cow::Owned(shown)
}

/// JSON, with such characters escaped: only texts have them, so it is the same value.
pub(super) fn visible_json(json: String) -> String {
    let is_shown = |character: char| character == '\n' || !is_invisible(character);
    if json.chars().all(is_shown) {
        return json;
    }
    let mut shown = String::with_capacity(json.len());
    for character in json.chars() {
        if is_shown(character) {
            shown.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            write!(shown, "\\u{unit:04x}").expect("a string takes everything");
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_escaped_and_all_else_stays() {
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
            let shown = visible(text);
            assert!(shown.starts_with("\\u{") && shown.is_ascii(), "{text:?}");
            let json = visible_json(format!("\"{text}\""));
            assert!(json.is_ascii(), "{json}");
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
        for text in ["\tü 漢 한 ᠠ", "👩\u{200d}🚀 ❤\u{fe0f}", "می\u{200c}خواهم"] {
            assert_eq!(visible(text), text);
            assert_eq!(visible_json(text.replace('\t', "")), text.replace('\t', ""));
        }
    }
}

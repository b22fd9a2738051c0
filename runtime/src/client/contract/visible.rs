//! Characters that nobody sees, and that change how others look: in what a server says of its tools they hide something.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character is not shown in its place, or changes how others are shown. Joiners are not among them: scripts and
/// emoji are made with them.
fn is_invisible(character: char) -> bool {
    match character {
        '\u{061c}'
        | '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' => true,
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

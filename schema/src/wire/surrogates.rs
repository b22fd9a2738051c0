//! Halves of characters. JavaScript writes them for a text that it has cut within a character. JSON allows them, `serde_json` does not.

use std::ops::Range;

use serde::de::DeserializeOwned;

/// Length of an escape such as `\ud83d`.
const ESCAPE_BYTES: usize = 6;

/// Reads a value of a peer from its JSON text. Halves of characters become U+FFFD.
pub fn read_json<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    serde_json::from_str(text).or_else(|error| match replace_halves(text) {
        Some(text) => serde_json::from_str(&text),
        None => Err(error),
    })
}

/// Replaces the escapes of halves of characters in a JSON text with that of U+FFFD. `None` if there are none.
#[cold]
pub fn replace_halves(text: &str) -> Option<String> {
    let (mut replaced, mut copied, mut at) = (String::new(), 0, 0);
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('\\')) {
        let start = at + found;
        at = start
            + match kind_of(text, start) {
                None => 2,
                Some(Half::First) if kind_of(text, start + ESCAPE_BYTES) == Some(Half::Second) => {
                    2 * ESCAPE_BYTES
                }
                Some(_) => {
                    replaced.push_str(&text[copied..start]);
                    replaced.push_str("\\ufffd");
                    copied = start + ESCAPE_BYTES;
                    ESCAPE_BYTES
                }
            };
    }
    (copied > 0).then(|| replaced + &text[copied..])
}

/// Half of a character: one of two surrogates of UTF-16.
#[derive(PartialEq, Eq)]
enum Half {
    First,
    Second,
}

/// Returns which half the escape at `start` is, if it is one.
fn kind_of(text: &str, start: usize) -> Option<Half> {
    let digits: Range<usize> = start + 2..start + ESCAPE_BYTES;
    let is_escape = text.get(start..digits.start)? == "\\u";
    let unit = u16::from_str_radix(text.get(digits)?, 16).ok()?;
    match unit {
        0xd800..=0xdbff if is_escape => Some(Half::First),
        0xdc00..=0xdfff if is_escape => Some(Half::Second),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_halves_of_characters_are_replaced() {
        let cases = [
            (r#""Hello \ud83d""#, "Hello \u{fffd}"),
            (r#""\ude00 world""#, "\u{fffd} world"),
            (r#""\ud83d\ud83d\ude00\\ud83d""#, "\u{fffd}\u{1f600}\\ud83d"),
            (r#""\\\ud83d\\""#, "\\\u{fffd}\\"),
            (r#""\ud83d\n""#, "\u{fffd}\n"),
            (r#""ä\uDBFFü""#, "ä\u{fffd}ü"),
            (r#""\ud83d\ude00 \u00e4""#, "\u{1f600} ä"),
        ];
        for (text, expected) in cases {
            let read: String = read_json(text).expect("it is JSON");
            assert_eq!(read, expected, "{text}");
        }
        for text in [r#""\ud83d\ude00\\ud800""#, "\"\\ä", "\"\\", "\"\\ud8", ""] {
            assert_eq!(replace_halves(text), None, "{text}");
        }
    }
}

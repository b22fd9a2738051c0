//! Estimated memory of a JSON text once it has been read as values.

use std::mem::size_of;

use memchr::memchr2;
use serde_json::Value;

/// Bytes of a value, with the room that a growing list reserves.
const VALUE: usize = size_of::<Value>() * 3 / 2;

/// Bytes of a member of an object, apart from its value and the text of its name.
const MEMBER: usize = size_of::<(u64, String)>() * 3 / 2 + size_of::<usize>();

/// Bytes that the allocator adds to the text of a string.
const STRING: usize = 16;

/// Most bytes of memory per byte of text, with some room: a list of digits has one value in each two bytes.
const DENSEST: usize = VALUE;

/// Returns whether the values of a text would take more than `most` bytes. Short texts are not even looked at.
pub(crate) fn is_heavier(text: &str, most: usize) -> bool {
    text.len() > most / DENSEST && weight(text) > most
}

/// Estimates the bytes that the values of a JSON text take, in one pass and without reading them.
pub(crate) fn weight(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut values, mut members, mut strings) = (1_usize, 0_usize, 0_usize);
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b',' | b'[' | b'{' => values += 1,
            b':' => members += 1,
            b'"' => {
                strings += 1;
                at = end_of_string(bytes, at);
            }
            _ => {}
        }
    }
    let parts = [(values, VALUE), (members, MEMBER), (strings, STRING)];
    let parts = parts
        .iter()
        .map(|(count, bytes)| count.saturating_mul(*bytes));
    parts.fold(text.len(), usize::saturating_add)
}

/// The position behind the end of a string whose content starts at `at`.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(found) = memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
        let special = at + found;
        if bytes[special] == b'"' {
            return special + 1;
        }
        at = special + 2;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_members_and_strings_are_counted_outside_of_strings() {
        let of = |text: &str| weight(text) - text.len();
        assert_eq!(of("7"), VALUE);
        assert_eq!(of("[1,2,3]"), 4 * VALUE);
        assert_eq!(of("{\"a\":1,\"b\":[]}"), 4 * VALUE + 2 * (MEMBER + STRING));
        assert_eq!(of(r#""[,:{\"[,\\""#), VALUE + STRING);
        assert_eq!(of(r#"["\\",1]"#), 3 * VALUE + STRING);
        assert_eq!(of("\"never ends \\"), VALUE + STRING);
    }

    #[test]
    fn the_estimate_is_not_below_what_is_allocated() {
        // The list, with the room that it has reserved.
        let text = format!("[{}0]", "0,".repeat(99_999));
        let list: Vec<Value> = serde_json::from_str(&text).unwrap();
        assert_eq!(list.len(), 100_000);
        assert!(weight(&text) >= list.len() * size_of::<Value>());
        assert!(weight(&text) <= text.len() * DENSEST, "{}", weight(&text));
    }

    #[test]
    fn texts_that_cannot_be_heavy_are_not_scanned() {
        assert!(!is_heavier("[0,0]", 1_000));
        assert!(is_heavier(&format!("[{}0]", "0,".repeat(99)), 1_000));
        assert!(!is_heavier(&format!("\"{}\"", "x".repeat(800)), 1_000));
    }
}

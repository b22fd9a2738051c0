//! Estimated memory of a JSON text once it is parsed into values.

use std::mem::size_of;

use memchr::memchr2;
use serde_json::Value;

use super::private_key::has_private_key;

/// Bytes of a value, including the spare capacity of a growing list.
const VALUE_BYTES: usize = size_of::<Value>() * 3 / 2;

/// Bytes of an object member, without its value and the text of its name.
const MEMBER_BYTES: usize = size_of::<(u64, String)>() * 3 / 2 + size_of::<usize>();

/// Allocator overhead per string.
const STRING_BYTES: usize = 16;

/// Upper bound on the memory per byte of text. It has a margin: a list of digits has one value per two bytes of text.
const MAX_BYTES_PER_TEXT_BYTE: usize = VALUE_BYTES;

/// Returns true if the values of a JSON text would take more than `max_bytes`. Short texts are not scanned.
#[inline]
pub fn is_heavier(text: &str, max_bytes: usize) -> bool {
    text.len() > max_bytes / MAX_BYTES_PER_TEXT_BYTE && weight(text) > max_bytes
}

/// Estimates the bytes of memory for the values of a JSON text, in one pass and without parsing them.
#[inline]
pub fn weight(text: &str) -> usize {
    if has_private_key(text) {
        // The JSON in a string counts too: it is parsed as well.
        return text.len().saturating_mul(MAX_BYTES_PER_TEXT_BYTE);
    }
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
    let parts = [
        (values, VALUE_BYTES),
        (members, MEMBER_BYTES),
        (strings, STRING_BYTES),
    ];
    let parts = parts
        .iter()
        .map(|(count, bytes)| count.saturating_mul(*bytes));
    parts.fold(text.len(), usize::saturating_add)
}

/// Returns the position after the end of a string whose content starts at `at`.
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
    fn structure_inside_strings_is_not_counted() {
        let overhead = |text: &str| weight(text) - text.len();
        assert_eq!(overhead("7"), VALUE_BYTES);
        assert_eq!(overhead("[1,2,3]"), 4 * VALUE_BYTES);
        assert_eq!(
            overhead("{\"a\":1,\"b\":[]}"),
            4 * VALUE_BYTES + 2 * (MEMBER_BYTES + STRING_BYTES)
        );
        assert_eq!(overhead(r#""[,:{\"[,\\""#), VALUE_BYTES + STRING_BYTES);
        assert_eq!(overhead(r#"["\\",1]"#), 3 * VALUE_BYTES + STRING_BYTES);
        assert_eq!(overhead("\"never ends \\"), VALUE_BYTES + STRING_BYTES);
    }

    #[test]
    fn the_estimate_covers_the_allocated_memory() {
        let text = format!("[{}0]", "0,".repeat(99_999));
        let list: Vec<Value> = serde_json::from_str(&text).unwrap();
        assert_eq!(list.len(), 100_000);
        assert!(weight(&text) >= list.len() * size_of::<Value>());
        assert!(
            weight(&text) <= text.len() * MAX_BYTES_PER_TEXT_BYTE,
            "{}",
            weight(&text)
        );
    }

    #[test]
    fn json_in_the_string_of_a_raw_value_is_counted() {
        let text = format!(
            r#"{{"a":{{"$serde_json::private::RawValue":"[{}0]"}}}}"#,
            "0,".repeat(999)
        );
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["a"].as_array().unwrap().len(), 1_000);
        assert!(weight(&text) >= 1_000 * size_of::<Value>());
    }

    #[test]
    fn short_texts_are_not_scanned() {
        assert!(!is_heavier("[0,0]", 1_000));
        assert!(is_heavier(&format!("[{}0]", "0,".repeat(99)), 1_000));
        assert!(!is_heavier(&format!("\"{}\"", "x".repeat(800)), 1_000));
    }
}

//! Escaping of JSON text inside a JSON string.
//!
//! Only quotes and backslashes need escapes, because the output of `write_json` contains no control characters.

use memchr::{memchr2, memchr2_iter, memrchr2};

/// Appends JSON text to `out`, escaped for use inside a JSON string.
pub fn push_escaped(out: &mut Vec<u8>, json: &[u8]) {
    let mut rest = json;
    while let Some(at) = memchr2(b'"', b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(&[b'\\', rest[at]]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

/// Escapes the JSON text from `start` to the end of `out` for use inside a JSON string.
pub fn escape_in_place(out: &mut Vec<u8>, start: usize) {
    let escapes = memchr2_iter(b'"', b'\\', &out[start..]).count();
    let mut from = out.len();
    let mut to = from + escapes;
    out.resize(to, 0);
    // From the end, so that each byte is read before its place is taken. The rest is where it belongs once both positions are equal.
    while to > from {
        let Some(at) = memrchr2(b'"', b'\\', &out[start..from]) else {
            break;
        };
        let special = start + at;
        let after = from - (special + 1);
        out.copy_within(special + 1..from, to - after);
        to -= after + 2;
        out.copy_within(special..=special, to + 1);
        out[to] = b'\\';
        from = special;
    }
}

/// Appends the JSON text `out[start..end]` to `out`, escaped for use inside a JSON string.
pub fn escape_from_within(out: &mut Vec<u8>, start: usize, end: usize) {
    let mut from = start;
    while let Some(at) = memchr2(b'"', b'\\', &out[from..end]) {
        let special = out[from + at];
        out.extend_from_within(from..from + at);
        out.extend_from_slice(&[b'\\', special]);
        from += at + 1;
    }
    out.extend_from_within(from..end);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_escaping_functions_agree_with_serde_json() {
        for json in [r#"{"a":"b\\c\"d","e":[1,null]}"#, "3", "\"\"", ""] {
            let expected = serde_json::to_string(json).expect("a string can be serialized");
            let inner = &expected[1..expected.len() - 1];

            let mut pushed = Vec::new();
            push_escaped(&mut pushed, json.as_bytes());
            assert_eq!(pushed, inner.as_bytes());

            let mut in_place = [b"\"{", json.as_bytes()].concat();
            escape_in_place(&mut in_place, 2);
            assert_eq!(in_place, [b"\"{", inner.as_bytes()].concat());

            let mut within = json.as_bytes().to_vec();
            escape_from_within(&mut within, 0, json.len());
            assert_eq!(&within[json.len()..], inner.as_bytes());
        }
    }
}

//! Escaping of JSON text inside a JSON string.

use std::io;

use memchr::memchr2;

/// Writer that escapes JSON text for use inside a JSON string.
///
/// Only quotes and backslashes need escapes, because the output of `write_json` contains no control characters.
#[derive(Debug)]
pub struct Escaped<'a>(pub &'a mut Vec<u8>);

impl io::Write for Escaped<'_> {
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        let mut rest = json;
        while let Some(at) = memchr2(b'"', b'\\', rest) {
            self.0.extend_from_slice(&rest[..at]);
            self.0.extend_from_slice(&[b'\\', rest[at]]);
            rest = &rest[at + 1..];
        }
        self.0.extend_from_slice(rest);
        Ok(json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
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
    use std::io::Write;

    use super::*;

    #[test]
    fn both_escaping_functions_agree_with_serde_json() {
        for json in [r#"{"a":"b\\c\"d","e":[1,null]}"#, "3", "\"\"", ""] {
            let expected = serde_json::to_string(json).expect("a string can be serialized");
            let inner = &expected[1..expected.len() - 1];

            let mut written = Vec::new();
            Escaped(&mut written)
                .write_all(json.as_bytes())
                .expect("writing to a vector cannot fail");
            assert_eq!(written, inner.as_bytes());

            let mut within = json.as_bytes().to_vec();
            escape_from_within(&mut within, 0, json.len());
            assert_eq!(&within[json.len()..], inner.as_bytes());
        }
    }
}

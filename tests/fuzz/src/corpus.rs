//! Corpus: a text file for each target with one input in each line.

/// Returns the inputs in the text of a corpus.
///
/// Lines that are empty or start with `#` are comments. `\n`, `\r`, `\t`, `\0`, `\\` and `\xNN` are escapes.
///
/// # Panics
///
/// If an escape is malformed.
pub fn inputs(text: &str) -> Vec<Vec<u8>> {
    let lines = text.lines();
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(unescape).collect()
}

fn unescape(line: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some((literal, escape)) = rest.split_once('\\') {
        bytes.extend_from_slice(literal.as_bytes());
        let (byte, length) = match escape.as_bytes().first() {
            Some(b'n') => (b'\n', 1),
            Some(b'r') => (b'\r', 1),
            Some(b't') => (b'\t', 1),
            Some(b'0') => (0, 1),
            Some(b'\\') => (b'\\', 1),
            _ => (hexadecimal(escape).expect("an escape of the corpus"), 3),
        };
        bytes.push(byte);
        rest = &escape[length..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

fn hexadecimal(escape: &str) -> Option<u8> {
    u8::from_str_radix(escape.strip_prefix('x')?.get(..2)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_replaced_and_comments_skipped() {
        let text = "# a comment\n\na\\0b\\\\\n\\n\\r\\t\\xff\\x23é\n";
        let expected = [b"a\0b\\".to_vec(), b"\n\r\t\xff#\xc3\xa9".to_vec()];
        assert_eq!(inputs(text), expected);
    }
}

//! Strict JSON of JSON with comments, with all offsets unchanged.

use std::ops::Range;

/// Strict JSON of the same length, and the places that were replaced by spaces.
#[derive(Debug, Default)]
pub(super) struct Blanked {
    pub(super) json: String,
    pub(super) comments: Vec<Range<usize>>,
    pub(super) trailing_commas: Vec<usize>,
}

/// Replaces comments, trailing commas and a byte order mark by spaces. Line breaks in comments remain.
pub(super) fn blank(text: &str) -> Result<Blanked, String> {
    let bytes = text.as_bytes();
    let mut output = bytes.to_vec();
    let mut blanked = Blanked::default();
    let mut at = 0;
    if text.starts_with('\u{feff}') {
        at = '\u{feff}'.len_utf8();
        output[..at].fill(b' ');
    }
    // Offset of the last byte that is neither a space nor a part of a comment, and the one before.
    let mut last: Option<usize> = None;
    let mut before: Option<usize> = None;
    while let Some(byte) = bytes.get(at) {
        if let Some(end) = comment_end(text, at)? {
            blank_comment(&mut output, at..end, &mut blanked.comments);
            at = end;
            continue;
        }
        let end = match byte {
            b'"' => string_end(bytes, at),
            b'}' | b']' => {
                let follows_value = before.is_some_and(|at| !b"{[,:".contains(&bytes[at]));
                if let Some(comma) = last.filter(|at| bytes[*at] == b',' && follows_value) {
                    output[comma] = b' ';
                    blanked.trailing_commas.push(comma);
                }
                at + 1
            }
            _ => at + 1,
        };
        if !byte.is_ascii_whitespace() {
            before = last;
            last = Some(at);
        }
        at = end;
    }
    blanked.json = String::from_utf8(output).map_err(|_| "invalid UTF-8".to_owned())?;
    Ok(blanked)
}

/// Returns the end of the comment that starts at `start`, or `None` if there is no comment.
fn comment_end(text: &str, start: usize) -> Result<Option<usize>, String> {
    match &text.as_bytes()[start..] {
        [b'/', b'/', ..] => {
            let length = text[start..].find('\n');
            Ok(Some(length.map_or(text.len(), |length| start + length)))
        }
        [b'/', b'*', ..] => {
            let end = text[start + 2..]
                .find("*/")
                .map(|length| start + length + 4);
            let unended = || {
                let line = text[..start].matches('\n').count() + 1;
                format!("line {line}: the comment does not end")
            };
            end.map(Some).ok_or_else(unended)
        }
        _ => Ok(None),
    }
}

fn blank_comment(output: &mut [u8], range: Range<usize>, comments: &mut Vec<Range<usize>>) {
    for byte in &mut output[range.clone()] {
        if !b"\r\n".contains(byte) {
            *byte = b' ';
        }
    }
    comments.push(range);
}

/// Returns the end of the string that starts at `start`.
pub(super) fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_commas_become_spaces() {
        let text = "\u{feff}{ // ü\n  \"a\": [1, /* \n */ 2,], \"//\": \"/* \\\" */\",\n}";
        let blanked = blank(text).unwrap();
        assert_eq!(blanked.json.len(), text.len());
        let value: serde_json::Value = serde_json::from_str(&blanked.json).unwrap();
        assert_eq!(value, serde_json::json!({"a": [1, 2], "//": "/* \" */"}));
        assert_eq!(
            (blanked.comments.len(), blanked.trailing_commas.len()),
            (2, 2)
        );
    }

    #[test]
    fn commas_without_a_value_before_them_remain() {
        for text in ["[,]", "{,}", "[1,,]", "{\"a\":,}"] {
            assert!(serde_json::from_str::<serde_json::Value>(&blank(text).unwrap().json).is_err());
        }
        assert_eq!(
            blank("{}\n/* ").unwrap_err(),
            "line 2: the comment does not end"
        );
    }
}

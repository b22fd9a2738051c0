//! References from the text of a skill to its files.

use std::fmt::Write as _;

/// Returns the URI of a reference: a path relative to the root of the skill, or a URI. `None` if it leads out of the folder.
pub(super) fn resolve(root: &str, reference: &str) -> Option<String> {
    let path = match reference.split_once("://") {
        Some(_) => reference.strip_prefix(root)?.strip_prefix('/')?,
        None => reference,
    };
    let mut segments = Vec::new();
    for segment in path.split('/') {
        // Encoded dots have the meaning of dots (RFC 3986, section 6.2.2.2).
        match &*segment.replace("%2e", ".").replace("%2E", ".") {
            "." => {}
            ".." => drop(segments.pop()?),
            _ => segments.push(encode(segment)),
        }
    }
    let is_file = segments.iter().all(|segment| !segment.is_empty());
    (is_file && !segments.is_empty()).then(|| format!("{root}/{}", segments.join("/")))
}

/// Encodes the characters that a URI does not have; a percent-encoded byte stays.
fn encode(segment: &str) -> String {
    let bytes = segment.as_bytes();
    let is_encoded = |position: usize| {
        let digits = bytes.get(position + 1..position + 3);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    let mut encoded = String::with_capacity(segment.len());
    for (position, byte) in bytes.iter().enumerate() {
        let stays = byte.is_ascii_alphanumeric()
            || b"-._~!$&'()*+,;=:@".contains(byte)
            || (*byte == b'%' && is_encoded(position));
        if stays {
            encoded.push(char::from(*byte));
        } else {
            // Writing to a `String` does not fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_stay_in_the_folder() {
        for (reference, expected) in [
            ("x.md", Some("skill://a/x.md")),
            ("./b/x y.md", Some("skill://a/b/x%20y.md")),
            ("b/x%20y.md", Some("skill://a/b/x%20y.md")),
            ("b/../x.md", Some("skill://a/x.md")),
            ("100%.md", Some("skill://a/100%25.md")),
            ("é?#.md", Some("skill://a/%C3%A9%3F%23.md")),
            ("skill://a/b/x.md", Some("skill://a/b/x.md")),
            ("skill://a/b/../../x.md", None),
            ("skill://ab/x.md", None),
            ("skill://a", None),
            ("https://example.com/x", None),
            ("../x.md", None),
            ("b/%2e%2E/../x.md", None),
            ("/x.md", None),
            ("b//x.md", None),
            ("b/", None),
            (".", None),
            ("", None),
        ] {
            assert_eq!(
                resolve("skill://a", reference).as_deref(),
                expected,
                "{reference}"
            );
        }
    }
}

//! References from the text of a skill to its files.

use std::borrow::Cow;
use std::fmt::Write as _;

use treenail_schema::internal::percent_decode;

/// Returns the URI of a reference: a path relative to the root of the skill, or a URI. `None` if it leads out of the folder.
pub(super) fn resolve(root: &str, reference: &str) -> Option<String> {
    let encoded: Vec<_> = segments(root, reference)?.into_iter().map(encode).collect();
    Some(format!("{root}/{}", encoded.join("/")))
}

/// Returns the segments of the path of a reference without percent-encoding, for comparisons: servers encode different characters.
/// `None` also if they are not UTF-8.
pub(super) fn decoded<'a>(root: &str, reference: &'a str) -> Option<Vec<Cow<'a, str>>> {
    let segments = segments(root, reference)?.into_iter();
    segments.map(percent_decode).collect()
}

/// Returns the segments of the path below the root, without dots. `None` if they lead out of the folder, or to a folder.
fn segments<'a>(root: &str, reference: &'a str) -> Option<Vec<&'a str>> {
    let below = reference.strip_prefix(root);
    let path = match below.and_then(|below| below.strip_prefix('/')) {
        Some(path) => path,
        None if reference.contains("://") => return None,
        None => reference,
    };
    let mut segments = Vec::new();
    for segment in path.split('/') {
        // Encoded dots have the meaning of dots (RFC 3986, section 6.2.2.2).
        match &*segment.replace("%2e", ".").replace("%2E", ".") {
            "." => {}
            ".." => drop(segments.pop()?),
            _ => segments.push(segment),
        }
    }
    let is_file = segments.iter().all(|segment| !segment.is_empty());
    (is_file && !segments.is_empty()).then_some(segments)
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
    fn references_are_compared_without_their_encoding() {
        let decoded = |reference: &'static str| decoded("skill://a", reference);
        for (one, other) in [
            ("skill://a/us a.md", "us%20a.md"),
            ("skill://a/é.md", "%c3%a9.md"),
            ("skill://a/%28x%29.md", "(x).md"),
            ("skill://a/100%25.md", "100%.md"),
        ] {
            assert!(decoded(one).is_some(), "{one}");
            assert_eq!(decoded(one), decoded(other), "{one}");
        }
        assert_ne!(decoded("b%2Fx"), decoded("b/x"));
        assert_eq!(decoded("skill://a/../b/x"), None);
    }

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

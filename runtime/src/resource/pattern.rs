//! Matching of URIs against a template, and extraction of its variables.
//!
//! `iri-string` validates and expands templates of RFC 6570, but does not match them. The macro ensures that one pass
//! is enough: literal text separates any two variables, and a variable that can contain slashes is the last one.

use std::borrow::Cow;
use std::fmt;

use treenail_schema::internal::percent_decode;

#[cfg(feature = "dynamic")]
use crate::panic::catch;

/// A part of a template. The macros write literals; templates that are made at run time own their texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<S = &'static str> {
    /// Literal text.
    Text(S),
    /// A variable `{name}`: letters, digits, `-`, `.`, `_`, `~` and percent-encoded bytes.
    Segment(S),
    /// A variable `{+name}`: the characters of [`Part::Segment`], and reserved characters such as `/`.
    Rest(S),
}

impl<S> Part<S> {
    fn map<T>(self, convert: impl FnOnce(S) -> T) -> Part<T> {
        match self {
            Self::Text(text) => Part::Text(convert(text)),
            Self::Segment(name) => Part::Segment(convert(name)),
            Self::Rest(name) => Part::Rest(convert(name)),
        }
    }
}

/// A parsed template.
pub(crate) struct Pattern {
    parts: Vec<Part<Cow<'static, str>>>,
    /// Decides about URIs instead of the parts.
    #[cfg(feature = "dynamic")]
    accepts: Option<Accepts>,
}

/// Function that decides whether a template matches a URI.
#[cfg(feature = "dynamic")]
pub(crate) type Accepts = Box<dyn Fn(&str) -> bool + Send + Sync>;

impl fmt::Debug for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Pattern")
            .field("parts", &self.parts)
            .finish_non_exhaustive()
    }
}

/// The variables of a template with their decoded values.
pub(crate) type Variables<'p, 'u> = Vec<(&'p str, Cow<'u, str>)>;

impl Pattern {
    pub(crate) fn new<S: Into<Cow<'static, str>>>(parts: Vec<Part<S>>) -> Self {
        let parts = parts.into_iter().map(|part| part.map(Into::into));
        Self {
            parts: parts.collect(),
            #[cfg(feature = "dynamic")]
            accepts: None,
        }
    }

    /// Creates a pattern that matches the URIs which `accepts` accepts, and has no variables.
    #[cfg(feature = "dynamic")]
    pub(crate) fn custom(accepts: Accepts) -> Self {
        Self {
            parts: Vec::new(),
            accepts: Some(accepts),
        }
    }

    /// Returns the names of the variables.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Segment(name) | Part::Rest(name) => Some(&**name),
        })
    }

    /// Returns the values of the variables in `uri`, or `None` if the template does not match.
    ///
    /// A value has at least one character, and is as short as the following text allows. No value, however it is
    /// encoded, can escape the path to which a function joins it, see [`escapes_folder`]. There is one exception: a variable
    /// `{+path}` directly after `file://` starts with one slash, because it is an absolute path.
    pub(crate) fn matches<'p, 'u>(&'p self, uri: &'u str) -> Option<Variables<'p, 'u>> {
        #[cfg(feature = "dynamic")]
        if let Some(accepts) = &self.accepts {
            // Routing is outside of the guard around functions.
            let accepted = catch(|| accepts(uri)).unwrap_or_else(|message| {
                tracing::error!(uri, message, "the function of a resource template panicked");
                false
            });
            return accepted.then(Vec::new);
        }
        let mut variables = Vec::new();
        let mut rest = uri;
        let mut parts = self.parts.iter().peekable();
        while let Some(part) = parts.next() {
            let (name, reserved) = match part {
                Part::Text(text) => {
                    rest = rest.strip_prefix(&**text)?;
                    continue;
                }
                Part::Segment(name) => (name, false),
                Part::Rest(name) => (name, true),
            };
            let next = match parts.peek() {
                Some(Part::Text(text)) => &**text,
                _ => "",
            };
            let is_last = parts.len() <= 1;
            let length = if is_last {
                rest.len().checked_sub(next.len())?
            } else {
                shortest_value(rest, next)?
            };
            let value = rest.get(..length)?;
            let value = decode(value, reserved)?;
            let may_start_with_slash = reserved && &uri[..uri.len() - rest.len()] == "file://";
            if escapes_folder(&value, may_start_with_slash) {
                return None;
            }
            variables.push((&**name, value));
            rest = &rest[length..];
        }
        rest.is_empty().then_some(variables)
    }
}

/// Returns the length of the shortest value that is followed by `next`.
fn shortest_value(rest: &str, next: &str) -> Option<usize> {
    let mut length = 0;
    loop {
        length += char_len(&rest.as_bytes()[length..], false)?;
        if rest[length..].starts_with(next) {
            return Some(length);
        }
    }
}

/// Returns the length of the first character, or percent-encoded byte, if a value can contain it.
fn char_len(bytes: &[u8], reserved: bool) -> Option<usize> {
    match bytes {
        [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => Some(3),
        [byte, ..] if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) => Some(1),
        [byte, ..] if reserved && b":/?#[]@!$&'()*+,;=".contains(byte) => Some(1),
        _ => None,
    }
}

/// Validates and decodes a value.
fn decode(value: &str, reserved: bool) -> Option<Cow<'_, str>> {
    let mut checked = 0;
    while checked < value.len() {
        checked += char_len(&value.as_bytes()[checked..], reserved)?;
    }
    let decoded = percent_decode(value)?;
    (!decoded.is_empty()).then_some(decoded)
}

/// Returns whether a value could escape the folder to which a function joins it.
///
/// It could if it has a `..` segment or is absolute: it starts with a slash, a backslash or a drive letter. Control
/// characters are rejected too, because some system functions end a path at them.
fn escapes_folder(value: &str, may_start_with_slash: bool) -> bool {
    let is_absolute = match value.strip_prefix('/') {
        Some(rest) if may_start_with_slash => rest.starts_with(['/', '\\']),
        _ => {
            let drive =
                matches!(value.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
            drive || value.starts_with(['/', '\\'])
        }
    };
    is_absolute
        || value.contains(char::is_control)
        || value.split(['/', '\\']).any(|segment| segment == "..")
}

#[cfg(test)]
mod tests {
    use iri_string::spec::UriSpec;
    use iri_string::template::UriTemplateStr;
    use iri_string::template::simple_context::SimpleContext;

    use super::*;

    fn pattern(parts: &[Part]) -> Pattern {
        Pattern::new(parts.to_vec())
    }

    #[track_caller]
    fn check(parts: &[Part], uri: &str, expected: Option<&[(&str, &str)]>) {
        let pattern = pattern(parts);
        let found = pattern.matches(uri);
        let found: Option<Vec<(&str, &str)>> = found.as_ref().map(|found| {
            found
                .iter()
                .map(|(name, value)| (*name, &**value))
                .collect()
        });
        assert_eq!(found.as_deref(), expected, "{uri}");
    }

    #[test]
    fn values_are_found() {
        use Part::{Rest, Segment, Text};
        let one = [Text("x://a/"), Segment("id")];
        check(&one, "x://a/7", Some(&[("id", "7")]));
        check(&one, "x://a/%C3%A6%2Fb", Some(&[("id", "æ/b")]));
        for uri in [
            "x://a/",
            "x://a",
            "x://a/7/8",
            "x://a/%FF",
            "x://a/%4",
            "x://a/é",
            "X://a/7",
        ] {
            check(&one, uri, None);
        }
        let two = [
            Text("x://"),
            Segment("a"),
            Text("-"),
            Segment("b"),
            Text(".txt"),
        ];
        check(&two, "x://1-2.txt", Some(&[("a", "1"), ("b", "2")]));
        check(&two, "x://1-2-3.txt", Some(&[("a", "1"), ("b", "2-3")]));
        check(&two, "x://---.txt", Some(&[("a", "-"), ("b", "-")]));
        check(&two, "x://1-.txt", None);
        let rest = [
            Text("x://"),
            Segment("a"),
            Text("/"),
            Rest("path"),
            Text("?raw"),
        ];
        check(
            &rest,
            "x://a/b/c%20d?raw",
            Some(&[("a", "a"), ("path", "b/c d")]),
        );
        check(
            &rest,
            "x://a/b?raw?raw",
            Some(&[("a", "a"), ("path", "b?raw")]),
        );
        check(&rest, "x://a/?raw", None);
        check(&[Text("x://a")], "x://a", Some(&[]));
    }

    #[test]
    fn values_cannot_escape_their_folder() {
        let parts = [Part::Text("file:///"), Part::Rest("path")];
        for path in [
            "..",
            "../a",
            "a/../b",
            "a/..",
            "%2e%2e/a",
            "a/.%2E",
            "a%2F..%2fb",
            "a%5C..%5Cb",
            "/etc/passwd",
            "%2Fetc/passwd",
            "//server/share",
            "%5C%5Cserver%5Cshare",
            "%5cetc",
            "C:/Windows",
            "c%3A%5CWindows",
            "C%3asecret",
            "a%00b",
            "%00",
            "a%0Ab",
            "a%7F",
            "a%C2%85",
        ] {
            check(&parts, &format!("file:///{path}"), None);
        }
        check(&parts, "file:///a..b/...", Some(&[("path", "a..b/...")]));
        check(&parts, "file:///a/C:/b", Some(&[("path", "a/C:/b")]));
        check(&parts, "file:///cd:e", Some(&[("path", "cd:e")]));
        check(
            &parts,
            "file:///%252e%252e/a",
            Some(&[("path", "%2e%2e/a")]),
        );
    }

    #[test]
    fn segments_cannot_escape_their_folder() {
        let parts = [Part::Text("x://a/"), Part::Segment("id"), Part::Text("/b")];
        check(&parts, "x://a/7%3A8/b", Some(&[("id", "7:8")]));
        for id in ["%2Fetc", "%5Cetc", "C%3A", "%2e%2e", "a%00", "%0d"] {
            check(&parts, &format!("x://a/{id}/b"), None);
        }
    }

    #[test]
    fn a_path_after_an_authority_starts_with_one_slash() {
        let file = [Part::Text("file://"), Part::Rest("path")];
        check(&file, "file:///etc/x", Some(&[("path", "/etc/x")]));
        check(&file, "file:///C:/x", Some(&[("path", "/C:/x")]));
        check(&file, "file://host/x", Some(&[("path", "host/x")]));
        for path in ["//etc", "/%5Cetc", "/..", "%5Cx", "/a%00", "C:/x"] {
            check(&file, &format!("file://{path}"), None);
        }
        // Other variables are names, so a value with a leading slash would escape.
        let share = [
            Part::Text("file://"),
            Part::Segment("host"),
            Part::Text("/x"),
        ];
        check(&share, "file://host/x", Some(&[("host", "host")]));
        check(&share, "file://%2Fetc/x", None);
        let docs = [Part::Text("docs://"), Part::Rest("path")];
        check(&docs, "docs://guide/x", Some(&[("path", "guide/x")]));
        check(&docs, "docs:///etc/passwd", None);
    }

    #[test]
    fn values_survive_expansion_by_the_library() {
        let template = UriTemplateStr::new("x://{a}/{b}.md#{+c}").unwrap();
        let parts = [
            Part::Text("x://"),
            Part::Segment("a"),
            Part::Text("/"),
            Part::Segment("b"),
            Part::Text(".md#"),
            Part::Rest("c"),
        ];
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..1_000 {
            // In `{+c}` the library does not encode `%20`, and it fails for non-ASCII characters.
            let alphabets = ["%zZ-_~!/ é\"{", "%zZ-_~!/ é\"{", "zZ-_~!/ \"{"];
            let values = alphabets.map(|alphabet| {
                let alphabet: Vec<char> = alphabet.chars().collect();
                let length = random.usize(1..6);
                (0..length)
                    .map(|_| alphabet[random.usize(..alphabet.len())])
                    .collect::<String>()
            });
            let mut context = SimpleContext::new();
            for (name, value) in ["a", "b", "c"].into_iter().zip(&values) {
                context.insert(name, value.as_str());
            }
            let uri = template.expand::<UriSpec, _>(&context).unwrap().to_string();
            let found = [("a", &*values[0]), ("b", &*values[1]), ("c", &*values[2])];
            let escapes_folder = values.iter().any(|value| value.starts_with('/'));
            check(&parts, &uri, (!escapes_folder).then_some(&found[..]));
        }
    }
}

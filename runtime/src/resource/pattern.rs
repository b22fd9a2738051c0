//! Which URIs a template stands for, and the values of its variables in them.
//!
//! `iri-string` checks templates of RFC 6570 and expands them, but does not take URIs apart. The macro sees to it that this
//! can be done in one pass: between two variables there is text, and one that goes over slashes is the last.

use std::borrow::Cow;

use treenail_schema::internal::percent_decode;

/// A part of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// What stands in each URI as it is.
    Text(&'static str),
    /// A variable `{name}`: letters, digits, `-`, `.`, `_`, `~` and percent-encoded bytes.
    Segment(&'static str),
    /// A variable `{+name}`: as [`Part::Segment`], and the reserved characters such as `/`.
    Rest(&'static str),
}

/// A template, taken apart.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    parts: Vec<Part>,
}

/// The variables of a template and their values, decoded.
pub(crate) type Variables<'a> = Vec<(&'static str, Cow<'a, str>)>;

impl Pattern {
    pub(crate) fn new(parts: Vec<Part>) -> Self {
        Self { parts }
    }

    /// The names of the variables.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &'static str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Segment(name) | Part::Rest(name) => Some(*name),
        })
    }

    /// The values of the variables in `uri`, if the template stands for it.
    ///
    /// A value is at least one character long, and as short as the text after it allows. However it is encoded, no value
    /// leads out of where a function puts it, see [`leads_out`]. The one exception is a variable right after `file://`: the
    /// path there begins with one slash, or it would be no path.
    pub(crate) fn matches<'a>(&self, uri: &'a str) -> Option<Variables<'a>> {
        let mut variables = Vec::new();
        let mut rest = uri;
        let mut parts = self.parts.iter().peekable();
        while let Some(part) = parts.next() {
            let (name, reserved) = match *part {
                Part::Text(text) => {
                    rest = rest.strip_prefix(text)?;
                    continue;
                }
                Part::Segment(name) => (name, false),
                Part::Rest(name) => (name, true),
            };
            let next = match parts.peek() {
                Some(Part::Text(text)) => text,
                _ => "",
            };
            let is_last = parts.len() <= 1;
            let length = if is_last {
                rest.len().checked_sub(next.len())?
            } else {
                shortest(rest, next)?
            };
            let value = rest.get(..length)?;
            let value = decoded(value, reserved)?;
            let may_begin_with_slash = &uri[..uri.len() - rest.len()] == "file://";
            if leads_out(&value, may_begin_with_slash) {
                return None;
            }
            variables.push((name, value));
            rest = &rest[length..];
        }
        rest.is_empty().then_some(variables)
    }
}

/// The length of the shortest value that `next` follows.
fn shortest(rest: &str, next: &str) -> Option<usize> {
    let mut length = 0;
    loop {
        length += step(&rest.as_bytes()[length..], false)?;
        if rest[length..].starts_with(next) {
            return Some(length);
        }
    }
}

/// The length of the character, or of the encoded byte, that a value may begin with.
fn step(bytes: &[u8], reserved: bool) -> Option<usize> {
    match bytes {
        [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => Some(3),
        [byte, ..] if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) => Some(1),
        [byte, ..] if reserved && b":/?#[]@!$&'()*+,;=".contains(byte) => Some(1),
        _ => None,
    }
}

/// A value as the function gets it, if it is one.
fn decoded(value: &str, reserved: bool) -> Option<Cow<'_, str>> {
    let mut checked = 0;
    while checked < value.len() {
        checked += step(&value.as_bytes()[checked..], reserved)?;
    }
    let decoded = percent_decode(value)?;
    (!decoded.is_empty()).then_some(decoded)
}

/// Whether a value could lead out of the folder that a function joins it to: it has a segment `..`, it is absolute, as it is
/// with a slash, a backslash or the letter of a drive at its beginning, or it has control characters, at which some
/// functions of systems end a path.
fn leads_out(value: &str, may_begin_with_slash: bool) -> bool {
    let is_absolute = match value.strip_prefix('/') {
        Some(rest) if may_begin_with_slash => rest.starts_with(['/', '\\']),
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
        let found = pattern(parts).matches(uri);
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
    fn no_value_leads_out_of_where_it_stands() {
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
    fn a_segment_does_not_lead_out_either() {
        let parts = [Part::Text("x://a/"), Part::Segment("id"), Part::Text("/b")];
        check(&parts, "x://a/7%3A8/b", Some(&[("id", "7:8")]));
        for id in ["%2Fetc", "%5Cetc", "C%3A", "%2e%2e", "a%00", "%0d"] {
            check(&parts, &format!("x://a/{id}/b"), None);
        }
    }

    #[test]
    fn a_path_after_an_authority_begins_with_one_slash() {
        let file = [Part::Text("file://"), Part::Rest("path")];
        check(&file, "file:///etc/x", Some(&[("path", "/etc/x")]));
        check(&file, "file:///C:/x", Some(&[("path", "/C:/x")]));
        check(&file, "file://host/x", Some(&[("path", "host/x")]));
        for path in ["//etc", "/%5Cetc", "/..", "%5Cx", "/a%00", "C:/x"] {
            check(&file, &format!("file://{path}"), None);
        }
        // Elsewhere names are meant, and a path that begins with a slash is somewhere else.
        let docs = [Part::Text("docs://"), Part::Rest("path")];
        check(&docs, "docs://guide/x", Some(&[("path", "guide/x")]));
        check(&docs, "docs:///etc/passwd", None);
    }

    #[test]
    fn values_survive_the_expansion_of_the_library() {
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
            // In `{+c}` the library leaves `%20` as it is, and it fails at what is not ASCII.
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
            let leads_out = values.iter().any(|value| value.starts_with('/'));
            check(&parts, &uri, (!leads_out).then_some(&found[..]));
        }
    }
}

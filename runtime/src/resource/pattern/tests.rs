//! Values that a template finds in a URI, and values that it rejects.

use iri_string::spec::UriSpec;
use iri_string::template::UriTemplateStr;
use iri_string::template::simple_context::SimpleContext;

use crate::resource::pattern::{Part, Pattern};

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

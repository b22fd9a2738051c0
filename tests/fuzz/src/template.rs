//! URI templates of servers, expanded by the client with values of a user.

use serde_json::json;
use treenail::client::UrlTemplate;
use treenail::schema::ResourceTemplate;

use crate::texts;

/// The texts are a template and the values of its variables `a`, `b` and `c`, also as `list`.
pub(crate) fn run(data: &[u8]) {
    let Some([template, a, b, c]) = texts(data) else {
        return;
    };
    let values = json!({"a": a, "b": b, "c": c, "list": [a, b, c], "keys": {a: b, "k": c}});
    let listed = UrlTemplate::from(ResourceTemplate::new(template, "t"));
    let Ok(uri) = listed.expand(&values) else {
        return;
    };
    assert!(is_uri(&uri), "{uri}");
    let opening = template.find('{').unwrap_or(template.len());
    if template[..opening].bytes().all(is_unreserved) {
        assert!(uri.starts_with(&template[..opening]), "{uri}");
    }
    // Reserved characters of a value cannot change the structure of the URI.
    if let Some(expected) = plain(template, &[a, b, c]) {
        assert_eq!(uri, expected);
    }
}

/// Returns true if a text has only characters of URIs, and no malformed encoding.
fn is_uri(uri: &str) -> bool {
    let bytes = uri.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_hexdigit);
    bytes.iter().enumerate().all(|(at, byte)| match byte {
        b'%' => digit(at + 1) && digit(at + 2),
        byte => is_unreserved(*byte) || b":/?#[]@!$&'()*+,;=".contains(byte),
    })
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// Expands a template that has only the variables `{a}`, `{b}` and `{c}`, and otherwise unreserved characters and slashes.
fn plain(template: &str, values: &[&str; 3]) -> Option<String> {
    let mut uri = String::new();
    let mut rest = template;
    while let Some(first) = rest.chars().next() {
        if let Some((number, after)) = variable(rest) {
            for byte in values[number].bytes() {
                if is_unreserved(byte) {
                    uri.push(char::from(byte));
                } else {
                    uri.extend(['%', hex(byte >> 4), hex(byte & 15)]);
                }
            }
            rest = after;
        } else if first == '/' || first.is_ascii_alphanumeric() {
            uri.push(first);
            rest = &rest[1..];
        } else {
            return None;
        }
    }
    Some(uri)
}

fn variable(rest: &str) -> Option<(usize, &str)> {
    let mut names = ["{a}", "{b}", "{c}"].into_iter().enumerate();
    names.find_map(|(number, name)| Some((number, rest.strip_prefix(name)?)))
}

fn hex(digit: u8) -> char {
    char::from(b"0123456789ABCDEF"[usize::from(digit)])
}

//! One text for all ways to write the same JSON with its members in another order.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer as _, Visitor};

use crate::wire::scan::skip::Key;
use crate::wire::scan::{DEEPEST, Scanner, SyntaxError};

/// The text of `json` without white space and with the members of each object sorted by their keys.
///
/// Keys, strings and numbers stay as they are written: `1` and `1.0` differ, so do two ways to escape a character. Members
/// are sorted by what their keys stand for, and those with the same key keep their order. So two texts have one canonical
/// form only if everything that reads JSON finds the same in both, but for the order of members with different keys.
pub(crate) fn canonical(json: &str) -> Result<Vec<u8>, SyntaxError> {
    let mut scanner = Scanner::new(json, DEEPEST);
    let mut out = Vec::with_capacity(json.len());
    write_value(&mut scanner, &mut out)?;
    scanner.end()?;
    Ok(out)
}

/// Appends the value that comes next. It calls itself once for each level of nesting, of which there are [`DEEPEST`] at most.
fn write_value(scanner: &mut Scanner<'_>, out: &mut Vec<u8>) -> Result<(), SyntaxError> {
    match scanner.peek() {
        Some(b'{') => write_object(scanner, out),
        Some(b'[') => write_array(scanner, out),
        _ => {
            let start = scanner.at;
            scanner.skip_scalar()?;
            out.extend_from_slice(scanner.since(start).as_bytes());
            Ok(())
        }
    }
}

fn write_array(scanner: &mut Scanner<'_>, out: &mut Vec<u8>) -> Result<(), SyntaxError> {
    scanner.open_array()?;
    out.push(b'[');
    let mut first = true;
    while scanner.has_next(b']', first)? {
        if !first {
            out.push(b',');
        }
        first = false;
        write_value(scanner, out)?;
    }
    out.push(b']');
    Ok(())
}

/// A member that has been appended.
struct Member<'a> {
    /// What its key stands for.
    key: Cow<'a, [u8]>,
    start: usize,
    end: usize,
}

fn write_object(scanner: &mut Scanner<'_>, out: &mut Vec<u8>) -> Result<(), SyntaxError> {
    scanner.open_object()?;
    out.push(b'{');
    let begin = out.len();
    let mut members: Vec<Member<'_>> = Vec::new();
    while scanner.has_next(b'}', members.is_empty())? {
        scanner.peek();
        let at = scanner.at;
        let Key { end, escaped } = scanner.skip_key()?;
        let text = scanner.text;
        let token = &text[at..end];
        let start = out.len();
        out.extend_from_slice(token.as_bytes());
        out.push(b':');
        write_value(scanner, out)?;
        out.push(b',');
        let key = if escaped {
            Cow::Owned(unescaped(token))
        } else {
            Cow::Borrowed(&token.as_bytes()[1..token.len() - 1])
        };
        let end = out.len();
        members.push(Member { key, start, end });
    }
    if !members.is_sorted_by(|one, next| one.key <= next.key) {
        // The sort is stable: members with the same key keep their order.
        members.sort_by(|one, other| one.key.cmp(&other.key));
        let sorted: Vec<u8> = members
            .iter()
            .flat_map(|member| &out[member.start..member.end])
            .copied()
            .collect();
        out.truncate(begin);
        out.extend_from_slice(&sorted);
    }
    out.push(b'}');
    Ok(())
}

/// The bytes that a checked string stands for; half of a pair of surrogates, which is no text, has some of its own.
fn unescaped(token: &str) -> Vec<u8> {
    struct Bytes;

    impl Visitor<'_> for Bytes {
        type Value = Vec<u8>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a string")
        }

        fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
            Ok(bytes.to_vec())
        }
    }

    serde_json::Deserializer::from_str(token)
        .deserialize_bytes(Bytes)
        .unwrap_or_else(|_| token.as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: &str) {
        let found = canonical(json).expect("it is JSON");
        assert_eq!(String::from_utf8(found).expect("it is text"), expected);
    }

    #[test]
    fn only_white_space_and_order_are_lost() {
        check(" 1e999 ", "1e999");
        check("[ 1 , 1.0,\n[ ] ]", "[1,1.0,[]]");
        check(
            r#"{"b":1, "a" : {"d":{},"c":"\u0041 "}}"#,
            r#"{"a":{"c":"\u0041 ","d":{},},"b":1,}"#,
        );
        // The same key twice, in two ways to write it: the order decides what is read, so it stays.
        check(
            r#"{"b":0,"a":1,"\u0061":2}"#,
            r#"{"a":1,"\u0061":2,"b":0,}"#,
        );
        check(
            r#"{"b":0,"\u0061":2,"a":1}"#,
            r#"{"\u0061":2,"a":1,"b":0,}"#,
        );
        // Half of a pair of surrogates.
        check(r#"{"\uDFFF":1,"\ud800":2}"#, r#"{"\ud800":2,"\uDFFF":1,}"#);
        check(r#"{"\uD800":2,"\ud800":1}"#, r#"{"\uD800":2,"\ud800":1,}"#);
    }

    #[test]
    fn what_is_deep_is_read_on_a_small_stack() {
        let nested = |depth: usize| format!("{}1{}", r#"{"b":["#.repeat(depth), "]}".repeat(depth));
        let depth = DEEPEST as usize / 2;
        let small = std::thread::Builder::new().stack_size(256 << 10);
        let read = small.spawn(move || {
            let found = canonical(&nested(depth)).map(|text| text.len());
            (found, canonical(&nested(depth + 1)).is_err())
        });
        let (found, refused) = read.expect("a thread").join().expect("its stack is enough");
        assert_eq!(found, Ok(depth * "{\"b\":[],}".len() + 1));
        assert!(refused);
    }

    #[test]
    fn no_json_is_refused() {
        for text in ["", "{", r#"{"a"}"#, "[1,]", "1 2", r#"{"a":1,}"#] {
            assert!(canonical(text).is_err(), "{text}");
        }
    }
}

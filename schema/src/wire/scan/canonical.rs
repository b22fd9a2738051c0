//! Canonical form of JSON, independent of white space and of the order of members.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserializer as _, Visitor};

use crate::wire::scan::skip::Key;
use crate::wire::scan::{DEEPEST, Scanner, SyntaxError};

/// Returns `json` without white space and with the members of each object sorted by key.
///
/// Keys, strings and numbers stay unchanged: `1` and `1.0` differ, as do two escapes of one character. Members are sorted by
/// their unescaped keys, and those with equal keys retain their order. Two texts thus have the same canonical form only if
/// every JSON parser reads the same from both, except for the order of members with different keys.
///
/// A comma follows each member, also the last one: the form is for digests and comparisons, and is not JSON itself.
pub fn canonical(json: &str) -> Result<Vec<u8>, SyntaxError> {
    let mut scanner = Scanner::new(json, DEEPEST);
    let mut form = Form {
        text: Vec::with_capacity(json.len()),
        unsorted: Vec::new(),
    };
    write_value(&mut scanner, &mut form)?;
    scanner.end()?;
    Ok(form.sorted())
}

/// Canonical form whose objects are not sorted yet. Sorting each one in place would copy its text once per level.
struct Form {
    text: Vec<u8>,
    /// Objects to sort.
    unsorted: Vec<Unsorted>,
}

/// Object whose members are not in the order of their keys.
struct Unsorted {
    /// Position of its opening brace.
    start: usize,
    /// Members in the order of their keys.
    members: Vec<Range<usize>>,
}

impl Form {
    fn sorted(mut self) -> Vec<u8> {
        if self.unsorted.is_empty() {
            return self.text;
        }
        self.unsorted.sort_unstable_by_key(|object| object.start);
        let mut out = Vec::with_capacity(self.text.len());
        self.write_sorted(0..self.text.len(), &mut out);
        out
    }

    /// Appends a part of the text with sorted objects. Recursive: at most [`DEEPEST`] levels.
    fn write_sorted(&self, part: Range<usize>, out: &mut Vec<u8>) {
        let mut at = part.start;
        loop {
            let next = self.unsorted.partition_point(|object| object.start < at);
            let next = self.unsorted.get(next);
            let Some(object) = next.filter(|object| object.start < part.end) else {
                break;
            };
            out.extend_from_slice(&self.text[at..=object.start]);
            at = object.start + 1;
            for member in &object.members {
                at = at.max(member.end);
                self.write_sorted(member.clone(), out);
            }
        }
        out.extend_from_slice(&self.text[at..part.end]);
    }
}

/// Appends the next value. Recursive: at most [`DEEPEST`] levels.
fn write_value(scanner: &mut Scanner<'_>, form: &mut Form) -> Result<(), SyntaxError> {
    match scanner.peek() {
        Some(b'{') => write_object(scanner, form),
        Some(b'[') => write_array(scanner, form),
        _ => {
            let start = scanner.cursor.at;
            scanner.cursor.skip_scalar()?;
            let scalar = scanner.since(start).as_bytes();
            form.text.extend_from_slice(scalar);
            Ok(())
        }
    }
}

fn write_array(scanner: &mut Scanner<'_>, form: &mut Form) -> Result<(), SyntaxError> {
    scanner.open_array()?;
    form.text.push(b'[');
    let mut first = true;
    while scanner.has_next(b']', first)? {
        if !first {
            form.text.push(b',');
        }
        first = false;
        write_value(scanner, form)?;
    }
    form.text.push(b']');
    Ok(())
}

/// Member that has been appended to the text.
struct Member<'a> {
    /// Unescaped key.
    key: Cow<'a, [u8]>,
    range: Range<usize>,
}

fn write_object(scanner: &mut Scanner<'_>, form: &mut Form) -> Result<(), SyntaxError> {
    scanner.open_object()?;
    let open = form.text.len();
    form.text.push(b'{');
    let mut members: Vec<Member<'_>> = Vec::new();
    while scanner.has_next(b'}', members.is_empty())? {
        scanner.peek();
        let at = scanner.cursor.at;
        let Key { end, escaped } = scanner.cursor.skip_key()?;
        let text = scanner.cursor.text;
        let token = &text[at..end];
        let start = form.text.len();
        form.text.extend_from_slice(token.as_bytes());
        form.text.push(b':');
        write_value(scanner, form)?;
        form.text.push(b',');
        let key = if escaped {
            Cow::Owned(unescaped(token))
        } else {
            Cow::Borrowed(&token.as_bytes()[1..token.len() - 1])
        };
        let range = start..form.text.len();
        members.push(Member { key, range });
    }
    if !members.is_sorted_by(|one, next| one.key <= next.key) {
        // A stable sort retains the order of members with equal keys.
        members.sort_by(|one, other| one.key.cmp(&other.key));
        let members = members.into_iter().map(|member| member.range);
        form.unsorted.push(Unsorted {
            start: open,
            members: members.collect(),
        });
    }
    form.text.push(b'}');
    Ok(())
}

/// Returns the bytes of a checked string. A lone surrogate, which is not valid text, has an encoding of its own.
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
        let found = canonical(json).expect("valid JSON");
        assert_eq!(String::from_utf8(found).expect("UTF-8"), expected);
    }

    #[test]
    fn only_white_space_and_order_are_normalized() {
        check(" 1e999 ", "1e999");
        check("[ 1 , 1.0,\n[ ] ]", "[1,1.0,[]]");
        check(
            r#"{"b":1, "a" : {"d":{},"c":"\u0041 "}}"#,
            r#"{"a":{"c":"\u0041 ","d":{},},"b":1,}"#,
        );
        // Objects at several levels, sorted and not.
        check(
            r#"[{"b":{"d":1,"c":[{"f":2,"e":3}]},"a":{"x":{"z":4,"y":5},"w":6}},{"h":{"j":7,"i":8}}]"#,
            r#"[{"a":{"w":6,"x":{"y":5,"z":4,},},"b":{"c":[{"e":3,"f":2,}],"d":1,},},{"h":{"i":8,"j":7,},}]"#,
        );
        // The same key twice, with different escapes: parsers depend on the order, so it must not change.
        check(
            r#"{"b":0,"a":1,"\u0061":2}"#,
            r#"{"a":1,"\u0061":2,"b":0,}"#,
        );
        check(
            r#"{"b":0,"\u0061":2,"a":1}"#,
            r#"{"\u0061":2,"a":1,"b":0,}"#,
        );
        // Lone surrogates.
        check(r#"{"\uDFFF":1,"\ud800":2}"#, r#"{"\ud800":2,"\uDFFF":1,}"#);
        check(r#"{"\uD800":2,"\ud800":1}"#, r#"{"\uD800":2,"\ud800":1,}"#);
    }

    #[test]
    fn deep_nesting_fits_a_small_stack() {
        let nested = |depth: usize| format!("{}1{}", r#"{"b":["#.repeat(depth), "]}".repeat(depth));
        let depth = DEEPEST as usize / 2;
        let small = std::thread::Builder::new().stack_size(256 << 10);
        let thread = small.spawn(move || {
            let found = canonical(&nested(depth)).map(|text| text.len());
            (found, canonical(&nested(depth + 1)).is_err())
        });
        let thread = thread.expect("a thread can be spawned");
        let (found, is_rejected) = thread.join().expect("the stack is large enough");
        assert_eq!(found, Ok(depth * "{\"b\":[],}".len() + 1));
        assert!(is_rejected);
    }

    #[test]
    fn invalid_json_is_rejected() {
        for text in ["", "{", r#"{"a"}"#, "[1,]", "1 2", r#"{"a":1,}"#] {
            assert!(canonical(text).is_err(), "{text}");
        }
    }
}

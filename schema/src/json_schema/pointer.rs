//! JSON Pointers (RFC 6901).

use std::borrow::Cow;

use serde_json::Value;

use crate::json_schema::Schema;

/// Appends a token to a pointer, escaped.
pub fn push_token(pointer: &mut String, token: &str) {
    pointer.push('/');
    for character in token.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// Returns the tokens of a pointer, unescaped.
pub fn tokens(pointer: &str) -> impl Iterator<Item = Cow<'_, str>> {
    pointer.split('/').skip(1).map(unescape)
}

fn unescape(token: &str) -> Cow<'_, str> {
    if token.contains('~') {
        Cow::Owned(token.replace("~1", "/").replace("~0", "~"))
    } else {
        Cow::Borrowed(token)
    }
}

/// Returns the value at a pointer into an object. The empty pointer refers to the object itself, which is no
/// [`Value`] here: the result is `None`.
pub fn value_at<'a>(root: &'a Schema, pointer: &str) -> Option<&'a Value> {
    let tokens = pointer.strip_prefix('/')?;
    let (first, rest) = tokens.split_at(tokens.find('/').unwrap_or(tokens.len()));
    root.get(&*unescape(first))?.pointer(rest)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tokens_survive_escaping() {
        let names = ["", "a", "a/b", "~", "~1", "/~0/"];
        let mut pointer = String::new();
        for name in names {
            push_token(&mut pointer, name);
        }
        assert_eq!(pointer, "//a/a~1b/~0/~01/~1~00~1");
        assert_eq!(tokens(&pointer).collect::<Vec<_>>(), names);
        assert_eq!(tokens("").count(), 0);
    }

    #[test]
    fn values_are_found_by_their_pointer() {
        let root = json!({"a/b": {"": [1, {"~": 2}]}});
        let cases = [
            ("/a~1b//0", Some(json!(1))),
            ("/a~1b//1/~0", Some(json!(2))),
            ("/a~1b//2", None),
            ("/a", None),
            ("a~1b", None),
            ("", None),
        ];
        for (pointer, expected) in cases {
            let found = value_at(root.as_object().unwrap(), pointer);
            assert_eq!(found.cloned(), expected, "{pointer}");
        }
    }
}

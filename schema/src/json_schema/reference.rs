//! References within a schema. References to other documents are never followed.

use std::borrow::Cow;

use serde_json::Value;

use crate::json_schema::{Schema, value_at};
use crate::percent::percent_decode;

/// Target of a reference within its own document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fragment<'a> {
    /// JSON Pointer, without percent-encoding. The empty one refers to the whole document.
    Pointer(Cow<'a, str>),
    /// Name that an `$anchor` defines.
    Anchor(&'a str),
}

/// Returns the target of a reference within its own document, or `None` for one that leads elsewhere.
pub fn local_fragment(reference: &str) -> Option<Fragment<'_>> {
    let fragment = match reference {
        "" => "",
        other => other.strip_prefix('#')?,
    };
    if !fragment.is_empty() && !fragment.starts_with('/') {
        return Some(Fragment::Anchor(fragment));
    }
    let pointer = percent_decode(fragment).unwrap_or(Cow::Borrowed(fragment));
    Some(Fragment::Pointer(pointer))
}

/// Returns the schema that a reference leads to, if it is an object in `root`. Anchors are not supported.
pub fn resolve<'a>(root: &'a Schema, reference: &str) -> Option<&'a Schema> {
    match local_fragment(reference)? {
        Fragment::Pointer(pointer) if pointer.is_empty() => Some(root),
        Fragment::Pointer(pointer) => value_at(root, &pointer)?.as_object(),
        Fragment::Anchor(_) => None,
    }
}

/// Follows references until a schema has constraints of its own, or no further target. Each reference takes one of the
/// `steps`; when none is left, the schema that was reached is returned.
pub fn follow<'a>(mut schema: &'a Schema, root: &'a Schema, steps: &mut u32) -> &'a Schema {
    while let Some(target) = target(schema, root) {
        let Some(left) = steps.checked_sub(1) else {
            break;
        };
        *steps = left;
        schema = target;
    }
    schema
}

fn target<'a>(schema: &Schema, root: &'a Schema) -> Option<&'a Schema> {
    let reference = schema.get("$ref").and_then(Value::as_str)?;
    let has_constraints =
        |name: &String| matches!(&**name, "type" | "properties" | "items" | "enum");
    if schema.keys().any(has_constraints) {
        return None;
    }
    resolve(root, reference)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_references_within_the_document_have_a_target() {
        let pointer = |text| Some(Fragment::Pointer(Cow::Borrowed(text)));
        let cases = [
            ("", pointer("")),
            ("#", pointer("")),
            ("#/$defs/a%2Fb", pointer("/$defs/a/b")),
            ("#/%ff", pointer("/%ff")),
            ("#name", Some(Fragment::Anchor("name"))),
            ("other.json#/a", None),
            ("https://example.com/x", None),
        ];
        for (reference, expected) in cases {
            assert_eq!(local_fragment(reference), expected, "{reference}");
        }
    }

    #[test]
    fn chains_of_references_end_at_constraints_and_after_the_last_step() {
        let root = json!({"$defs": {
            "a": {"$ref": "#/$defs/b"}, "b": {"type": "string", "$ref": "#/$defs/a"},
            "loop": {"$ref": "#/$defs/loop"}, "lost": {"$ref": "#/$defs/nothing"}, "no": {"$ref": "#/$defs/false"},
            "false": false, "root": {"$ref": "#"},
        }});
        let root = root.as_object().unwrap();
        let cases = [
            ("a", "/$defs/b"),
            ("b", "/$defs/b"),
            ("loop", "/$defs/loop"),
            ("lost", "/$defs/lost"),
            ("no", "/$defs/no"),
        ];
        let find = |pointer: &str| value_at(root, pointer).and_then(Value::as_object);
        for (name, expected) in cases {
            let schema = find(&format!("/$defs/{name}")).unwrap();
            let mut steps = 3;
            assert_eq!(
                Some(follow(schema, root, &mut steps)),
                find(expected),
                "{name}"
            );
        }
        let schema = find("/$defs/root").unwrap();
        assert!(std::ptr::eq(follow(schema, root, &mut 1), root));
    }
}

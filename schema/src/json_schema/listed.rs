//! Strings that a schema lists.

use serde_json::Value;

use crate::json_schema::{MAX_STEPS, Schema, follow};

/// Returns the strings that a schema lists in `enum`, `const` and the alternatives of these, or `None` if it allows other strings.
#[inline]
pub fn listed_strings(schema: &Schema, root: &Schema) -> Option<Vec<String>> {
    let mut strings = Vec::new();
    let complete = collect_strings(schema, root, &mut MAX_STEPS.clone(), &mut strings);
    (complete && !strings.is_empty()).then_some(strings)
}

/// Returns false if the schema allows a value that it does not list, except for null.
#[inline]
fn collect_strings(
    schema: &Schema,
    root: &Schema,
    steps: &mut u32,
    strings: &mut Vec<String>,
) -> bool {
    let schema = follow(schema, root, steps);
    let listed = schema.get("enum").and_then(Value::as_array);
    if listed.is_some() || schema.contains_key("const") {
        let mut listed = listed.into_iter().flatten().chain(schema.get("const"));
        return listed.all(|value| match value {
            Value::String(text) => {
                strings.push(text.clone());
                true
            }
            value => value.is_null(),
        });
    }
    if schema.get("type").is_some_and(|kind| kind == "null") {
        return true;
    }
    let Some(left) = steps.checked_sub(1) else {
        return false;
    };
    *steps = left;
    let alternatives = ["anyOf", "oneOf"].map(|keyword| schema.get(keyword)?.as_array());
    let alternatives = alternatives.into_iter().flatten().flatten();
    let mut alternatives = alternatives.map(Value::as_object).peekable();
    alternatives.peek().is_some()
        && alternatives.all(|branch| {
            branch.is_some_and(|branch| collect_strings(branch, root, steps, strings))
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn strings_are_found_if_the_schema_lists_all() {
        let root = json!({"$defs": {
            "unit": {"type": "string", "enum": ["C", "F"]},
            "loop": {"$ref": "#/$defs/loop"},
            "wide": {"anyOf": [{"$ref": "#/$defs/wide"}, {"$ref": "#/$defs/wide"}]},
        }});
        let cases = [
            (json!({"$ref": "#/$defs/unit"}), Some(vec!["C", "F"])),
            (
                json!({"anyOf": [{"$ref": "#/$defs/unit"}, {"type": "null"}]}),
                Some(vec!["C", "F"]),
            ),
            (
                json!({"oneOf": [{"const": "K", "description": "kelvin"}, {"enum": ["C", null]}]}),
                Some(vec!["K", "C"]),
            ),
            (
                json!({"oneOf": vec![json!({"const": "K"}); 100]}),
                Some(vec!["K"; 100]),
            ),
            (json!({"anyOf": [{"const": "K"}, {"type": "string"}]}), None),
            (json!({"anyOf": [{"const": "K"}, true]}), None),
            (json!({"enum": ["K", 1]}), None),
            (json!({"type": "null"}), None),
            (json!({"type": "string"}), None),
            (json!({"$ref": "#/$defs/loop"}), None),
            (json!({"$ref": "#/$defs/wide"}), None),
            (json!({}), None),
        ];
        for (schema, expected) in cases {
            let strings = listed_strings(schema.as_object().unwrap(), root.as_object().unwrap());
            let expected: Option<Vec<_>> =
                expected.map(|it| it.into_iter().map(String::from).collect());
            assert_eq!(strings, expected, "{schema}");
        }
    }
}

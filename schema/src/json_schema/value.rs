//! Schemas and types of values.

use serde_json::Value;

use crate::json_schema::{MAX_STEPS, Schema, follow, tokens};

/// Returns the schema at a JSON Pointer into the value, following references within the schema and alternatives.
pub fn schema_at<'a>(root: &'a Schema, pointer: &str) -> Option<&'a Schema> {
    let mut found = root;
    let mut steps = MAX_STEPS;
    for token in tokens(pointer) {
        found = child_schema(found, &token, root, &mut steps)?;
    }
    Some(follow(found, root, &mut steps))
}

/// Returns the schema of a member or an item.
fn child_schema<'a>(
    schema: &'a Schema,
    token: &str,
    root: &'a Schema,
    steps: &mut u32,
) -> Option<&'a Schema> {
    *steps = steps.checked_sub(1)?;
    let schema = follow(schema, root, steps);
    let property = || schema.get("properties")?.get(token)?.as_object();
    let first = || {
        let index = token.parse::<usize>().ok()?;
        schema.get("prefixItems")?.get(index)?.as_object()
    };
    let other = || {
        let items = schema.get("items");
        items.or_else(|| other_members(schema))?.as_object()
    };
    property().or_else(first).or_else(other).or_else(|| {
        let mut branches = branches(schema);
        branches.find_map(|branch| child_schema(branch, token, root, steps))
    })
}

/// Returns the schema of the members that are not properties, if there is one. That of a map whose keys have a pattern is the schema
/// of the pattern, because no other names are allowed.
pub fn other_members(schema: &Schema) -> Option<&Value> {
    let patterns = schema.get("patternProperties").and_then(Value::as_object);
    let mut patterns = patterns.into_iter().flat_map(|patterns| patterns.values());
    let (first, second) = (patterns.next(), patterns.next());
    match schema.get("additionalProperties") {
        Some(Value::Bool(false)) => first.filter(|_| second.is_none()),
        others => others.filter(|_| first.is_none()),
    }
}

/// Returns the subschemas of `allOf`, `anyOf` and `oneOf`.
fn branches(schema: &Schema) -> impl Iterator<Item = &Schema> {
    let lists = ["allOf", "anyOf", "oneOf"].into_iter();
    let lists = lists.filter_map(|keyword| schema.get(keyword)?.as_array());
    lists.flatten().filter_map(Value::as_object)
}

/// Returns the types that a schema mentions, each once: those in `type`, otherwise those of the values in `enum` and
/// `const`, otherwise those of all branches. The list is empty if the schema has none of them.
#[inline]
pub fn types_of<'a>(schema: &'a Schema, root: &'a Schema) -> Vec<&'a str> {
    let mut types = Vec::new();
    collect_types(schema, root, &mut MAX_STEPS.clone(), &mut types);
    types
}

#[inline]
fn collect_types<'a>(
    schema: &'a Schema,
    root: &'a Schema,
    steps: &mut u32,
    types: &mut Vec<&'a str>,
) {
    let Some(left) = steps.checked_sub(1) else {
        return;
    };
    *steps = left;
    let schema = follow(schema, root, steps);
    let mut add = |name: &'a str| {
        if !types.contains(&name) {
            types.push(name);
        }
    };
    match schema.get("type") {
        Some(Value::String(only)) => return add(only),
        Some(Value::Array(several)) => {
            return several.iter().filter_map(Value::as_str).for_each(add);
        }
        _ => {}
    }
    let listed = schema.get("enum").and_then(Value::as_array);
    if listed.is_some() || schema.contains_key("const") {
        let listed = listed.into_iter().flatten().chain(schema.get("const"));
        return listed.for_each(|value| add(type_name(value)));
    }
    branches(schema).for_each(|branch| collect_types(branch, root, steps, types));
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns whether the schema allows integers and no other numbers.
#[inline]
pub fn takes_only_integers(schema: &Schema, root: &Schema) -> bool {
    let types = types_of(schema, root);
    types.contains(&"integer") && !types.contains(&"number")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn other_members_have_one_schema() {
        let (one, other) = (json!({"maximum": 3}), json!({"maximum": 4}));
        let cases = [
            (json!({}), None),
            (json!({"additionalProperties": false}), None),
            (json!({"additionalProperties": one}), Some(&one)),
            (json!({"patternProperties": {}}), None),
            (json!({"patternProperties": {"a": one}}), None),
            (
                json!({"additionalProperties": false, "patternProperties": {"a": one}}),
                Some(&one),
            ),
            (
                json!({"additionalProperties": false, "patternProperties": {"a": one, "b": other}}),
                None,
            ),
            (
                json!({"additionalProperties": one, "patternProperties": {"a": other}}),
                None,
            ),
            (
                json!({"additionalProperties": true, "patternProperties": {"a": one}}),
                None,
            ),
        ];
        for (schema, expected) in cases {
            assert_eq!(
                other_members(schema.as_object().unwrap()),
                expected,
                "{schema}"
            );
        }
    }

    #[test]
    fn types_are_found_through_references_and_branches() {
        let root = json!({"$defs": {
            "unit": {"enum": ["C", "F", null]}, "loop": {"$ref": "#/$defs/loop"},
            "all": {"allOf": [{"$ref": "#/$defs/all"}, {"type": "object"}]},
        }});
        let root = root.as_object().unwrap();
        let cases = [
            (json!({"type": "integer"}), vec!["integer"]),
            (json!({"type": ["string", "null"]}), vec!["string", "null"]),
            (json!({"$ref": "#/$defs/unit"}), vec!["string", "null"]),
            (json!({"$ref": "#/$defs/loop"}), vec![]),
            (json!({"$ref": "https://example.com/x"}), vec![]),
            (
                json!({"anyOf": [{"const": 1}, {"oneOf": [{"$ref": "#/$defs/unit"}, {"const": 1.5}]}]}),
                vec!["integer", "string", "null", "number"],
            ),
            (json!({"$ref": "#/$defs/all"}), vec![]),
            (json!({}), vec![]),
        ];
        for (schema, expected) in cases {
            let schema = schema.as_object().unwrap();
            let types = types_of(schema, root);
            assert_eq!(types, expected, "{schema:?}");
            let only = expected.contains(&"integer") && !expected.contains(&"number");
            assert_eq!(takes_only_integers(schema, root), only);
        }
    }
}

//! Schemas and types of values.

use std::borrow::Cow;

use serde_json::Value;

use crate::json_schema::{MAX_STEPS, Schema, follow, tokens};

/// Returns the schema at a JSON Pointer into `value`, following references within the schema and alternatives.
///
/// Alternatives with another tag than the value are skipped. If several others have different schemas at the pointer, the result
/// is `None`. So it is without a value, as `null`, if the alternatives differ there.
pub fn schema_at<'a>(root: &'a Schema, value: &Value, pointer: &str) -> Option<&'a Schema> {
    let path: Vec<_> = tokens(pointer).collect();
    descend(root, Some(value), &path, (root, &mut MAX_STEPS.clone()))
}

fn descend<'a>(
    schema: &'a Schema,
    value: Option<&Value>,
    path: &[Cow<'_, str>],
    (root, steps): (&'a Schema, &mut u32),
) -> Option<&'a Schema> {
    let schema = follow(schema, root, steps);
    let Some((token, rest)) = path.split_first() else {
        return Some(schema);
    };
    *steps = steps.checked_sub(1)?;
    if let Some(child) = child_schema(schema, token) {
        let value = value.and_then(|value| child_value(value, token));
        return descend(child, value, rest, (root, steps));
    }
    let mut together = branches(schema, &["allOf"]);
    let found = together.find_map(|branch| descend(branch, value, path, (root, steps)));
    found.or_else(|| {
        let alternatives = branches(schema, &["anyOf", "oneOf"]);
        let mut alternatives: Vec<_> = alternatives
            .map(|branch| follow(branch, root, steps))
            .collect();
        let has_other_tag = |schema: &Schema| value.is_some_and(|it| has_other_tag(schema, it));
        if !alternatives.iter().all(|schema| has_other_tag(schema)) {
            alternatives.retain(|schema| !has_other_tag(schema));
        }
        let mut found = alternatives
            .into_iter()
            .filter_map(|branch| descend(branch, value, path, (root, steps)));
        let first = found.next()?;
        found.all(|other| other == first).then_some(first)
    })
}

/// Returns the schema of a member or an item, unless it is that of a branch.
fn child_schema<'a>(schema: &'a Schema, token: &str) -> Option<&'a Schema> {
    let property = || schema.get("properties")?.get(token)?.as_object();
    let first = || {
        let index = token.parse::<usize>().ok()?;
        schema.get("prefixItems")?.get(index)?.as_object()
    };
    let other = || {
        let items = schema.get("items");
        items.or_else(|| other_members(schema))?.as_object()
    };
    property().or_else(first).or_else(other)
}

fn child_value<'a>(value: &'a Value, token: &str) -> Option<&'a Value> {
    match value {
        Value::Object(members) => members.get(token),
        Value::Array(items) => items.get(token.parse::<usize>().ok()?),
        _ => None,
    }
}

/// Returns whether a member of the value differs from the only one that the schema allows, such as the tag of a variant.
fn has_other_tag(schema: &Schema, value: &Value) -> bool {
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut properties = properties.into_iter().flatten();
    properties.any(|(name, property)| {
        let pair = value.get(name).zip(only_value(property));
        pair.is_some_and(|(member, only)| member != only)
    })
}

/// Returns the only value that a schema allows, if it is a constant.
pub fn only_value(schema: &Value) -> Option<&Value> {
    match schema.get("enum") {
        Some(Value::Array(values)) => values.first().filter(|_| values.len() == 1),
        _ => schema.get("const"),
    }
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

/// Returns the subschemas in these keywords.
fn branches<'a>(schema: &'a Schema, keywords: &[&str]) -> impl Iterator<Item = &'a Schema> {
    let lists = keywords.iter();
    let lists = lists.filter_map(|keyword| schema.get(*keyword)?.as_array());
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
    let branches = branches(schema, &["allOf", "anyOf", "oneOf"]);
    branches.for_each(|branch| collect_types(branch, root, steps, types));
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
    fn the_alternative_of_a_schema_is_that_with_the_tag_of_the_value() {
        let text = json!({"type": "string"});
        let move_ = json!({"properties": {"op": {"const": "move"}, "args": {"properties": {"to": text, "at": text}}}});
        let size = json!({"properties": {"op": {"enum": ["size"]}, "args": {"properties": {"to": {"type": "integer"}, "at": text}}}});
        let root = json!({
            "$defs": {"size": size},
            "properties": {"list": {"items": {"oneOf": [move_, {"$ref": "#/$defs/size"}, {"properties": {"op": {"const": "stop"}}}]}}},
            "allOf": [{"properties": {"first": {"type": "null"}}}, {"properties": {"first": text}}],
        });
        let with = |op: &str| json!({"list": [{"op": op, "args": {"to": null}}]});
        let cases = [
            (with("move"), "/list/0/args/to", Some("string")),
            (with("size"), "/list/0/args/to", Some("integer")),
            (with("stop"), "/list/0/args/to", None),
            // No alternative has the tag, or there is none.
            (with("other"), "/list/0/args/to", None),
            (with("other"), "/list/0/args/at", Some("string")),
            (json!(null), "/list/0/args/to", None),
            (json!(null), "/list/0/args/at", Some("string")),
            (json!({}), "/first", Some("null")),
        ];
        for (value, pointer, expected) in cases {
            let found = schema_at(root.as_object().unwrap(), &value, pointer);
            let found = found.map(|schema| schema["type"].as_str().unwrap());
            assert_eq!(found, expected, "{value} {pointer}");
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

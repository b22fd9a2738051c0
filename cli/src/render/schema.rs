//! Types and constraints of arguments, extracted from JSON Schemas.

use serde_json::{Map, Value};

/// Maximum number of chained references to follow, because schemas may be recursive.
const MAX_REFERENCES: usize = 16;

/// Maximum number of `anyOf` or `oneOf` alternatives to examine.
const MAX_ALTERNATIVES: usize = 64;

/// Resolves references into `root`. A reference that cannot be resolved is returned unchanged. References to other
/// documents are never followed.
pub(crate) fn resolve_reference<'a>(schema: &'a Value, root: &'a Map<String, Value>) -> &'a Value {
    let mut schema = schema;
    for _ in 0..MAX_REFERENCES {
        let reference = schema.get("$ref").and_then(Value::as_str);
        let Some(pointer) = reference.and_then(|reference| reference.strip_prefix("#/")) else {
            break;
        };
        let (first, rest) = pointer.split_once('/').unwrap_or((pointer, ""));
        let found = root.get(first);
        let found = match rest {
            "" => found,
            rest => found.and_then(|found| found.pointer(&format!("/{rest}"))),
        };
        match found {
            Some(found) => schema = found,
            None => break,
        }
    }
    schema
}

/// Returns the allowed types, e.g. `["string", "null"]`; empty if the schema does not restrict them.
pub(crate) fn types_of(schema: &Value, root: &Map<String, Value>) -> Vec<String> {
    let mut types = Vec::new();
    let schema = resolve_reference(schema, root);
    push_types(&mut types, schema);
    if types.is_empty() {
        for key in ["anyOf", "oneOf"] {
            let alternatives = schema.get(key).and_then(Value::as_array);
            for alternative in alternatives.into_iter().flatten().take(MAX_ALTERNATIVES) {
                push_types(&mut types, resolve_reference(alternative, root));
            }
        }
    }
    types
}

fn push_types(types: &mut Vec<String>, schema: &Value) {
    let mut push = |name: &str| {
        if !types.iter().any(|known| known == name) {
            types.push(name.to_owned());
        }
    };
    match schema.get("type") {
        Some(Value::String(name)) => push(name),
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).for_each(push),
        _ => {
            let listed = schema.get("enum").and_then(Value::as_array);
            let listed = listed.into_iter().flatten().chain(schema.get("const"));
            listed.map(type_of).for_each(push);
        }
    }
}

fn type_of(value: &Value) -> &'static str {
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

/// Returns a short name of the allowed types.
pub(crate) fn type_name(schema: &Value, root: &Map<String, Value>) -> String {
    let schema = resolve_reference(schema, root);
    let types = types_of(schema, root);
    if types.is_empty() {
        return "any".to_owned();
    }
    let names = types.iter().filter(|name| *name != "null").map(|name| {
        let items = schema.get("items").filter(|_| name == "array");
        match items.map(|items| types_of(items, root)) {
            Some(items) if !items.is_empty() => format!("{}[]", items.join("|")),
            _ => name.clone(),
        }
    });
    names.collect::<Vec<_>>().join("|")
}

/// Describes bounds and choices of a value.
pub(super) fn describe_constraints(schema: &Value, root: &Map<String, Value>) -> Option<String> {
    let schema = resolve_reference(schema, root);
    let choices = schema.get("enum").and_then(Value::as_array);
    if let Some(choices) = choices {
        let choices: Vec<_> = choices.iter().map(super::inline_json).collect();
        return Some(format!("one of {}", choices.join(", ")));
    }
    let bound = |key: &str| schema.get(key).filter(|bound| bound.is_number());
    match (bound("minimum"), bound("maximum")) {
        (Some(minimum), Some(maximum)) => Some(format!("{minimum} to {maximum}")),
        (Some(minimum), None) => Some(format!("at least {minimum}")),
        (None, Some(maximum)) => Some(format!("at most {maximum}")),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_are_found_through_references_and_alternatives() {
        let root = json!({"$defs": {
            "Unit": {"enum": ["C", "F"]}, "Loop": {"$ref": "#/$defs/Loop"},
            "Deep": {"$ref": "#/$defs/Unit"}}});
        let root = root.as_object().unwrap();
        let cases = [
            (json!({"type": "integer"}), "integer"),
            (json!({"type": ["string", "null"]}), "string"),
            (json!({"$ref": "#/$defs/Deep"}), "string"),
            (json!({"$ref": "#/$defs/Loop"}), "any"),
            (json!({"$ref": "https://example.com/x"}), "any"),
            (
                json!({"anyOf": [{"type": "number"}, {"$ref": "#/$defs/Unit"}]}),
                "number|string",
            ),
            (
                json!({"type": "array", "items": {"type": "integer"}}),
                "integer[]",
            ),
            (json!({"type": "array"}), "array"),
            (json!({"const": 1.5}), "number"),
            (json!(true), "any"),
        ];
        for (schema, expected) in cases {
            assert_eq!(type_name(&schema, root), expected, "{schema}");
        }
    }
}

//! JSON Schemas of servers, read for what people have to know of an argument.

use serde_json::{Map, Value};

/// References that are followed, one after the other; schemas may refer to themselves.
const FOLLOWED: usize = 16;

/// Alternatives of a schema that are looked at.
const ALTERNATIVES: usize = 64;

/// The schema that is meant, where a reference into `root` stands for it. What cannot be followed is left as it is;
/// references to other documents are never followed.
pub(crate) fn resolved<'a>(schema: &'a Value, root: &'a Map<String, Value>) -> &'a Value {
    let mut schema = schema;
    for _ in 0..FOLLOWED {
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

/// The types that a value may have, as in `["string", "null"]`; none if the schema does not say.
pub(crate) fn kinds_of(schema: &Value, root: &Map<String, Value>) -> Vec<String> {
    let mut kinds = Vec::new();
    let schema = resolved(schema, root);
    push_kinds(&mut kinds, schema);
    if kinds.is_empty() {
        for key in ["anyOf", "oneOf"] {
            let alternatives = schema.get(key).and_then(Value::as_array);
            for alternative in alternatives.into_iter().flatten().take(ALTERNATIVES) {
                push_kinds(&mut kinds, resolved(alternative, root));
            }
        }
    }
    kinds
}

fn push_kinds(kinds: &mut Vec<String>, schema: &Value) {
    let mut push = |kind: &str| {
        if !kinds.iter().any(|known| known == kind) {
            kinds.push(kind.to_owned());
        }
    };
    match schema.get("type") {
        Some(Value::String(kind)) => push(kind),
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).for_each(push),
        _ => {
            let listed = schema.get("enum").and_then(Value::as_array);
            let listed = listed.into_iter().flatten().chain(schema.get("const"));
            listed.map(kind_of).for_each(push);
        }
    }
}

fn kind_of(value: &Value) -> &'static str {
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

/// The type of a value in a word or a few.
pub(crate) fn type_name(schema: &Value, root: &Map<String, Value>) -> String {
    let schema = resolved(schema, root);
    let kinds = kinds_of(schema, root);
    if kinds.is_empty() {
        return "any".to_owned();
    }
    let names = kinds.iter().filter(|kind| *kind != "null").map(|kind| {
        let items = schema.get("items").filter(|_| kind == "array");
        match items.map(|items| kinds_of(items, root)) {
            Some(items) if !items.is_empty() => format!("{}[]", items.join("|")),
            _ => kind.clone(),
        }
    });
    names.collect::<Vec<_>>().join("|")
}

/// What a value may be beside its type, in words: bounds, and choices.
pub(super) fn limits_of(schema: &Value, root: &Map<String, Value>) -> Option<String> {
    let schema = resolved(schema, root);
    let choices = schema.get("enum").and_then(Value::as_array);
    if let Some(choices) = choices {
        let choices: Vec<_> = choices.iter().map(super::pretty_json).collect();
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
    fn types_are_found_wherever_they_stand() {
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

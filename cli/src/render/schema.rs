//! Types and constraints of arguments, extracted from JSON Schemas.

use serde_json::Value;
use treenail_schema::internal::json_schema::{self, MAX_STEPS, Schema, follow};

/// Follows references within `root`. Returns `None` for a schema that is no object.
pub(crate) fn resolve_reference<'a>(schema: &'a Value, root: &'a Schema) -> Option<&'a Schema> {
    Some(follow(schema.as_object()?, root, &mut MAX_STEPS.clone()))
}

/// Returns the allowed types, e.g. `["string", "null"]`; empty if the schema does not restrict them.
pub(crate) fn types_of<'a>(schema: &'a Value, root: &'a Schema) -> Vec<&'a str> {
    let schema = schema.as_object();
    schema.map_or_else(Vec::new, |schema| json_schema::types_of(schema, root))
}

/// Returns a short name of the allowed types.
pub(crate) fn type_name(schema: &Value, root: &Schema) -> String {
    let types = types_of(schema, root);
    if types.is_empty() {
        return "any".to_owned();
    }
    let names = types
        .into_iter()
        .filter(|name| *name != "null")
        .map(|name| {
            let items = resolve_reference(schema, root).filter(|_| name == "array");
            let items = items.and_then(|schema| schema.get("items"));
            match items.map(|items| types_of(items, root)) {
                Some(items) if !items.is_empty() => format!("{}[]", items.join("|")),
                _ => name.to_owned(),
            }
        });
    names.collect::<Vec<_>>().join("|")
}

/// Returns a short name of the allowed types, with `null` if it is allowed too.
pub(super) fn nullable_type_name(schema: &Value, root: &Schema) -> String {
    let name = type_name(schema, root);
    match types_of(schema, root).as_slice() {
        [] | ["null"] => name,
        types if types.contains(&"null") => format!("{name}|null"),
        _ => name,
    }
}

/// Returns the alternative to null, of a schema that has one.
fn without_null<'a>(schema: &'a Schema, root: &'a Schema) -> Option<&'a Schema> {
    let is_null = |schema: &Value| schema.get("type").is_some_and(|kind| kind == "null");
    match schema.get("anyOf").and_then(Value::as_array)?.as_slice() {
        [other, null] | [null, other] if is_null(null) => resolve_reference(other, root),
        _ => None,
    }
}

/// Returns the only values that a schema allows, if it lists them: in `enum`, or as strings in alternatives.
pub(crate) fn choices(schema: &Schema, root: &Schema) -> Option<Vec<Value>> {
    if let Some(Value::Array(choices)) = schema.get("enum") {
        return Some(choices.clone());
    }
    let strings = json_schema::listed_strings(schema, root)?;
    Some(strings.into_iter().map(Value::String).collect())
}

/// Describes bounds, choices and the format of a value.
pub(super) fn describe_constraints(schema: &Value, root: &Schema) -> Option<String> {
    let schema = resolve_reference(schema, root)?;
    let schema = without_null(schema, root).unwrap_or(schema);
    if let Some(choices) = choices(schema, root) {
        let choices: Vec<_> = choices.iter().map(super::inline_json).collect();
        return Some(format!("one of {}", choices.join(", ")));
    }
    let bound = |key: &str| schema.get(key).filter(|bound| bound.is_number());
    match (bound("minimum"), bound("maximum")) {
        (Some(minimum), Some(maximum)) if minimum == maximum => Some(format!("exactly {minimum}")),
        (Some(minimum), Some(maximum)) => Some(format!("{minimum} to {maximum}")),
        (Some(minimum), None) => Some(format!("at least {minimum}")),
        (None, Some(maximum)) => Some(format!("at most {maximum}")),
        // The formats of numbers are those of their types.
        (None, None) => {
            let is_number = json_schema::types_of(schema, root)
                .iter()
                .any(|kind| matches!(*kind, "integer" | "number"));
            let format = schema.get("format").and_then(Value::as_str);
            format.filter(|_| !is_number).map(str::to_owned)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_with_descriptions_are_choices() {
        let root = Schema::new();
        let documented = json!({"oneOf": [
            {"const": "A", "description": "First", "type": "string"},
            {"const": "B", "type": "string"},
        ]});
        let described = describe_constraints(&documented, &root);
        assert_eq!(described.as_deref(), Some("one of A, B"));
        let open = json!({"anyOf": [documented, {"type": "string"}]});
        assert_eq!(describe_constraints(&open, &root), None);
    }

    #[test]
    fn formats_and_null_are_shown() {
        let root = json!({"$defs": {"Day": {"type": "string", "format": "date"}}});
        let root = root.as_object().unwrap();
        let day = json!({"$ref": "#/$defs/Day"});
        for (schema, name, constraints) in [
            (
                json!({"anyOf": [day, {"type": "null"}]}),
                "string|null",
                Some("date"),
            ),
            (
                json!({"anyOf": [{"type": "null"}, {"type": "integer", "minimum": 1}]}),
                "integer|null",
                Some("at least 1"),
            ),
            (day, "string", Some("date")),
            (
                json!({"type": "integer", "format": "uint8"}),
                "integer",
                None,
            ),
            (json!({"type": ["string", "null"]}), "string|null", None),
            (json!({"type": "null"}), "", None),
            (json!(true), "any", None),
        ] {
            assert_eq!(nullable_type_name(&schema, root), name, "{schema}");
            let described = describe_constraints(&schema, root);
            assert_eq!(described.as_deref(), constraints, "{schema}");
        }
    }

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

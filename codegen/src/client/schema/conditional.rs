//! Members that only conditions of an object describe.

use serde_json::{Map, Value};

/// Returns `true` if conditions of a schema describe or require members that its `properties` do not list.
pub(super) fn conditions_add_members(schema: &Map<String, Value>) -> bool {
    let no_members = Map::new();
    let listed = schema.get("properties").and_then(Value::as_object);
    conditions_have_others(schema, listed.unwrap_or(&no_members))
}

fn conditions_have_others(schema: &Map<String, Value>, listed: &Map<String, Value>) -> bool {
    let branches = ["if", "then", "else"].iter();
    let branches = branches.filter_map(|key| schema.get(*key));
    let dependent = ["dependentSchemas", "dependentRequired", "dependencies"].iter();
    let dependent = dependent.filter_map(|key| schema.get(*key)?.as_object());
    let mut parts = branches.chain(dependent.flat_map(Map::values));
    parts.any(|part| has_others(part, listed))
}

/// Returns `true` if a schema, or a list of required names, has members that are not listed. A reference counts as such a schema.
fn has_others(part: &Value, listed: &Map<String, Value>) -> bool {
    let is_other = |name: &str| !listed.contains_key(name);
    let schema = match part {
        Value::Object(schema) => schema,
        Value::Array(names) => return names.iter().filter_map(Value::as_str).any(is_other),
        _ => return false,
    };
    let has_others_at = |(key, value): (&String, &Value)| match (&**key, value) {
        ("properties", Value::Object(members)) => members.keys().any(|name| is_other(name)),
        ("required", names) => has_others(names, listed),
        ("allOf" | "anyOf" | "oneOf", Value::Array(parts)) => {
            parts.iter().any(|part| has_others(part, listed))
        }
        ("patternProperties" | "additionalProperties" | "unevaluatedProperties", value) => {
            *value != Value::Bool(false)
        }
        (key, _) => key == "$ref",
    };
    schema.iter().any(has_others_at) || conditions_have_others(schema, listed)
}

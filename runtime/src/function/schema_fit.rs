//! Rough validation of a value against the keywords that error messages describe.

use serde_json::Value;
use treenail_schema::internal::json_schema::{MAX_STEPS, Schema, follow};

use crate::function::schema_hint::required_members;

/// Returns `true` if the value satisfies the parts of a schema that [`describe_schema`](super::schema_hint::describe_schema)
/// describes. A value that is read for the type of the schema and fails nevertheless violates something else.
pub(crate) fn fits_description(value: &Value, schema: &Schema, root: &Schema) -> bool {
    fits(value, schema, root, &mut MAX_STEPS.clone())
}

/// Returns `true` if the schema describes values of this type, such as `array`.
pub(crate) fn allows_type(kind: &str, schema: &Schema, root: &Schema) -> bool {
    allows(kind, schema, root, &mut MAX_STEPS.clone())
}

fn allows(kind: &str, schema: &Schema, root: &Schema, steps: &mut u32) -> bool {
    let Some(rest) = steps.checked_sub(1) else {
        return false;
    };
    *steps = rest;
    let schema = follow(schema, root, steps);
    if let Some(Value::Array(values)) = schema.get("enum") {
        return values.iter().any(|value| has_type(value, kind));
    }
    if let Some(only) = schema.get("const") {
        return has_type(only, kind);
    }
    if let Some(Value::Array(choices)) = schema.get("anyOf").or_else(|| schema.get("oneOf")) {
        let mut choices = choices.iter().filter_map(Value::as_object);
        return choices.any(|choice| allows(kind, choice, root, steps));
    }
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|it| it == kind),
        Some(it) => it == kind,
        None => true,
    }
}

fn fits(value: &Value, schema: &Schema, root: &Schema, steps: &mut u32) -> bool {
    let Some(rest) = steps.checked_sub(1) else {
        return false;
    };
    *steps = rest;
    let schema = follow(schema, root, steps);
    if let Some(Value::Array(values)) = schema.get("enum") {
        return values.contains(value);
    }
    if let Some(only) = schema.get("const") {
        return only == value;
    }
    if let Some(Value::Array(choices)) = schema.get("anyOf").or_else(|| schema.get("oneOf")) {
        let mut choices = choices.iter().filter_map(Value::as_object);
        return choices.any(|choice| {
            let choice = follow(choice, root, steps);
            has_members(value, choice) && fits(value, choice, root, steps)
        });
    }
    let is_kind = |kind: &Value| kind.as_str().is_some_and(|kind| has_type(value, kind));
    let has_type = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(is_kind),
        Some(kind) => is_kind(kind),
        None => true,
    };
    has_type && is_in_bounds(value, schema)
}

/// Returns whether a value has the members by which alternatives are described, and no others if those are not allowed. Only
/// objects have members.
fn has_members(value: &Value, schema: &Schema) -> bool {
    let Value::Object(members) = value else {
        return true;
    };
    let has = |(name, constant): (&str, Option<&Value>)| {
        let member = members.get(name);
        member.is_some_and(|member| constant.is_none_or(|constant| constant == member))
    };
    let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    let properties = schema.get("properties");
    let is_known = |name: &String| properties.is_some_and(|all| all.get(name).is_some());
    required_members(schema).all(has) && (!is_closed || members.keys().all(is_known))
}

fn has_type(value: &Value, kind: &str) -> bool {
    match kind {
        "integer" => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|it| it.fract() == 0.0)
        }
        "number" => value.is_number(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => false,
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "the values that are counted are short"
)]
fn is_in_bounds(value: &Value, schema: &Schema) -> bool {
    let (size, minimum, maximum) = match value {
        Value::Number(number) => (number.as_f64(), "minimum", "maximum"),
        // A format or a pattern may be the one that the value violates.
        Value::String(_) if schema.contains_key("format") || schema.contains_key("pattern") => {
            return false;
        }
        Value::String(text) => {
            let count = text.chars().count() as f64;
            (Some(count), "minLength", "maxLength")
        }
        Value::Array(items) => (Some(items.len() as f64), "minItems", "maxItems"),
        _ => return true,
    };
    let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    let holds = |keyword: &str, is_within: fn(f64, f64) -> bool| {
        bound(keyword)
            .zip(size)
            .is_none_or(|(bound, size)| is_within(size, bound))
    };
    holds(minimum, |size, bound| size >= bound)
        && holds(maximum, |size, bound| size <= bound)
        && (!value.is_number()
            || holds("exclusiveMinimum", |size, bound| size > bound)
                && holds("exclusiveMaximum", |size, bound| size < bound))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_compared_with_described_keywords() {
        let small = json!({"type": "integer", "minimum": 0, "maximum": 255});
        let either = json!({"anyOf": [small, {"type": "null"}]});
        let closed = json!({"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": false});
        let tagged =
            json!({"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"]});
        let shape = json!({"oneOf": [closed, tagged]});
        let table = [
            (&small, json!(7), true),
            (&small, json!(7.0), true),
            (&small, json!(7.5), false),
            (&small, json!(256), false),
            (&small, json!("7"), false),
            (&either, json!(null), true),
            (&either, json!(-1), false),
            (
                &json!({"type": "number", "exclusiveMaximum": 1}),
                json!(1),
                false,
            ),
            (
                &json!({"type": "string", "maxLength": 1}),
                json!("\u{e9}"),
                true,
            ),
            (
                &json!({"type": "string", "maxLength": 1}),
                json!("ab"),
                false,
            ),
            (
                &json!({"type": "string", "format": "date"}),
                json!("x"),
                false,
            ),
            (
                &json!({"type": ["array", "null"], "minItems": 2}),
                json!([1]),
                false,
            ),
            (&json!({"type": "object"}), json!({"x": 1}), true),
            (&closed, json!({}), true),
            (&shape, json!({}), false),
            (&shape, json!({"a": 1}), true),
            (&shape, json!({"a": 1, "x": 2}), false),
            (&shape, json!({"kind": "b", "x": 2}), true),
            (&shape, json!({"kind": "c"}), false),
            (&json!({"enum": ["a"]}), json!("b"), false),
            (&json!({"const": "a"}), json!("a"), true),
            (&json!({}), json!("a"), true),
        ];
        for (schema, value, expected) in table {
            let schema = schema.as_object().unwrap();
            assert_eq!(
                fits_description(&value, schema, schema),
                expected,
                "{value}"
            );
        }
    }
}

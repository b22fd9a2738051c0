//! Defaults in schemas, as the model would write them.

use serde_json::{Map, Value};

/// Keywords beside `properties` that may declare more members.
const OTHERS: [&str; 6] = [
    "additionalProperties",
    "patternProperties",
    "allOf",
    "anyOf",
    "oneOf",
    "$ref",
];

/// Returns a default as the model would write it, or `None` if its members are not those that the schema has: a type may write
/// other names than it reads.
pub(crate) fn for_model(mut default: Value, schema: &Map<String, Value>) -> Option<Value> {
    drop_absent(&mut default, schema);
    has_members_of(&default, schema).then_some(default)
}

/// Removes the optional members of a default that are null although their schema does not allow that: the model omits them.
fn drop_absent(default: &mut Value, schema: &Map<String, Value>) {
    match (default, object_or_array(schema)) {
        (Value::Object(members), Some(schema)) => drop_absent_members(members, schema),
        (Value::Array(items), Some(schema)) => {
            let first = schema.get("prefixItems").and_then(Value::as_array);
            for (index, item) in items.iter_mut().enumerate() {
                let prefix = first.and_then(|first| first.get(index));
                if let Some(Value::Object(schema)) = prefix.or_else(|| schema.get("items")) {
                    drop_absent(item, schema);
                }
            }
        }
        _ => {}
    }
}

fn drop_absent_members(members: &mut Map<String, Value>, schema: &Map<String, Value>) {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|it| it == name));
    let properties = schema.get("properties").and_then(Value::as_object);
    let others = schema.get("additionalProperties");
    members.retain(|name, value| {
        let property = properties.and_then(|properties| properties.get(name));
        if let Some(Value::Object(schema)) = property.or(others) {
            drop_absent(value, schema);
        }
        let is_declared = property.is_some_and(|schema| !allows_null(schema));
        !(value.is_null() && is_declared && !is_required(name))
    });
}

fn has_members_of(default: &Value, schema: &Map<String, Value>) -> bool {
    let fits = |value: &Value, schema: Option<&Value>| match schema {
        Some(Value::Object(schema)) => has_members_of(value, schema),
        _ => true,
    };
    match (default, object_or_array(schema)) {
        (Value::Object(members), Some(schema)) => {
            let required = schema.get("required").and_then(Value::as_array);
            let mut required = required.into_iter().flatten().filter_map(Value::as_str);
            let properties = schema.get("properties").and_then(Value::as_object);
            let is_closed =
                properties.is_some() && !OTHERS.iter().any(|it| schema.contains_key(*it));
            let others = schema.get("additionalProperties");
            required.all(|name| members.contains_key(name))
                && members.iter().all(|(name, value)| {
                    let property = properties.and_then(|properties| properties.get(name));
                    (property.is_some() || !is_closed) && fits(value, property.or(others))
                })
        }
        (Value::Array(items), Some(schema)) => {
            let first = schema.get("prefixItems").and_then(Value::as_array);
            items.iter().enumerate().all(|(index, item)| {
                let prefix = first.and_then(|first| first.get(index));
                fits(item, prefix.or_else(|| schema.get("items")))
            })
        }
        _ => true,
    }
}

/// Returns the schema, or the only alternative of it that is an object or an array.
fn object_or_array(schema: &Map<String, Value>) -> Option<&Map<String, Value>> {
    let Some(Value::Array(alternatives)) = schema.get("anyOf") else {
        return Some(schema);
    };
    let mut fitting = alternatives
        .iter()
        .filter_map(Value::as_object)
        .filter(|schema| matches!(kind(schema), Some("object" | "array")));
    let only = fitting.next()?;
    fitting.next().is_none().then_some(only)
}

/// Returns `true` if null may be valid. The definition behind a reference is not searched.
fn allows_null(schema: &Value) -> bool {
    let Some(schema) = schema.as_object() else {
        return true;
    };
    let alternatives = ["anyOf", "oneOf"].map(|keyword| schema.get(keyword));
    let mut alternatives = alternatives.into_iter().flatten();
    if let Some(Value::Array(alternatives)) = alternatives.next() {
        return alternatives.iter().any(allows_null);
    }
    match (schema.get("enum"), kind(schema)) {
        (Some(Value::Array(values)), _) => values.iter().any(Value::is_null),
        (_, Some(kind)) => kind == "null",
        (_, None) => !["const", "$ref"].iter().any(|it| schema.contains_key(*it)),
    }
}

fn kind(schema: &Map<String, Value>) -> Option<&str> {
    schema.get("type").and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn optional_members_that_are_null_are_omitted() {
        let inner = json!({
            "type": "object",
            "properties": {
                "x": {"type": "integer"},
                "y": {"type": "integer"},
                "any": {},
                "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "next": {"$ref": "#/$defs/Inner"},
            },
            "required": ["x"],
        });
        let value =
            || json!({"x": null, "y": null, "any": null, "maybe": null, "next": null, "z": null});
        let expected = || json!({"x": null, "any": null, "maybe": null, "z": null});
        let table = [
            (inner.clone(), value(), expected()),
            (
                json!({"anyOf": [inner, {"type": "null"}]}),
                value(),
                expected(),
            ),
            (
                json!({"type": "array", "items": inner}),
                json!([value()]),
                json!([expected()]),
            ),
            (
                json!({"type": "object", "additionalProperties": inner}),
                json!({"a": value(), "b": null}),
                json!({"a": expected(), "b": null}),
            ),
            (json!({"anyOf": [inner, inner]}), value(), value()),
        ];
        for (schema, mut default, expected) in table {
            drop_absent(&mut default, schema.as_object().unwrap());
            assert_eq!(default, expected, "{schema}");
        }
    }

    #[test]
    fn a_default_with_other_members_than_the_schema_is_omitted() {
        let two = json!({
            "type": "object",
            "properties": {"my_field": {"type": "integer"}, "other": {"type": "integer"}},
            "required": ["my_field"],
        });
        let list = json!({"type": "array", "items": two});
        let mut open = two.clone();
        open["additionalProperties"] = json!(true);
        let table = [
            (&two, json!({"my_field": 1, "other": null}), true),
            (&two, json!({"my_field": 1, "Other": 2}), false),
            (&two, json!({"other": 2}), false),
            (&open, json!({"my_field": 1, "Other": 2}), true),
            (&list, json!([{"my_field": 1}]), true),
            (&list, json!([{"my_field": 1}, {"myField": 1}]), false),
        ];
        for (schema, default, fits) in table {
            let text = default.to_string();
            let found = for_model(default, schema.as_object().unwrap());
            assert_eq!(found.is_some(), fits, "{text}");
        }
    }
}

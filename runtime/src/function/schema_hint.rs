//! Descriptions of the values that a schema expects, for error messages.

use std::fmt::Write;

use serde_json::Value;
use treenail_schema::internal::json_schema::{MAX_STEPS, Schema, follow, only_value};

use crate::wire::quoted;

/// Maximum number of members with which an object is described.
const MAX_SHOWN_MEMBERS: usize = 4;

/// Lists the arguments of a schema, for an error message.
pub(crate) fn list_arguments(schema: &Schema) -> String {
    match schema.get("properties") {
        Some(Value::Object(properties)) if !properties.is_empty() => properties
            .keys()
            .map(|name| quoted(name))
            .collect::<Vec<_>>()
            .join(", "),
        _ => "none".to_owned(),
    }
}

/// Describes the values of a schema, or returns `None` if there is no short description.
pub(crate) fn describe_schema(schema: &Schema, root: &Schema) -> Option<String> {
    describe_steps(schema, root, &mut MAX_STEPS.clone())
}

fn describe_steps(schema: &Schema, root: &Schema, steps: &mut u32) -> Option<String> {
    *steps = steps.checked_sub(1)?;
    let schema = follow(schema, root, steps);
    if let Some(Value::Array(values)) = schema.get("enum") {
        return Some(match &**values {
            [only] => only.to_string(),
            values => {
                let values: Vec<_> = values.iter().map(Value::to_string).collect();
                format!("one of {}", values.join(", "))
            }
        });
    }
    if let Some(value) = schema.get("const") {
        return Some(value.to_string());
    }
    let format = schema.get("format").and_then(Value::as_str);
    let kinds = match schema.get("type") {
        Some(Value::String(only)) if only == "string" => match (format, schema.get("examples")) {
            (Some(format), _) => format_description(format),
            (None, Some(Value::Array(examples))) if !examples.is_empty() => {
                format!("a string such as {}", examples[0])
            }
            _ => "a string".to_owned(),
        },
        Some(Value::String(only)) => type_description(only)?.to_owned(),
        Some(Value::Array(several)) => {
            let several = several.iter().map(|name| type_description(name.as_str()?));
            several.collect::<Option<Vec<_>>>()?.join(" or ")
        }
        _ => return describe_alternatives(schema, root, steps),
    };
    Some(with_conditions(kinds, schema))
}

fn type_description(name: &str) -> Option<&'static str> {
    Some(match name {
        "integer" => "an integer",
        "number" => "a number",
        "string" => "a string",
        "boolean" => "true or false",
        "array" => "an array",
        "object" => "an object",
        "null" => "null",
        _ => return None,
    })
}

/// Describes strings of a format, with an example for those that people do not know by heart.
fn format_description(format: &str) -> String {
    let (kind, example) = match format {
        "date-time" => ("a date and time", "2026-12-01T10:00:00Z"),
        "date" => ("a date", "2026-12-01"),
        "time" => ("a time", "10:00:00Z"),
        "duration" => ("a duration", "PT1H30M"),
        "uuid" => ("a UUID", "67e55044-10b1-426f-9247-bb680e5fe0c8"),
        "uri" => ("a URI", "https://example.com/page"),
        "email" => ("an email address", "name@example.com"),
        "ipv4" => ("an IPv4 address", "192.0.2.1"),
        "ipv6" => ("an IPv6 address", "2001:db8::1"),
        _ => return format!("a string of the format `{format}`"),
    };
    format!("{kind} such as {example}")
}

/// Describes alternatives, if each of them has a description.
fn describe_alternatives(schema: &Schema, root: &Schema, steps: &mut u32) -> Option<String> {
    let choices = schema
        .get("anyOf")
        .or_else(|| schema.get("oneOf"))?
        .as_array()?;
    let choices = choices.iter().map(|choice| {
        let choice = follow(choice.as_object()?, root, steps);
        describe_members(choice).or_else(|| describe_steps(choice, root, steps))
    });
    let mut distinct = Vec::new();
    for choice in choices {
        let choice = choice?;
        if !distinct.contains(&choice) {
            distinct.push(choice);
        }
    }
    Some(distinct.join(" or "))
}

/// Describes an object by its required members, by which the alternatives of an enum differ, as in `{"kind": "circle", "radius": …}`.
fn describe_members(schema: &Schema) -> Option<String> {
    let members = required_members(schema).map(|(name, constant)| match constant {
        Some(constant) => format!("{}: {constant}", Value::from(name)),
        None => format!("{}: …", Value::from(name)),
    });
    let mut members: Vec<_> = members.take(MAX_SHOWN_MEMBERS + 1).collect();
    if members.len() > MAX_SHOWN_MEMBERS {
        members.truncate(MAX_SHOWN_MEMBERS);
        members.push("…".to_owned());
    }
    (!members.is_empty()).then(|| format!("{{{}}}", members.join(", ")))
}

/// Returns the names of the required members of an object, each with its value if only one is allowed.
pub(super) fn required_members(schema: &Schema) -> impl Iterator<Item = (&str, Option<&Value>)> {
    let names = schema.get("required").and_then(Value::as_array);
    let names = names.into_iter().flatten().filter_map(Value::as_str);
    names.map(|name| {
        let property = schema.get("properties").and_then(|all| all.get(name));
        (name, property.and_then(only_value))
    })
}

fn with_conditions(mut text: String, schema: &Schema) -> String {
    let bound = |keyword: &str| schema.get(keyword).map(Value::to_string);
    let pairs = [
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", "characters "),
        ("minItems", "maxItems", "items "),
    ];
    let others = [
        ("exclusiveMinimum", "more than "),
        ("exclusiveMaximum", "less than "),
        ("pattern", "pattern "),
    ];
    let mut conditions = Vec::new();
    for (minimum, maximum, unit) in pairs {
        match (bound(minimum), bound(maximum)) {
            (Some(least), Some(most)) if least == most => {
                conditions.push(format!("{unit}exactly {least}"));
            }
            (least, most) => {
                conditions.extend(least.map(|least| format!("{unit}at least {least}")));
                conditions.extend(most.map(|most| format!("{unit}at most {most}")));
            }
        }
    }
    for (keyword, words) in others {
        conditions.extend(bound(keyword).map(|bound| format!("{words}{bound}")));
    }
    if !conditions.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(text, " ({})", conditions.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use treenail_schema::internal::json_schema::schema_at;

    use super::*;

    #[test]
    fn descriptions_follow_references_and_alternatives() {
        let root = json!({
            "type": "object",
            "properties": {
                "place": {"$ref": "#/$defs/Place"},
                "maybe": {"anyOf": [{"$ref": "#/$defs/Place"}, {"type": "null"}]},
                "days": {"type": ["integer", "null"], "minimum": 1},
                "unit": {"enum": ["metric", "imperial"]},
                "a/b": {"type": "array", "prefixItems": [{"const": 7}], "items": {"type": "boolean"}},
                "map": {"additionalProperties": {"type": "number"}},
                "at": {"type": "string", "format": "date-time"},
                "host": {"type": "string", "format": "hostname", "maxLength": 9},
                "local": {"type": "string", "examples": ["10:00:00"]},
                "pair": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
                "between": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
                "loop": {"$ref": "#/properties/loop"},
                "any": {},
                "shape": {"oneOf": [
                    {"type": "string", "enum": ["point"]},
                    {"type": "object", "properties": {"circle": {}}, "required": ["circle"]},
                    {"type": "object", "properties": {"kind": {"const": "box"}}, "required": ["kind", "a", "b", "c", "d"]},
                ]},
            },
            "$defs": {"Place": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 9}}}},
        });
        let root = root.as_object().unwrap();
        let table = [
            ("", Some("an object")),
            ("/place", Some("an object")),
            ("/place/name", Some("a string (characters at most 9)")),
            ("/maybe", Some("an object or null")),
            ("/maybe/name", Some("a string (characters at most 9)")),
            ("/days", Some("an integer or null (at least 1)")),
            ("/unit", Some("one of \"metric\", \"imperial\"")),
            ("/a~1b/0", Some("7")),
            ("/a~1b/1", Some("true or false")),
            ("/map/anything", Some("a number")),
            ("/at", Some("a date and time such as 2026-12-01T10:00:00Z")),
            (
                "/host",
                Some("a string of the format `hostname` (characters at most 9)"),
            ),
            ("/local", Some("a string such as \"10:00:00\"")),
            ("/pair", Some("an array (items exactly 2)")),
            ("/between", Some("a number (at most 1, more than 0)")),
            ("/loop", None),
            ("/loop/a/b/c", None),
            ("/any", None),
            (
                "/shape",
                Some(r#""point" or {"circle": …} or {"kind": "box", "a": …, "b": …, "c": …, …}"#),
            ),
            ("/nothing", None),
        ];
        for (pointer, expected) in table {
            let found = schema_at(root, &Value::Null, pointer);
            let found = found.and_then(|schema| describe_schema(schema, root));
            assert_eq!(found.as_deref(), expected, "{pointer}");
        }
    }

    #[test]
    fn known_arguments_are_listed() {
        let schema = json!({"properties": {"a": {}, "b`": {}}});
        assert_eq!(list_arguments(schema.as_object().unwrap()), "`a`, `b'`");
        for schema in [json!({}), json!({"properties": {}})] {
            let listed = list_arguments(schema.as_object().unwrap());
            assert_eq!(listed, "none");
        }
    }
}

//! Documentation of constraints that the types do not express.

use serde_json::{Map, Value};

use crate::client::docs::{code, truncate};

/// Notes about a value with this default, in addition to its description.
pub(super) fn notes(schema: &Map<String, Value>, default: Option<&Value>) -> Vec<String> {
    let mut notes = numbers(schema);
    for (key, words) in [
        ("format", "Format"),
        ("pattern", "Pattern"),
        ("contentEncoding", "Encoding"),
        ("contentMediaType", "Media type"),
    ] {
        let text = schema.get(key).and_then(Value::as_str);
        notes.extend(text.map(|text| format!("{words}: {}.", code(text))));
    }
    notes.extend(default.map(|default| format!("Default: {}.", code(&default.to_string()))));
    if schema.get("deprecated") == Some(&Value::Bool(true)) {
        notes.push("Deprecated by the server.".to_owned());
    }
    notes.extend(conditions(schema));
    notes
}

/// Bounds of numbers and sizes.
fn numbers(schema: &Map<String, Value>) -> Vec<String> {
    let mut notes = Vec::new();
    let value = |key: &str| {
        schema
            .get(key)
            .filter(|value| !value.is_boolean())
            .map(|value| code(&value.to_string()))
    };
    let mut bounds = Vec::new();
    for (key, words) in [
        ("minimum", "at least"),
        ("exclusiveMinimum", "above"),
        ("maximum", "at most"),
        ("exclusiveMaximum", "below"),
        ("multipleOf", "a multiple of"),
    ] {
        bounds.extend(value(key).map(|value| format!("{words} {value}")));
    }
    notes.extend(sentence(&bounds));
    for (least, most, what) in [
        ("minLength", "maxLength", "characters"),
        ("minItems", "maxItems", "items"),
        ("minProperties", "maxProperties", "members"),
    ] {
        let mut bounds = Vec::new();
        bounds.extend(value(least).map(|value| format!("at least {value}")));
        bounds.extend(value(most).map(|value| format!("at most {value}")));
        if let Some(last) = bounds.last_mut() {
            last.push(' ');
            last.push_str(what);
        }
        notes.extend(sentence(&bounds));
    }
    if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
        notes.push("Items are unique.".to_owned());
    }
    notes
}

/// The conditions in a schema.
pub(super) fn conditions(schema: &Map<String, Value>) -> Option<String> {
    const KEYWORDS: [&str; 7] = [
        "not",
        "if",
        "dependentRequired",
        "dependentSchemas",
        "dependencies",
        "contains",
        "propertyNames",
    ];

    let found = KEYWORDS.iter().filter(|key| schema.contains_key(**key));
    let found: Vec<String> = found.map(|key| format!("`{key}`")).collect();
    let list = found.join(", ");
    (!found.is_empty())
        .then(|| format!("The type does not express these conditions of the schema: {list}."))
}

fn sentence(parts: &[String]) -> Option<String> {
    let text = parts.join(", ");
    let first = text.get(..1)?.to_ascii_uppercase();
    Some(format!("{first}{}.", &text[1..]))
}

/// The description of a schema, or its title.
pub(super) fn description(schema: &Map<String, Value>) -> Option<String> {
    let text = |key| {
        schema
            .get(key)
            .and_then(Value::as_str)
            .filter(|text| !text.trim().is_empty())
    };
    text("description").or_else(|| text("title")).map(truncate)
}

//! Names of alternatives.

use serde_json::Value;

use crate::client::schema::pointer::last;
use crate::client::schema::shape::Shape;

/// Proposes a name for an alternative.
pub(super) fn alternative_name(schema: &Value, index: usize) -> String {
    let text = |key: &str| {
        schema
            .get(key)
            .and_then(Value::as_str)
            .filter(|text| text.len() <= 40)
    };
    let reference = schema.get("$ref").and_then(Value::as_str);
    let of_constant = || {
        let members = schema.get("properties")?.as_object()?;
        members
            .values()
            .find_map(|member| member.get("const")?.as_str())
    };
    if let Some(name) = reference
        .map(last)
        .or_else(of_constant)
        .or_else(|| text("title"))
    {
        return name.to_owned();
    }
    if schema.get("enum").is_some() {
        return "known".to_owned();
    }
    // A required member may distinguish it from the others.
    let required = schema
        .get("required")
        .and_then(Value::as_array)
        .and_then(|names| names.first()?.as_str());
    if let Some(member) = required {
        return format!("with_{member}");
    }
    match text("type") {
        Some("string") => "text".to_owned(),
        Some("array") => "list".to_owned(),
        Some("boolean") => "bool".to_owned(),
        Some(name @ ("integer" | "number" | "null")) => name.to_owned(),
        _ => format!("form{}", index + 1),
    }
}

pub(super) fn name_of(shape: &Shape) -> String {
    let name = match shape {
        Shape::Bool => "Bool",
        Shape::Integer | Shape::Unsigned => "Integer",
        Shape::Number => "Number",
        Shape::Text => "Text",
        Shape::List(_) | Shape::Tuple(_) => "List",
        Shape::Map(_) => "Map",
        _ => "Other",
    };
    name.to_owned()
}

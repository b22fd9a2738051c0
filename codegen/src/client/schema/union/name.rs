//! Names of alternatives.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::client::name::{unique, variant_forms};
use crate::client::schema::pointer::last;
use crate::client::schema::shape::Shape;

/// Returns the names of alternatives, for their variants and types. Different names stay different, so that a new alternative
/// does not take the names of another one. Alternatives with the same name share it.
pub(super) fn alternative_names(alternatives: &[Value]) -> Vec<String> {
    let names = alternatives.iter().enumerate();
    let names: Vec<_> = names
        .map(|(index, alternative)| alternative_name(alternative, index))
        .collect();
    let distinct: BTreeSet<_> = names.iter().map(String::as_str).collect();
    let forms: Vec<_> = distinct.iter().map(|name| variant_forms(name)).collect();
    let chosen: BTreeMap<_, _> = distinct.into_iter().zip(unique(&forms, &[])).collect();
    let own = names.iter().map(|name| chosen[name.as_str()].clone());
    own.collect()
}

/// Proposes a name for an alternative.
fn alternative_name(schema: &Value, index: usize) -> String {
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

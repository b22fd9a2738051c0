//! Distillation of an official schema: removal of the prose, and a canonical format.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::protocol::load::visit_children;

/// Maximum number of characters of a value on one line.
const MAX_LINE_LENGTH: usize = 96;

/// Removes the prose of the official schema `text` and formats what remains.
pub fn distil(text: &str) -> Result<String> {
    let mut schema: Value = serde_json::from_str(text).context("the schema is not JSON")?;
    remove_prose(&mut schema);
    let mut out = String::new();
    write_value(&mut out, &schema, 0);
    out.push('\n');
    Ok(out)
}

/// Removes annotation texts. A *property* named `description` is not an annotation.
fn remove_prose(schema: &mut Value) {
    if let Some(schema) = schema.as_object_mut() {
        schema.retain(|keyword, _| !matches!(keyword.as_str(), "description" | "$comment"));
    }
    visit_children(schema, &mut remove_prose);
}

/// Writes keys in sorted order and small values on one line, so that diffs are short.
fn write_value(out: &mut String, value: &Value, indent: usize) {
    let compact = sorted(value).to_string();
    if compact.len() + indent <= MAX_LINE_LENGTH && indent > 1 {
        out.push_str(&compact);
        return;
    }
    let (open, close, lines): (_, _, Vec<_>) = match value {
        Value::Object(object) => {
            let mut entries: Vec<_> = object.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            let lines = entries
                .into_iter()
                .map(|(key, value)| (Some(key), value))
                .collect();
            ('{', '}', lines)
        }
        Value::Array(array) => ('[', ']', array.iter().map(|value| (None, value)).collect()),
        _ => return out.push_str(&compact),
    };
    out.push(open);
    for (nth, (key, value)) in lines.iter().enumerate() {
        let comma = if nth == 0 { "" } else { "," };
        let _ = write!(out, "{comma}\n{:indent$}", "", indent = indent + 1);
        if let Some(key) = key {
            let _ = write!(out, "{}: ", Value::String((*key).clone()));
        }
        write_value(out, value, indent + 1);
    }
    let _ = write!(out, "\n{:indent$}{close}", "");
}

/// Sorts all keys, independently of the map type that the features of `serde_json` select.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut entries: Vec<_> = object.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            entries
                .into_iter()
                .map(|(key, value)| (key.clone(), sorted(value)))
                .collect()
        }
        Value::Array(array) => array.iter().map(sorted).collect(),
        scalar => scalar.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn prose_is_removed_but_not_properties_with_its_names() {
        let official = json!({"$defs": {"A": {
            "description": "prose", "$comment": "more prose", "type": "object",
            "properties": {"description": {"type": "string", "description": "prose"}}
        }}});
        let distilled: Value =
            serde_json::from_str(&distil(&official.to_string()).unwrap()).unwrap();
        assert_eq!(
            distilled,
            json!({"$defs": {"A": {
                "type": "object", "properties": {"description": {"type": "string"}}
            }}})
        );
    }

    #[test]
    fn distilling_twice_changes_nothing() {
        let official = json!({"b": [1, 2], "a": {"type": "object", "properties": {"x": {}}}});
        let once = distil(&official.to_string()).unwrap();
        assert_eq!(distil(&once).unwrap(), once);
    }
}

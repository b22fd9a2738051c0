//! The shape of a tool's output, which decides about its place in the result.

use serde_json::{Map, Value};

/// Shape of an output, derived from its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Always null.
    Nothing,
    /// A plain string, or null: a text, not structured.
    Text,
    /// Always an object, which every revision can take as structured content.
    Object,
    /// Anything at all, or not declared.
    Any,
    /// Anything else.
    Value,
}

/// Keywords that do not constrain values.
const ANNOTATIONS: [&str; 9] = [
    "$comment",
    "$defs",
    "$schema",
    "default",
    "deprecated",
    "description",
    "examples",
    "readOnly",
    "title",
];

impl Shape {
    pub(crate) fn of(schema: &Value) -> Self {
        schema.as_object().map_or(Self::Value, Self::of_members)
    }

    /// Returns the shape of values whose schema is declared: a result has them as structured content, also texts and null.
    pub(crate) fn of_declared(schema: &Map<String, Value>) -> Self {
        match Self::of_members(schema) {
            Self::Nothing | Self::Text => Self::Value,
            shape => shape,
        }
    }

    pub(crate) fn of_members(schema: &Map<String, Value>) -> Self {
        fn kind(schema: &Map<String, Value>) -> Option<&str> {
            schema.get("type").and_then(Value::as_str)
        }
        let plain = |schema: &Map<String, Value>| {
            ["enum", "const", "format", "oneOf", "anyOf", "allOf"]
                .iter()
                .all(|keyword| !schema.contains_key(*keyword))
        };
        let alternatives = schema.get("anyOf").and_then(Value::as_array);
        if let Some([Value::Object(text), Value::Object(null)]) = alternatives.map(Vec::as_slice) {
            if kind(text) == Some("string") && plain(text) && kind(null) == Some("null") {
                return Self::Text;
            }
        }
        match kind(schema) {
            Some("null") => Self::Nothing,
            Some("string") if plain(schema) => Self::Text,
            Some("object") => Self::Object,
            None if schema.keys().all(|it| ANNOTATIONS.contains(&&**it)) => Self::Any,
            _ => Self::Value,
        }
    }
}

//! Records that accept no other objects than their schemas.

use serde_json::{Map, Value};

use super::merge_all_of::{is_annotation, reference};
use super::reader::Reader;
use super::shape::{Kind, Shape};

/// Keywords that types can express.
const KEYWORDS: [&str; 7] = [
    "type",
    "const",
    "enum",
    "properties",
    "required",
    "additionalProperties",
    "items",
];

/// Returns `true` if a type can express all keywords of a schema.
pub(super) fn is_expressible(schema: &Map<String, Value>) -> bool {
    schema
        .keys()
        .all(|key| is_annotation(key) || KEYWORDS.contains(&&**key))
}

impl Reader<'_> {
    /// Returns `true` if this shape of a schema is known to accept only values that match the schema.
    pub(super) fn is_exact(&self, schema: &Value, shape: &Shape) -> bool {
        if let Shape::Nullable(inner) = shape {
            return self.is_exact(schema, inner);
        }
        let Some(members) = schema.as_object() else {
            return *schema == true;
        };
        let is_type = match self.types.kind(shape) {
            Some(Kind::Choice(_)) => true,
            Some(Kind::Record(record)) => record.is_exact,
            _ => false,
        };
        if reference(members).is_some() {
            return is_type;
        }
        let is_checked = match shape {
            Shape::Named(_) => is_type,
            Shape::Any(None) | Shape::Unit | Shape::Bool | Shape::Integer | Shape::Number => true,
            // A long list of constants is any text.
            Shape::Text => !members.contains_key("enum"),
            Shape::List(item) => members
                .get("items")
                .is_none_or(|schema| self.is_exact(schema, item)),
            _ => false,
        };
        is_checked && is_expressible(members)
    }
}

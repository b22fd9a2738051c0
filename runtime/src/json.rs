//! JSON of the protocol's types, always by way of its text: `json!` and `to_value` would compile a second serializer for each type.

use serde::Serialize;
use serde_json::Value;

/// Returns the text of a value. It cannot fail for types of the protocol, whose keys are strings; `null` replaces all others.
pub(crate) fn json_text<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

/// Returns a value as a tree, to be a part of another one.
pub(crate) fn json_tree<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<Value> {
    serde_json::from_str(&serde_json::to_string(value)?)
}

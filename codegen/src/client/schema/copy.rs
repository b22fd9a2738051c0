//! Schemas derived from others. Each copy is charged, because the parts of a copy can be copied again.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::merge_all_of::{LOCATIONS, has_form};
use super::reader::Reader;

/// Number of types in JSON Schema, including `any` of earlier drafts.
const MAX_TYPES: usize = 8;

impl Reader<'_> {
    /// Copies a schema without one of its members, and without those that locate schemas for references.
    pub(super) fn without(
        &self,
        schema: &Map<String, Value>,
        key: &str,
    ) -> Result<Map<String, Value>, String> {
        let is_copied = |name: &str| name != key && !LOCATIONS.contains(&name);
        let others = schema.iter().filter(|(name, _)| is_copied(name));
        self.budget
            .charge_copies(others.clone().map(|(_, value)| value))?;
        Ok(others
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect())
    }

    /// Combines two schemas with `allOf`.
    pub(super) fn both<'v>(
        &self,
        base: &Map<String, Value>,
        schema: &'v Value,
    ) -> Result<Cow<'v, Value>, String> {
        // An alternative with types of its own is one of those of the base.
        let is_needed = |key: &str| match key {
            "type" => !has_type(schema),
            "required" => true,
            key => has_form(&json!({ key: true })),
        };
        if base.keys().any(|key| is_needed(key)) {
            self.budget.charge_copies(base.values().chain([schema]))?;
            Ok(Cow::Owned(json!({ "allOf": [schema, base] })))
        } else {
            Ok(Cow::Borrowed(schema))
        }
    }

    /// Copies a schema for each of several types.
    pub(super) fn one_by_one(
        &self,
        schema: &Map<String, Value>,
        names: &[Value],
    ) -> Result<Vec<Value>, String> {
        let mut seen: Vec<&Value> = Vec::new();
        for name in names {
            // There are few types, and each counts once.
            if seen.len() > MAX_TYPES {
                return Err("it has types that JSON Schema does not know".to_owned());
            }
            if !seen.contains(&name) {
                seen.push(name);
            }
        }
        let each = seen.into_iter().map(|name| {
            let mut one = self.without(schema, "type")?;
            one.shift_remove("title");
            one.insert("type".to_owned(), name.clone());
            Ok(Value::Object(one))
        });
        each.collect()
    }
}

/// Returns `true` if a schema determines the types of its values.
fn has_type(schema: &Value) -> bool {
    const KEYS: [&str; 7] = ["type", "$ref", "const", "enum", "allOf", "anyOf", "oneOf"];

    let mut keys = KEYS.iter();
    keys.any(|key| schema.get(key).is_some()) || !schema.is_object()
}

/// The title and the description of a schema.
pub(super) fn about(schema: &Map<String, Value>) -> Map<String, Value> {
    let texts = schema
        .iter()
        .filter(|(key, _)| ["description", "title"].contains(&key.as_str()));
    texts
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

//! Schemas that are made of others. Each copy is paid for, because the parts of a copy are copied again.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::reader::Reader;
use super::unite::{DEFINITIONS, has_form};

/// Types that JSON Schema has, with `any` of earlier drafts.
const MOST_TYPES: usize = 8;

impl Reader<'_> {
    /// A copy without one of its members, and without definitions, which references find in the document.
    pub(super) fn without(
        &self,
        schema: &Map<String, Value>,
        key: &str,
    ) -> Result<Map<String, Value>, String> {
        let is_copied = |name: &str| name != key && !DEFINITIONS.contains(&name);
        let others = schema.iter().filter(|(name, _)| is_copied(name));
        self.budget.copies(others.clone().map(|(_, value)| value))?;
        Ok(others
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect())
    }

    /// Both at once.
    pub(super) fn both<'v>(
        &self,
        base: &Map<String, Value>,
        schema: &'v Value,
    ) -> Result<Cow<'v, Value>, String> {
        let is_form =
            |key: &&String| key.as_str() != "type" && has_form(&json!({ key.as_str(): true }));
        if base.keys().any(|key| is_form(&key) || key == "required") {
            self.budget.copies(base.values().chain([schema]))?;
            Ok(Cow::Owned(json!({ "allOf": [schema, base] })))
        } else {
            Ok(Cow::Borrowed(schema))
        }
    }

    /// The same schema for each of several types.
    pub(super) fn one_by_one(
        &self,
        schema: &Map<String, Value>,
        names: &[Value],
    ) -> Result<Vec<Value>, String> {
        let mut seen: Vec<&Value> = Vec::new();
        for name in names {
            // There are not many types, and each of them counts once.
            if seen.len() > MOST_TYPES {
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

/// What a schema says to people.
pub(super) fn about(schema: &Map<String, Value>) -> Map<String, Value> {
    let texts = schema
        .iter()
        .filter(|(key, _)| ["description", "title"].contains(&key.as_str()));
    texts
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

//! Ordered map of the fields of a form.

use std::collections::BTreeMap;
use std::vec;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::PrimitiveSchemaDefinition;

/// Fields of a form by name, in the order in which the user fills them in.
///
/// ```
/// use treenail_schema::{BooleanSchema, ElicitFields, ElicitSchema, StringSchema};
///
/// let mut fields = ElicitFields::default();
/// fields.insert("street", StringSchema::new());
/// fields.insert("gift", BooleanSchema::new());
/// assert!(fields.get("street").is_some());
/// let form = ElicitSchema::new(fields);
/// assert_eq!(
///     serde_json::to_string(&form)?,
///     r#"{"type":"object","properties":{"street":{"type":"string"},"gift":{"type":"boolean"}}}"#
/// );
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ElicitFields(IndexMap<String, PrimitiveSchemaDefinition>);

impl ElicitFields {
    /// Appends a field, or replaces and returns the one with this name.
    pub fn insert(
        &mut self,
        name: impl Into<String>,
        field: impl Into<PrimitiveSchemaDefinition>,
    ) -> Option<PrimitiveSchemaDefinition> {
        self.0.insert(name.into(), field.into())
    }

    /// Returns the field with this name.
    pub fn get(&self, name: &str) -> Option<&PrimitiveSchemaDefinition> {
        self.0.get(name)
    }

    /// Iterates over the fields and their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &PrimitiveSchemaDefinition)> {
        self.0.iter().map(|(name, field)| (name.as_str(), field))
    }

    /// Iterates over the names and mutable references to the fields.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut PrimitiveSchemaDefinition)> {
        self.0
            .iter_mut()
            .map(|(name, field)| (name.as_str(), field))
    }

    /// Returns the number of fields.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns `true` if there are no fields.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl IntoIterator for ElicitFields {
    type Item = (String, PrimitiveSchemaDefinition);
    type IntoIter = vec::IntoIter<Self::Item>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter().collect::<Vec<_>>().into_iter()
    }
}

impl FromIterator<(String, PrimitiveSchemaDefinition)> for ElicitFields {
    fn from_iter<I: IntoIterator<Item = (String, PrimitiveSchemaDefinition)>>(fields: I) -> Self {
        Self(fields.into_iter().collect())
    }
}

impl<const N: usize> From<[(String, PrimitiveSchemaDefinition); N]> for ElicitFields {
    fn from(fields: [(String, PrimitiveSchemaDefinition); N]) -> Self {
        fields.into_iter().collect()
    }
}

impl From<BTreeMap<String, PrimitiveSchemaDefinition>> for ElicitFields {
    #[inline]
    fn from(fields: BTreeMap<String, PrimitiveSchemaDefinition>) -> Self {
        fields.into_iter().collect()
    }
}

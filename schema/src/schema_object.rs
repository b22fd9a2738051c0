//! JSON Schemas of tools.

use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::JsonObject;

/// A shared JSON Schema, cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub struct SchemaObject(Arc<JsonObject>);

impl Deref for SchemaObject {
    type Target = JsonObject;

    fn deref(&self) -> &JsonObject {
        &self.0
    }
}

impl From<JsonObject> for SchemaObject {
    fn from(schema: JsonObject) -> Self {
        Self(Arc::new(schema))
    }
}

impl From<Arc<JsonObject>> for SchemaObject {
    fn from(schema: Arc<JsonObject>) -> Self {
        Self(schema)
    }
}

impl Serialize for SchemaObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SchemaObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        JsonObject::deserialize(deserializer).map(Self::from)
    }
}

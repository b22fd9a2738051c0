//! `_meta`: metadata that extensions, tracing and vendors attach to a message.

use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A JSON object.
pub type JsonObject = Map<String, Value>;

/// `_meta` of content and of listed items, for which the protocol defines no keys.
///
/// Requests, results and notifications have their own types for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MetaObject(JsonObject);

impl MetaObject {
    /// Creates an empty object.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the plain JSON object.
    pub fn into_inner(self) -> JsonObject {
        self.0
    }
}

impl Deref for MetaObject {
    type Target = JsonObject;

    fn deref(&self) -> &JsonObject {
        &self.0
    }
}

impl DerefMut for MetaObject {
    fn deref_mut(&mut self) -> &mut JsonObject {
        &mut self.0
    }
}

impl From<JsonObject> for MetaObject {
    fn from(object: JsonObject) -> Self {
        Self(object)
    }
}

/// Fails for a value that is not an object.
impl TryFrom<Value> for MetaObject {
    type Error = serde_json::Error;

    #[inline]
    fn try_from(value: Value) -> Result<Self, Self::Error> {
        serde_json::from_value(value)
    }
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for MetaObject {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        Self(
            entries
                .into_iter()
                .map(|(key, value)| (key.into(), value.into()))
                .collect(),
        )
    }
}

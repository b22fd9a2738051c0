//! `_meta`: what extensions, tracing and vendors attach to a message.

use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A JSON object.
pub type JsonObject = Map<String, Value>;

/// The `_meta` of content and of listed items, in which the protocol defines nothing.
///
/// Requests, results and notifications have types of their own for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MetaObject(JsonObject);

impl MetaObject {
    /// Makes an empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// The plain JSON object.
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

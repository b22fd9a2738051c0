//! `_meta`: metadata that extensions, tracing and vendors attach to a message.

use std::iter;
use std::ops::{Deref, DerefMut};

use serde::de::value::MapDeserializer;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{NotificationMetaObject, RequestMetaObject, ResultMetaObject};

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

/// Conversions from metadata with keys of any kind. A key of the protocol in `extra` would be written beside its field.
macro_rules! from_meta_object {
    ($($name:ident),*) => {$(
        /// A member that the protocol defines sets its field. It is dropped if its value has another type. The others become members of
        /// [`extra`](Self::extra).
        impl From<MetaObject> for $name {
            #[inline]
            fn from(meta: MetaObject) -> Self {
                let mut members = meta.into_inner();
                members.retain(|name, value| {
                    let member = iter::once((&**name, &*value));
                    Self::deserialize(MapDeserializer::new(member)).is_ok()
                });
                // Members of which each can be read alone can be read together.
                serde_json::from_value(Value::Object(members)).unwrap_or_else(|_| Self::new())
            }
        }

        /// A member that the protocol defines sets its field. It is dropped if its value has another type. The others become members of
        /// [`extra`](Self::extra).
        impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for $name {
            fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
                MetaObject::from_iter(entries).into()
            }
        }
    )*};
}

from_meta_object!(NotificationMetaObject, RequestMetaObject, ResultMetaObject);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn metadata_with_keys_of_vendors_is_that_of_any_message() {
        let members = [("com.example/a", 1)];
        let expected = json!({"com.example/a": 1});
        let result = ResultMetaObject::from(MetaObject::from_iter(members));
        assert_eq!(serde_json::to_value(&result).unwrap(), expected);
        let request = RequestMetaObject::from_iter(members).with_progress_token("t");
        assert_eq!(
            serde_json::to_value(&request).unwrap(),
            json!({"progressToken": "t", "com.example/a": 1})
        );
        let notification = NotificationMetaObject::from_iter(members);
        assert_eq!(serde_json::to_value(&notification).unwrap(), expected);
    }

    #[test]
    fn metadata_with_keys_of_the_protocol_sets_their_fields() {
        let level = "io.modelcontextprotocol/logLevel";
        let members = json!({"progressToken": 1, level: 7, "com.example/a": null});
        let meta = MetaObject::try_from(members).unwrap();
        let request = RequestMetaObject::from(meta);
        assert_eq!(request.log_level, None);
        // One member, with the new value.
        let text = serde_json::to_string(&request.with_progress_token("t")).unwrap();
        assert_eq!(text, r#"{"progressToken":"t","com.example/a":null}"#);
    }
}

//! JSON objects that are parsed when they are first read.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{LazyLock, OnceLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::JsonObject;

/// A JSON object that a client may have received and not parsed yet. It dereferences to a [`JsonObject`].
///
/// It contains the members of a message that few programs read, such as those of the `_meta` of a result.
///
/// ```
/// use treenail_schema::{LazyObject, JsonObject};
/// use serde_json::json;
///
/// let mut members = LazyObject::default();
/// members.insert("com.example/source".to_owned(), json!("cache"));
/// assert_eq!(members.get("com.example/source"), Some(&json!("cache")));
/// let object: JsonObject = members.into();
/// # assert_eq!(object.len(), 1);
/// ```
#[derive(Clone, Default)]
pub struct LazyObject {
    /// Text of the object until it is parsed; empty if the object is.
    text: Box<str>,
    parsed: OnceLock<Box<JsonObject>>,
}

impl LazyObject {
    /// Creates an object from its text, or returns `None` if the text might not be parsed without an error.
    ///
    /// The text has been scanned. Numbers and escapes can be out of range nevertheless, so a text with a digit or a backslash is
    /// not accepted. Neither is one with a dollar sign: keys that `serde_json` reserves for itself start with it.
    #[cfg(feature = "client")]
    pub(crate) fn from_scanned(text: &str) -> Option<Self> {
        // Without an early end, many bytes are compared at once.
        let mut has_special = false;
        for byte in text.bytes() {
            has_special |= matches!(byte, b'\\' | b'$' | b'0'..=b'9');
        }
        (!has_special).then(|| Self {
            text: text.into(),
            parsed: OnceLock::new(),
        })
    }

    /// Returns the text of the object if it has not been parsed yet.
    pub fn unparsed(&self) -> Option<&str> {
        let is_unparsed = !self.text.is_empty() && self.parsed.get().is_none();
        is_unparsed.then_some(&*self.text)
    }

    fn parse(&self) -> JsonObject {
        // Only texts that can be parsed are stored.
        serde_json::from_str(&self.text).unwrap_or_default()
    }
}

impl Deref for LazyObject {
    type Target = JsonObject;

    fn deref(&self) -> &JsonObject {
        static EMPTY: LazyLock<JsonObject> = LazyLock::new(JsonObject::new);

        match self.parsed.get() {
            Some(parsed) => parsed,
            None if self.text.is_empty() => &EMPTY,
            None => self.parsed.get_or_init(|| self.parse().into()),
        }
    }
}

impl DerefMut for LazyObject {
    fn deref_mut(&mut self) -> &mut JsonObject {
        let parsed = self.parsed.take().unwrap_or_else(|| self.parse().into());
        self.text = Box::default();
        self.parsed = parsed.into();
        self.parsed.get_mut().expect("it has just been set")
    }
}

impl fmt::Debug for LazyObject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(formatter)
    }
}

impl PartialEq for LazyObject {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl From<JsonObject> for LazyObject {
    fn from(object: JsonObject) -> Self {
        let mut lazy = Self::default();
        if !object.is_empty() {
            lazy.parsed = Box::new(object).into();
        }
        lazy
    }
}

impl From<LazyObject> for JsonObject {
    fn from(mut object: LazyObject) -> Self {
        std::mem::take(&mut *object)
    }
}

impl FromIterator<(String, Value)> for LazyObject {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(members: I) -> Self {
        JsonObject::from_iter(members).into()
    }
}

impl IntoIterator for LazyObject {
    type Item = (String, Value);
    type IntoIter = serde_json::map::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        JsonObject::from(self).into_iter()
    }
}

impl<'a> IntoIterator for &'a LazyObject {
    type Item = (&'a String, &'a Value);
    type IntoIter = serde_json::map::Iter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Serialize for LazyObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for LazyObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        JsonObject::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> JsonObject {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn an_empty_object_has_no_members() {
        let mut lazy = LazyObject::from(JsonObject::new());
        assert!(lazy.is_empty());
        assert_eq!(lazy.unparsed(), None);
        assert_eq!(lazy, LazyObject::default());
        lazy.insert("a".to_owned(), json!(1));
        assert_eq!(JsonObject::from(lazy), object(json!({"a": 1})));
    }

    #[cfg(feature = "client")]
    #[test]
    fn text_is_parsed_when_it_is_read() {
        let text = r#"{"a":{"b":[true,null]},"c":"d","a":false}"#;
        let lazy = LazyObject::from_scanned(text).unwrap();
        assert_eq!(lazy.unparsed(), Some(text));
        let expected = json!({"a": false, "c": "d"});
        assert_eq!(serde_json::to_value(&lazy).unwrap(), expected);
        assert_eq!(lazy.unparsed(), None);
        assert_eq!(
            format!("{lazy:?}"),
            format!("{:?}", object(expected.clone()))
        );
        assert_eq!(lazy.clone().into_iter().count(), 2);
        assert_eq!(LazyObject::from(object(expected)), lazy);
    }

    #[cfg(feature = "client")]
    #[test]
    fn a_change_parses_the_text_first() {
        let mut lazy = LazyObject::from_scanned(r#"{"a":true}"#).unwrap();
        lazy.insert("b".to_owned(), json!("c"));
        assert_eq!(*lazy, object(json!({"a": true, "b": "c"})));
        lazy.clear();
        assert_eq!(lazy, LazyObject::default());
    }

    #[cfg(feature = "client")]
    #[test]
    fn text_that_may_be_out_of_range_is_not_accepted() {
        for text in [r#"{"a":1e999}"#, r#"{"a":"\ud800"}"#, r#"{"a1":true}"#] {
            assert!(LazyObject::from_scanned(text).is_none(), "{text}");
        }
    }
}

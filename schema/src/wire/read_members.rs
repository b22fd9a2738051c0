//! Values that are read from the members of an object, without those that belong to the protocol.

use std::borrow::Cow;

use serde::de::value::{CowStrDeserializer, MapAccessDeserializer};
use serde::de::{DeserializeOwned, DeserializeSeed, Error as _, IntoDeserializer, MapAccess};
use serde_json::{Deserializer, Error, Result};

use crate::wire::{DEEPEST, Scanner};

/// Reads a value from the members of an object apart from `omitted`, without a copy of its text. The JSON has been checked; a value
/// that is equal to the object `known` is not checked again.
///
/// # Errors
///
/// The members do not fit the type. Types that are not made from members, such as `Option`, do not fit any.
pub fn read_members<T: DeserializeOwned>(text: &str, omitted: &str, known: &str) -> Result<T> {
    let mut scanner = Scanner::new(text, DEEPEST).with_known(known);
    scanner.open_object().map_err(Error::custom)?;
    T::deserialize(MapAccessDeserializer::new(Access {
        scanner,
        first: true,
        omitted,
        value: "",
    }))
}

struct Access<'a> {
    scanner: Scanner<'a>,
    first: bool,
    omitted: &'a str,
    /// The value of the last key.
    value: &'a str,
}

impl<'a> Access<'a> {
    fn next(&mut self) -> Result<Option<Cow<'a, str>>> {
        let scanner = &mut self.scanner;
        while let Some(key) = scanner.next_member(self.first).map_err(Error::custom)? {
            self.first = false;
            self.value = scanner.known_value().map_err(Error::custom)?;
            if key != self.omitted {
                return Ok(Some(key));
            }
        }
        scanner.end().map_err(Error::custom)?;
        Ok(None)
    }
}

impl<'de> MapAccess<'de> for Access<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        let Some(key) = self.next()? else {
            return Ok(None);
        };
        let key: CowStrDeserializer<'_, Error> = key.into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        seed.deserialize(&mut Deserializer::from_str(self.value))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde_json::Value;
    use serde_json::value::RawValue;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Params {
        name: String,
        raw: Option<Box<RawValue>>,
    }

    const META: &str = r#"{"a/b":[1]}"#;

    fn params(text: &str) -> Option<(String, Option<String>)> {
        let params: Params = read_members(text, "_meta", META).ok()?;
        let raw = params.raw.map(|raw| raw.get().to_owned());
        Some((params.name, raw))
    }

    #[test]
    fn the_omitted_member_is_not_read() {
        for meta in ["", r#","_meta":{"a/b":[1]}"#, r#","_meta":{"c":2}"#] {
            let text = format!(r#"{{"n\u0061me":"é\n"{meta},"raw": [1, 2] }}"#);
            let expected = ("é\n".to_owned(), Some("[1, 2]".to_owned()));
            assert_eq!(params(&text), Some(expected), "{text}");
        }
        let read: Value = read_members(r#"{"_meta":1,"a":{"_meta":2}}"#, "_meta", "").unwrap();
        assert_eq!(read.to_string(), r#"{"a":{"_meta":2}}"#);
        let read: BTreeMap<String, u8> = read_members("{}", "_meta", META).unwrap();
        assert!(read.is_empty());
    }

    #[test]
    fn members_that_do_not_fit_are_errors() {
        for text in [
            "{}",
            "[]",
            r#"{"name":1}"#,
            r#"{"name":"a","name":"b"}"#,
            r#"{"name":"a","other":1}"#,
            r#"{"_meta":{},"name":"a""#,
        ] {
            assert_eq!(params(text), None, "{text}");
        }
        assert!(read_members::<Option<Value>>("{}", "", "").is_err());
    }
}

//! Keys that `serde_json` reserves for its own types.

use std::fmt;

use memchr::memchr2;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// Start of the reserved keys.
const PREFIX: &str = "$serde_json::private::";

/// Returns `true` if `serde_json` reserves a decoded key for itself.
pub fn is_private_key(key: &str) -> bool {
    key.starts_with(PREFIX)
}

/// Returns `true` if a JSON text has a member, at any depth, whose key `serde_json` reserves for itself.
///
/// A `Value` that is parsed from such a text may differ from it: `{"$serde_json::private::RawValue":"5"}` is read as 5. Therefore,
/// a text that is validated as a `Value` and then read in another way must not have such a key. A text that cannot be parsed as
/// a `Value` has none.
#[inline]
pub fn has_private_key(text: &str) -> bool {
    // Few texts have a string that starts with a dollar sign, which may be escaped.
    memchr2(b'$', b'\\', text.as_bytes()).is_some()
        && (text.contains("\"$") || text.contains(r#""\u0024"#))
        && search(text)
}

#[cold]
fn search(text: &str) -> bool {
    let mut json = serde_json::Deserializer::from_str(text);
    let mut found = false;
    Search(&mut found).deserialize(&mut json).is_ok() && found
}

/// Visitor of any value, which sets the flag if it finds a reserved key.
struct Search<'a>(&'a mut bool);

impl<'de> DeserializeSeed<'de> for Search<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

macro_rules! scalars {
    ($($visit:ident: $type:ty,)*) => {$(
        fn $visit<E>(self, _: $type) -> Result<(), E> {
            Ok(())
        }
    )*};
}

impl<'de> Visitor<'de> for Search<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    scalars! {
        visit_bool: bool,
        visit_i64: i64,
        visit_u64: u64,
        visit_f64: f64,
        visit_str: &str,
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Search(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while members.next_key_seed(Key(self.0))?.is_some() {
            members.next_value_seed(Search(self.0))?;
        }
        Ok(())
    }
}

/// Visitor of a key.
struct Key<'a>(&'a mut bool);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<(), E> {
        *self.0 |= is_private_key(key);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_keys_are_found_at_any_depth_and_however_they_are_escaped() {
        let table = [
            (r#"{"$serde_json::private::RawValue":"5"}"#, true),
            (r#"{"$serde_json::private::Number":"5"}"#, true),
            (r#"{"\u0024serde_json::private::RawValue":"5"}"#, true),
            (r#"{ "$\u0073erde_json::private::RawValue" : "5" }"#, true),
            (
                r#"[{"a":[1.5,{"b":{"$serde_json::private::x":null}}]}]"#,
                true,
            ),
            (r#"{"a":"$serde_json::private::RawValue"}"#, false),
            (r#"{"a":"\"$serde_json::private::RawValue\":"}"#, false),
            (r#"{"$serde_json":{"$ref":"x"}}"#, false),
            (r#"{" $serde_json::private::RawValue":1}"#, false),
            (r#"{"$serde_json::private::RawValue":1e999}"#, false),
            ("{}", false),
        ];
        for (text, expected) in table {
            assert_eq!(has_private_key(text), expected, "{text}");
        }
    }

    #[test]
    fn values_differ_from_their_text_only_with_a_reserved_key() {
        let text = r#"{"$serde_json::private::RawValue":"5"}"#;
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(value, serde_json::json!(5));
        assert!(has_private_key(text));
    }
}

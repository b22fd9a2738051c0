//! Strict JSON objects: no repeated members, and bounded depth.
//!
//! Parsers that read a repeated member differently let one text have two meanings (RFC 8725, section 2.4).

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::JoseError;

/// Maximum depth of objects and arrays.
const MAX_DEPTH: usize = 16;

/// Reads an object without repeated members, of at most 16 levels.
pub(super) fn parse_object(bytes: &[u8]) -> Result<Map<String, Value>, JoseError> {
    let error = JoseError("a part is not a JSON object without repeated members, of 16 levels");
    // Two passes: numbers of `serde_json` reach a visitor as maps under its feature `arbitrary_precision`, which any other
    // crate of the program can enable. Here they are only counted.
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    Strict { depth: MAX_DEPTH }
        .deserialize(&mut deserializer)
        .map_err(|_| error)?;
    serde_json::from_slice(bytes).map_err(|_| error)
}

/// Reads any value and drops it.
struct Strict {
    /// Levels that may follow.
    depth: usize,
}

impl Strict {
    fn inner<E: Error>(&self) -> Result<Self, E> {
        let depth = self.depth.checked_sub(1);
        depth
            .map(|depth| Self { depth })
            .ok_or_else(|| E::custom("too deep"))
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(self.inner()?)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = members.next_key::<String>()? {
            if !names.insert(name) {
                return Err(A::Error::custom("repeated member"));
            }
            members.next_value_seed(self.inner()?)?;
        }
        Ok(())
    }
}

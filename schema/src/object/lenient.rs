//! Members of a peer that are read leniently.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::read;
use crate::JsonObject;
use crate::number::integral;

/// Value that is read leniently.
pub trait ReadLeniently: Sized {
    /// Reads a value.
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
}

/// Reads a member that must not occur twice.
pub fn read_lenient<'de, T: ReadLeniently, A: MapAccess<'de>>(
    map: &mut A,
    value: &mut Option<T>,
    member: &'static str,
) -> Result<(), A::Error> {
    let mut lenient = value.take().map(Lenient);
    read(map, &mut lenient, member)?;
    *value = lenient.map(|Lenient(value)| value);
    Ok(())
}

struct Lenient<T>(T);

impl<'de, T: ReadLeniently> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::read(deserializer).map(Self)
    }
}

impl<T: ReadLeniently> ReadLeniently for Option<T> {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Option::<Lenient<T>>::deserialize(deserializer)?;
        Ok(value.map(|Lenient(value)| value))
    }
}

/// An integer. `1.0` is one in JSON Schema.
impl ReadLeniently for i64 {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_i64(IntegerVisitor)
    }
}

struct IntegerVisitor;

impl Visitor<'_> for IntegerVisitor {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an integer")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<i64, E> {
        Ok(number)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<i64, E> {
        let large = |_| E::invalid_value(Unexpected::Unsigned(number), &self);
        number.try_into().map_err(large)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<i64, E> {
        integral(number).ok_or_else(|| E::invalid_value(Unexpected::Float(number), &self))
    }
}

/// A count. A negative number is read as 0, and a larger one than the type can hold as the largest. `1.0` is an integer.
impl ReadLeniently for u64 {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_u64(CountVisitor)
    }
}

struct CountVisitor;

impl Visitor<'_> for CountVisitor {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an integer")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<u64, E> {
        Ok(number)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<u64, E> {
        Ok(u64::try_from(number).unwrap_or(0))
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the conversion saturates"
    )]
    fn visit_f64<E: Error>(self, number: f64) -> Result<u64, E> {
        if number.fract() == 0.0 {
            Ok(number as u64)
        } else {
            Err(E::invalid_value(Unexpected::Float(number), &self))
        }
    }
}

/// Settings by name. Those that are not an object are read as an empty one, so that the name is declared. Another value than an object
/// of settings has no names.
impl ReadLeniently for BTreeMap<String, JsonObject> {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Value::Object(settings) = Value::deserialize(deserializer)? else {
            return Ok(Self::new());
        };
        let settings = settings.into_iter().map(|(name, value)| match value {
            Value::Object(settings) => (name, settings),
            _ => (name, JsonObject::new()),
        });
        Ok(settings.collect())
    }
}

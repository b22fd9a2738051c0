//! Counts of a peer that are read leniently.

use std::fmt;

use serde::de::{Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

use super::read;

/// Reads a count that may be absent, and must not occur twice. A negative number is read as 0, and a larger one than the type can
/// hold as the largest. `1.0` is an integer in JSON Schema.
pub fn read_count<'de, A: MapAccess<'de>>(
    map: &mut A,
    value: &mut Option<Option<u64>>,
    member: &'static str,
) -> Result<(), A::Error> {
    let mut count = value.map(|known| known.map(Count));
    read(map, &mut count, member)?;
    *value = count.map(|count| count.map(|Count(count)| count));
    Ok(())
}

/// A non-negative integer.
struct Count(u64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_u64(CountVisitor)
    }
}

struct CountVisitor;

impl Visitor<'_> for CountVisitor {
    type Value = Count;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an integer")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Count, E> {
        Ok(Count(number))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Count, E> {
        Ok(Count(u64::try_from(number).unwrap_or(0)))
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the conversion saturates"
    )]
    fn visit_f64<E: Error>(self, number: f64) -> Result<Count, E> {
        if number.fract() == 0.0 {
            Ok(Count(number as u64))
        } else {
            Err(E::invalid_value(Unexpected::Float(number), &self))
        }
    }
}

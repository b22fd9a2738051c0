//! A JSON number that is written as it was read.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A JSON number.
///
/// The protocol's numbers may have fractions, but 50 has to stay 50 and not become 50.0.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Number(serde_json::Number);

impl Number {
    /// The nearest `f64`.
    pub fn as_f64(&self) -> f64 {
        // Only numbers of arbitrary precision have no nearest one.
        self.0.as_f64().unwrap_or(f64::MAX)
    }

    /// The number as an integer, if it is one and not too large.
    pub fn as_i64(&self) -> Option<i64> {
        self.0.as_i64()
    }

    /// The number as an integer, if it is one, not negative and not too large.
    pub fn as_u64(&self) -> Option<u64> {
        self.0.as_u64()
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// JSON has no infinities and no NaN: they become the largest number, the smallest and 0.
impl From<f64> for Number {
    fn from(number: f64) -> Self {
        let finite = if number.is_nan() {
            0.0
        } else {
            number.clamp(f64::MIN, f64::MAX)
        };
        Self(serde_json::Number::from_f64(finite).unwrap_or_else(|| 0.into()))
    }
}

impl From<serde_json::Number> for Number {
    fn from(number: serde_json::Number) -> Self {
        Self(number)
    }
}

macro_rules! from_integer {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Number {
            fn from(number: $integer) -> Self {
                Self(number.into())
            }
        }
    )*};
}

from_integer!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_stays_whole() {
        let number: Number = serde_json::from_str("50").unwrap();
        assert_eq!(number, Number::from(50));
        assert_eq!(serde_json::to_string(&number).unwrap(), "50");
    }

    #[test]
    fn what_json_cannot_say_becomes_something_it_can() {
        assert_eq!(Number::from(f64::NAN).as_f64().to_bits(), 0.0_f64.to_bits());
        assert_eq!(
            Number::from(f64::INFINITY).as_f64().to_bits(),
            f64::MAX.to_bits()
        );
    }
}

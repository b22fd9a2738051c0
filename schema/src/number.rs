//! JSON numbers that are written as they were read.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A JSON number.
///
/// The protocol allows fractions, but 50 must not be written as 50.0.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Number(serde_json::Number);

impl Number {
    /// Returns the nearest `f64`.
    pub fn as_f64(&self) -> f64 {
        // `None` is only possible for numbers of arbitrary precision.
        self.0.as_f64().unwrap_or(f64::MAX)
    }

    /// Returns the number as an `i64`, if it is an integer in that range.
    pub fn as_i64(&self) -> Option<i64> {
        self.0.as_i64()
    }

    /// Returns the number as a `u64`, if it is an integer in that range.
    pub fn as_u64(&self) -> Option<u64> {
        self.0.as_u64()
    }
}

/// Returns the integer that a number is, such as 7 for `7.0`.
#[cold]
pub(crate) fn integral(number: f64) -> Option<i64> {
    // Without a fraction, the text of a float is that of an integer.
    format!("{number}").parse().ok()
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// JSON has no infinities and no NaN. They become the largest number, the smallest number and 0.
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
    fn non_finite_numbers_become_finite() {
        assert_eq!(Number::from(f64::NAN).as_f64().to_bits(), 0.0_f64.to_bits());
        assert_eq!(
            Number::from(f64::INFINITY).as_f64().to_bits(),
            f64::MAX.to_bits()
        );
    }
}

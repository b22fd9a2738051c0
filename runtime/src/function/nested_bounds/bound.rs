//! One bound of a schema, and the quantity that it applies to.

use std::cmp::Ordering;

use serde_json::Value;
use treenail_schema::internal::json_schema::Schema;

/// The quantity of a value that a bound applies to. Values without it satisfy the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    Number,
    Characters,
    Items,
}

/// Returns true if a quantity that compares like this with the limit is accepted.
type Accepts = fn(Ordering) -> bool;

/// Keywords of bounds.
const KEYWORDS: [(&str, Quantity, Accepts); 8] = [
    ("minimum", Quantity::Number, Ordering::is_ge),
    ("maximum", Quantity::Number, Ordering::is_le),
    ("exclusiveMinimum", Quantity::Number, Ordering::is_gt),
    ("exclusiveMaximum", Quantity::Number, Ordering::is_lt),
    ("minLength", Quantity::Characters, Ordering::is_ge),
    ("maxLength", Quantity::Characters, Ordering::is_le),
    ("minItems", Quantity::Items, Ordering::is_ge),
    ("maxItems", Quantity::Items, Ordering::is_le),
];

/// Formats of the integers of Rust, with their ranges. The deserializer enforces these.
const INTEGERS: [(&str, i128, i128); 10] = [
    ("int8", i8::MIN as i128, i8::MAX as i128),
    ("int16", i16::MIN as i128, i16::MAX as i128),
    ("int32", i32::MIN as i128, i32::MAX as i128),
    ("int64", i64::MIN as i128, i64::MAX as i128),
    ("uint8", 0, u8::MAX as i128),
    ("uint16", 0, u16::MAX as i128),
    ("uint32", 0, u32::MAX as i128),
    ("uint64", 0, u64::MAX as i128),
    ("uint", 0, u64::MAX as i128),
    ("uint128", 0, i128::MAX),
];

/// A bound of a quantity.
pub(super) struct Bound {
    pub(super) quantity: Quantity,
    accepts: Accepts,
    limit: Amount,
}

impl Bound {
    /// Returns the bounds of a schema, without those that the integer type of Rust has anyway.
    pub(super) fn all(schema: &Schema) -> Vec<Self> {
        let mut bounds = Vec::new();
        for &(keyword, quantity, accepts) in &KEYWORDS {
            let Some(Value::Number(limit)) = schema.get(keyword) else {
                continue;
            };
            match Amount::parse(&limit.to_string()) {
                Some(limit) if !is_implied(schema, keyword, &limit) => bounds.push(Self {
                    quantity,
                    accepts,
                    limit,
                }),
                _ => {}
            }
        }
        bounds
    }

    pub(super) fn holds(&self, amount: &Amount) -> bool {
        amount.compare(&self.limit).is_none_or(self.accepts)
    }
}

fn is_implied(schema: &Schema, keyword: &str, limit: &Amount) -> bool {
    if keyword == "minItems" || keyword == "maxItems" {
        // A tuple has exactly as many items as its schema lists.
        let prefix = schema.get("prefixItems").and_then(Value::as_array);
        return prefix.is_some_and(|prefix| Amount::count(prefix.len()) == *limit);
    }
    let format = schema.get("format").and_then(Value::as_str);
    let range = format.and_then(|format| INTEGERS.iter().find(|(known, ..)| *known == format));
    let (Some((_, low, high)), Amount::Integer(limit)) = (range, limit) else {
        return false;
    };
    keyword == "minimum" && limit <= low || keyword == "maximum" && limit >= high
}

/// A number of a value or a schema. Integers are compared exactly.
#[derive(PartialEq)]
pub(super) enum Amount {
    Integer(i128),
    Float(f64),
}

impl Amount {
    /// Parses a number in JSON.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let integer = text.parse().ok().map(Self::Integer);
        integer.or_else(|| text.parse().ok().map(Self::Float))
    }

    pub(super) fn count(count: usize) -> Self {
        Self::Integer(i128::try_from(count).unwrap_or(i128::MAX))
    }

    fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Integer(one), Self::Integer(other)) => Some(one.cmp(other)),
            _ => self.to_float().partial_cmp(&other.to_float()),
        }
    }

    #[allow(
        clippy::cast_precision_loss,
        reason = "the other number is a rounded one"
    )]
    fn to_float(&self) -> f64 {
        match self {
            Self::Integer(integer) => *integer as f64,
            Self::Float(float) => *float,
        }
    }
}

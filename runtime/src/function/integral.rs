//! Integers that are written with a fraction or an exponent, such as `1.0`.

use serde::de::IgnoredAny;
use serde_json::Value;

/// Magnitude up to which every integer is a distinct `f64` (2^53).
const MAX_EXACT_INTEGER: u64 = 1 << 53;

/// Returns a JSON text in which integral numbers have neither a fraction nor an exponent, or `None` if it has no number to
/// rewrite. For a JSON Schema, `1.0` is an integer; for serde, it is not.
pub(crate) fn without_fractions(text: &str) -> Option<String> {
    let mut rewritten = String::new();
    let (mut copied, mut at) = (0, 0);
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(at) {
        let end = match byte {
            b'"' => at + string_length(&bytes[at..]),
            b'-' | b'0'..=b'9' => at + number_length(&bytes[at..]),
            _ => at + 1,
        };
        if let Some(integer) = text.get(at..end).and_then(integer) {
            rewritten.push_str(&text[copied..at]);
            rewritten.push_str(&integer.to_string());
            copied = end;
        }
        at = end;
    }
    rewritten.push_str(&text[copied..]);
    (copied > 0).then_some(rewritten)
}

/// Returns true if [`value_without_fractions`] may change the value.
pub(crate) fn has_integral_fraction(value: &Value) -> bool {
    match value {
        Value::Number(number) => number
            .as_f64()
            .is_some_and(|float| number.is_f64() && float.fract() == 0.0),
        Value::Array(items) => items.iter().any(has_integral_fraction),
        Value::Object(members) => members.values().any(has_integral_fraction),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

/// Returns a value in which integral numbers have no fraction, as [`without_fractions`].
#[inline]
pub(crate) fn value_without_fractions(value: &Value) -> Value {
    match value {
        Value::Number(number) => match integer(&number.to_string()) {
            Some(integer) => integer.into(),
            None => value.clone(),
        },
        Value::Array(items) => items.iter().map(value_without_fractions).collect(),
        Value::Object(members) => {
            let members = members.iter();
            members
                .map(|(name, value)| (name.clone(), value_without_fractions(value)))
                .collect()
        }
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}

/// Returns the length of the string at the start, with its quotes.
fn string_length(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        at += match byte {
            b'"' => return at + 1,
            b'\\' => 2,
            _ => 1,
        };
    }
    bytes.len()
}

fn number_length(bytes: &[u8]) -> usize {
    let is_part = |byte: &u8| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
    let end = bytes.iter().position(|byte| !is_part(byte));
    end.unwrap_or(bytes.len())
}

/// Returns the value of a number with a fraction or an exponent if it is an integer.
///
/// Its digits decide, because an `f64` may be rounded to an integer.
fn integer(number: &str) -> Option<i64> {
    let is_number = number.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    if !is_number || !number.contains(['.', 'e', 'E']) {
        return None;
    }
    // Text that is not JSON must not become JSON.
    serde_json::from_str::<IgnoredAny>(number).ok()?;
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    let significant = digits.trim_end_matches('0');
    if matches!(significant, "" | "-") {
        return Some(0);
    }
    let zeros = i64::try_from(digits.len() - significant.len()).ok()?;
    let scale = zeros - i64::try_from(fraction.len()).ok()?;
    let scale = exponent.parse::<i64>().ok()?.checked_add(scale)?;
    let power = 10_i64.checked_pow(scale.try_into().ok()?)?;
    let integer = significant.parse::<i64>().ok()?.checked_mul(power)?;
    (integer.unsigned_abs() <= MAX_EXACT_INTEGER).then_some(integer)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn integral_numbers_lose_their_fraction() {
        let table = [
            ("1.0", Some("1")),
            ("-2.50e1", Some("-25")),
            ("9007199254740992.0", Some("9007199254740992")),
            ("9007199254740994.0", None),
            ("1.00000000000000000000000001", None),
            ("1e-400", None),
            ("1e-99999999999999999999", None),
            ("-0.0e-400", Some("0")),
            ("2500e-2", Some("25")),
            ("25e-2", None),
            ("1e999", None),
            ("01.0", None),
            ("1.", None),
            ("[1.0,01.0]", Some("[1,01.0]")),
            ("1.5", None),
            ("10", None),
            ("\"1.0\"", None),
            (
                r#"{"1.0":[1.0, 0.5,{"a\"2.0":3e2}],"b":"4.0"}"#,
                Some(r#"{"1.0":[1, 0.5,{"a\"2.0":300}],"b":"4.0"}"#),
            ),
        ];
        for (text, expected) in table {
            assert_eq!(without_fractions(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn integral_numbers_in_a_value_lose_their_fraction() {
        let value = json!({"1.0": [1.0, 0.5, {"a": 3e2}], "b": "4.0", "c": 1e300, "d": -0.0});
        let expected = json!({"1.0": [1, 0.5, {"a": 300}], "b": "4.0", "c": 1e300, "d": 0});
        assert_eq!(value_without_fractions(&value), expected);
    }
}

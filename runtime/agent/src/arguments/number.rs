//! Lossless conversion between numbers and text.

use serde_json::{Map, Number, Value};
use treenail_schema::internal::json_schema::{push_token, schema_at, takes_only_integers};

/// Bound below which floating-point numbers represent each integer exactly.
const EXACT_INTEGER_LIMIT: f64 = 9_007_199_254_740_992.0;

/// Number of decimal digits that a floating-point number always preserves.
const PRECISE_DIGITS: usize = 15;

/// Parses a JSON number, unless that loses precision.
pub(super) fn parse_number(text: &str) -> Option<Number> {
    let is_number_byte = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    // Surrounding white space is not part of a number.
    if !text.bytes().all(is_number_byte) {
        return None;
    }
    let number: Number = serde_json::from_str(text).ok()?;
    let is_exact = !number.is_f64()
        || significant_digits(text) <= PRECISE_DIGITS
        || number.to_string() == text;
    let is_zero = number.as_f64() == Some(0.0);
    // An integer beyond the range of integer types has been rounded.
    let is_integer = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'-');
    let is_rounded = number.is_f64() && is_integer && !is_zero;
    // `1e-400` is not zero.
    let is_lost = is_zero && significant_digits(text) > 0;
    (is_exact && !is_rounded && !is_lost).then_some(number)
}

/// Counts the significant digits of a number.
fn significant_digits(text: &str) -> usize {
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_start_matches('0').trim_end_matches('0').len()
}

/// Returns the integer equal to a number, if there is one.
#[allow(clippy::cast_possible_truncation, reason = "checked to be lossless")]
pub(super) fn to_integer(number: &Number) -> Option<Number> {
    if !number.is_f64() {
        return Some(number.clone());
    }
    let value = number.as_f64()?;
    let is_whole = value.fract() == 0.0 && value.abs() < EXACT_INTEGER_LIMIT;
    is_whole.then(|| Number::from(value as i64))
}

/// Formats a number, unless parsing may have rounded it.
pub(super) fn number_text(number: &Number) -> Option<String> {
    let is_exact = !number.is_f64()
        || number
            .as_f64()
            .is_some_and(|it| it.abs() < EXACT_INTEGER_LIMIT);
    is_exact.then(|| number.to_string())
}

/// Rewrites whole floating-point numbers as integers where the schema allows only integers. Values do not change.
pub(super) fn normalize_integers(input: &mut Value, root: &Map<String, Value>) {
    let mut integers = Vec::new();
    visit_floats(input, &mut String::new(), &mut |pointer, number| {
        let schema = schema_at(root, input, pointer);
        let wanted = schema.is_some_and(|schema| takes_only_integers(schema, root));
        let integer = to_integer(number).filter(|_| wanted);
        integers.extend(integer.map(|integer| (pointer.to_owned(), integer)));
    });
    for (pointer, integer) in integers {
        if let Some(number) = input.pointer_mut(&pointer) {
            *number = Value::Number(integer);
        }
    }
}

fn visit_floats(value: &Value, pointer: &mut String, visit: &mut dyn FnMut(&str, &Number)) {
    match value {
        Value::Number(number) if number.is_f64() => visit(pointer, number),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                with_token(pointer, &at.to_string(), |pointer| {
                    visit_floats(item, pointer, visit);
                });
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                with_token(pointer, name, |pointer| {
                    visit_floats(member, pointer, visit);
                });
            }
        }
        _ => {}
    }
}

fn with_token(pointer: &mut String, token: &str, work: impl FnOnce(&mut String)) {
    let length = pointer.len();
    push_token(pointer, token);
    work(pointer);
    pointer.truncate(length);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_parsed_from_text_if_lossless() {
        let exact = [
            "0",
            "-0",
            "3",
            "-7",
            "3.5",
            "0.1",
            "1e3",
            "1.50",
            "18446744073709551615",
            "9007199254740993",
        ];
        for text in exact {
            assert!(parse_number(text).is_some(), "{text}");
        }
        let not = [
            "",
            " 3",
            "3 ",
            "+3",
            "03",
            "3.",
            ".5",
            "1e400",
            "1e-400",
            "0x10",
            "NaN",
            "Infinity",
            "1_000",
            "1,5",
            "18446744073709551616",
            "-9223372036854775809",
            "0.12345678901234567890",
            "9007199254740993.5",
            "²",
        ];
        for text in not {
            assert_eq!(parse_number(text), None, "{text}");
        }
    }

    #[test]
    fn integers_are_numbers_without_a_fraction() {
        let table = [
            (3.0, Some(3)),
            (-2.0, Some(-2)),
            (3.5, None),
            (1e300, None),
            (EXACT_INTEGER_LIMIT, None),
        ];
        for (value, expected) in table {
            let number = Number::from_f64(value).unwrap();
            assert_eq!(to_integer(&number), expected.map(Number::from), "{value}");
        }
    }
}

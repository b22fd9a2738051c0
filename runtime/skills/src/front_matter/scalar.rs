//! Plain scalars of YAML as JSON, by the core schema of YAML 1.2.

use serde_json::{Number, Value};

/// Returns the value of a plain scalar, or the reason why JSON does not have it.
pub(super) fn resolve(text: &str) -> Result<Value, &'static str> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ if is_integer(text) => integer(text, 10)?,
        _ if is_based(text, "0o", 8) => integer(&text[2..], 8)?,
        _ if is_based(text, "0x", 16) => integer(&text[2..], 16)?,
        _ if is_float(text) => float(text)?,
        _ if is_not_finite(text) => return Err("is not a number of JSON; write it in quotes"),
        _ => Value::from(text),
    })
}

fn is_integer(text: &str) -> bool {
    is_digits(unsigned(text), 10)
}

fn is_based(text: &str, prefix: &str, base: u32) -> bool {
    text.strip_prefix(prefix)
        .is_some_and(|digits| is_digits(digits, base))
}

/// Returns true for `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`.
fn is_float(text: &str) -> bool {
    let text = unsigned(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let is_mantissa = match mantissa.split_once('.') {
        None => is_digits(mantissa, 10),
        Some(("", fraction)) => is_digits(fraction, 10),
        Some((whole, "")) => is_digits(whole, 10),
        Some((whole, fraction)) => is_digits(whole, 10) && is_digits(fraction, 10),
    };
    is_mantissa && exponent.is_none_or(|exponent| is_digits(unsigned(exponent), 10))
}

fn is_not_finite(text: &str) -> bool {
    matches!(unsigned(text), ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN")
}

fn unsigned(text: &str) -> &str {
    text.strip_prefix(['-', '+']).unwrap_or(text)
}

fn is_digits(text: &str, base: u32) -> bool {
    !text.is_empty() && text.chars().all(|digit| digit.is_digit(base))
}

fn integer(text: &str, base: u32) -> Result<Value, &'static str> {
    let unsigned = u64::from_str_radix(text, base).map(Value::from);
    let number = unsigned.or_else(|_| i64::from_str_radix(text, base).map(Value::from));
    number.map_err(|_| "has more than 64 bits; write it in quotes")
}

fn float(text: &str) -> Result<Value, &'static str> {
    let number = text.parse().ok().and_then(Number::from_f64);
    number
        .map(Value::Number)
        .ok_or("is too large for a number; write it in quotes")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn scalars_have_the_types_of_the_core_schema() {
        for (text, expected) in [
            ("", json!(null)),
            ("~", json!(null)),
            ("Null", json!(null)),
            ("nUll", json!("nUll")),
            ("TRUE", json!(true)),
            ("yes", json!("yes")),
            ("off", json!("off")),
            ("12", json!(12)),
            ("+12", json!(12)),
            ("-012", json!(-12)),
            ("0o17", json!(15)),
            ("0xfF", json!(255)),
            ("-0x1", json!("-0x1")),
            ("1_000", json!("1_000")),
            ("12:30", json!("12:30")),
            ("2026-11-28", json!("2026-11-28")),
            ("1.", json!(1.0)),
            (".5", json!(0.5)),
            ("-1.5e3", json!(-1500.0)),
            ("1e", json!("1e")),
            (".", json!(".")),
            ("1.2.3", json!("1.2.3")),
            ("18446744073709551615", json!(u64::MAX)),
            ("<<", json!("<<")),
        ] {
            assert_eq!(resolve(text), Ok(expected), "{text:?}");
        }
        for text in [
            ".inf",
            "-.INF",
            ".NaN",
            "1e999",
            "18446744073709551616",
            "-9223372036854775809",
        ] {
            resolve(text).unwrap_err();
        }
    }
}

//! Integers that are written with a fraction or an exponent, such as `1.0`.

/// Magnitude up to which every integer is a distinct `f64` (2^53).
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;

/// Returns a valid JSON text in which integral numbers have neither a fraction nor an exponent, or `None` if it has no number to
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
fn integer(number: &str) -> Option<i64> {
    let is_number = number.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    if !is_number || !number.contains(['.', 'e', 'E']) {
        return None;
    }
    let number: f64 = number.parse().ok()?;
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the value has no fraction and is at most 2^53"
    )]
    let integer = number as i64;
    (number.fract() == 0.0 && number.abs() <= MAX_EXACT_INTEGER).then_some(integer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integral_numbers_lose_their_fraction() {
        let table = [
            ("1.0", Some("1")),
            ("-2.50e1", Some("-25")),
            ("9007199254740992.0", Some("9007199254740992")),
            ("9007199254740994.0", None),
            ("1e999", None),
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
}

//! JSON output for people and for scripts.

use serde::Serialize;

use super::sanitize::is_unsafe;

/// Serializes a value as indented JSON. Control and invisible characters are escaped, which preserves the value.
pub(crate) fn escaped_json(value: &impl Serialize) -> String {
    // All values that are printed were parsed from JSON, so serialization cannot fail.
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    escape_json_text(&text)
}

/// Escapes control and invisible characters in the text of a JSON value, or a part of it, which preserves the value.
pub(crate) fn escape_json_text(text: &str) -> String {
    if text.chars().all(|c| !is_unsafe(c)) {
        return text.to_owned();
    }
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unsafe(c) {
            // Such characters occur only inside JSON strings.
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                escaped.extend(format!("\\u{unit:04x}").chars());
            }
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// Formats a value for use within other text. A string is printed without quotes.
pub(crate) fn inline_json(value: &serde_json::Value) -> String {
    match value.as_str() {
        Some(text) => super::sanitize_text(text),
        None => escaped_json(value),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn escaping_preserves_the_value() {
        let value = json!({"a\u{9b}": ["\x1b[1m", "\u{202e}", "\u{e0041}", "é 漢"]});
        let text = escaped_json(&value);
        assert!(text.is_ascii() || !text.chars().any(is_unsafe), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}

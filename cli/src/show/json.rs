//! JSON for people and for scripts.

use serde::Serialize;

use super::clean::is_hostile;

/// A value as JSON with indentation. What a terminal would obey is escaped, so it is the same value.
pub(crate) fn exact_json(value: &impl Serialize) -> String {
    // What has been read as JSON can be written as JSON.
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    if text.chars().all(|c| !is_hostile(c)) {
        return text;
    }
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hostile(c) {
            // Only texts have such characters.
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

/// A value as it is shown among other text: a text is itself.
pub(crate) fn pretty_json(value: &serde_json::Value) -> String {
    match value.as_str() {
        Some(text) => super::clean(text),
        None => exact_json(value),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_is_escaped_is_the_same_value() {
        let value = json!({"a\u{9b}": ["\x1b[1m", "\u{202e}", "\u{e0041}", "é 漢"]});
        let text = exact_json(&value);
        assert!(text.is_ascii() || !text.chars().any(is_hostile), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}

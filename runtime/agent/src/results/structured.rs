//! Detection of structured content that is already in the text of a result.

use serde_json::Value;
use treenail_schema::ContentBlock;

/// Returns true if the text of a result contains its structured content.
///
/// Servers serialize it into a text block (SRV-TOOL-13). Some wrap non-object return values in an object with the
/// single member `result`; their text then has only the inner value, or one text block for each item of a list.
pub(super) fn is_in_text(structured: &Value, content: &[ContentBlock]) -> bool {
    let texts: Vec<&str> = content.iter().filter_map(ContentBlock::as_text).collect();
    let result = structured.as_object().filter(|object| object.len() == 1);
    let result = result.and_then(|object| object.get("result"));
    let inner =
        result.is_some_and(|inner| any_equals(&texts, inner) || is_item_per_text(&texts, inner));
    any_equals(&texts, structured) || inner || is_item_per_text(&texts, structured)
}

fn any_equals(texts: &[&str], value: &Value) -> bool {
    texts.iter().any(|text| text_equals(text, value))
}

/// Returns true if there is one text block for each item of a list.
fn is_item_per_text(texts: &[&str], value: &Value) -> bool {
    let Some(items) = value.as_array().filter(|items| items.len() == texts.len()) else {
        return false;
    };
    !items.is_empty()
        && texts
            .iter()
            .zip(items)
            .all(|(text, item)| text_equals(text, item))
}

fn text_equals(text: &str, value: &Value) -> bool {
    if let Value::String(parsed) = value {
        if parsed == text {
            return true;
        }
    }
    // Avoids parsing text that cannot match.
    let first = text.trim_start().bytes().next();
    let fits = match value {
        Value::Object(_) => first == Some(b'{'),
        Value::Array(_) => first == Some(b'['),
        Value::String(_) => first == Some(b'"'),
        Value::Number(_) => first.is_some_and(|byte| byte == b'-' || byte.is_ascii_digit()),
        Value::Bool(_) => matches!(first, Some(b't' | b'f')),
        Value::Null => first == Some(b'n'),
    };
    fits && serde_json::from_str::<Value>(text).is_ok_and(|parsed| parsed == *value)
}

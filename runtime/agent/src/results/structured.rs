//! Detection of structured content that the content blocks of a result contain already.

use serde::Deserialize;
use serde_json::Value;
use treenail_schema::ContentBlock;

/// Returns true if the content blocks of a result contain its structured content.
///
/// Servers serialize it into a text block (SRV-TOOL-13). Others wrap the content in an object with a single member, of any name.
/// The value is then in one block, or each item of a list is in a block of its own.
pub(super) fn is_in_content(structured: &Value, content: &[ContentBlock]) -> bool {
    let inner = structured.as_object().filter(|object| object.len() == 1);
    let inner = inner.and_then(|object| object.values().next());
    is_in(content, structured) || inner.is_some_and(|inner| is_in(content, inner))
}

fn is_in(content: &[ContentBlock], value: &Value) -> bool {
    let items = value.as_array().filter(|items| !items.is_empty());
    // The items have to be in the order of the blocks.
    let mut blocks = content.iter();
    let are_found = items.is_some_and(|items| items.iter().all(|item| finds(&mut blocks, item)));
    are_found || finds(&mut content.iter(), value)
}

/// Advances to a block that is equal to a value, or whose text is the value.
fn finds<'a>(blocks: &mut impl Iterator<Item = &'a ContentBlock>, value: &Value) -> bool {
    let tag = value.get("type");
    let parsed = tag.and_then(|_| ContentBlock::deserialize(value).ok());
    blocks.any(|block| {
        parsed.as_ref() == Some(block)
            || block.as_text().is_some_and(|text| text_equals(text, value))
    })
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

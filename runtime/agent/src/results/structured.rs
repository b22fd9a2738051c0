//! Detection of structured content that the content blocks of a result contain already.

use serde_json::Value;
use treenail_schema::ContentBlock;

/// Returns true if the content blocks of a result contain all of its structured content.
///
/// Servers serialize it into a text block (SRV-TOOL-13), and frameworks wrap other values than objects in `{"result": …}`.
/// Others wrap the content in an object with a single member of another name. Such a value, and each list, has to be the whole
/// content, because a part of it is a selection, which the blocks do not show. Only the name of the member is lost.
pub(super) fn is_in_content(structured: &Value, content: &[ContentBlock]) -> bool {
    let wrapper = structured.as_object().filter(|object| object.len() == 1);
    let is_repeated = |value| is_a_block(content, value) || is_all(content, value);
    is_repeated(structured)
        || wrapper.is_some_and(|wrapper| match wrapper.get("result") {
            Some(value) => is_repeated(value),
            None => wrapper.values().any(|value| is_all(content, value)),
        })
}

fn is_a_block(content: &[ContentBlock], value: &Value) -> bool {
    content.iter().any(|block| repeats(block, value))
}

/// Returns true if a value is the only block, or if its items are all blocks in their order.
fn is_all(content: &[ContentBlock], value: &Value) -> bool {
    if let [block] = content {
        if repeats(block, value) {
            return true;
        }
    }
    let items = value
        .as_array()
        .filter(|items| items.len() == content.len());
    items.is_some_and(|items| {
        let mut pairs = content.iter().zip(items);
        !items.is_empty() && pairs.all(|(block, item)| repeats(block, item))
    })
}

/// Returns true if a block is equal to a value, or if its text is the value.
fn repeats(block: &ContentBlock, value: &Value) -> bool {
    let is_block = || serde_json::to_value(block).is_ok_and(|block| equals(&block, value));
    block.as_text().is_some_and(|text| text_equals(text, value))
        || (value.get("type").is_some() && is_block())
}

/// Compares a block with a value, whose members that are null count as absent.
fn equals(block: &Value, value: &Value) -> bool {
    let (Value::Object(block), Value::Object(value)) = (block, value) else {
        return block == value;
    };
    let mut members = value.iter().filter(|(_, value)| !value.is_null());
    members.clone().count() == block.len()
        && members.all(|(name, value)| block.get(name).is_some_and(|it| equals(it, value)))
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

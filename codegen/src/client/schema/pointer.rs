//! Resolution of `$ref`.

use serde_json::{Map, Value};

use crate::client::budget::Budget;

/// Resolves a reference within a document. The error is the reason for any JSON.
pub(super) fn resolve<'a>(
    root: &'a Value,
    reference: &str,
    budget: &Budget,
) -> Result<&'a Value, String> {
    budget.charge_steps(1 + reference.len() / 8)?;
    let Some(fragment) = reference.strip_prefix('#') else {
        return Err(format!("the schema is elsewhere, at \"{reference}\""));
    };
    if fragment.is_empty() {
        return Ok(root);
    }
    let missing = || format!("there is no schema at \"{reference}\"");
    let fragment = decode(fragment);
    if fragment.starts_with('/') {
        return root.pointer(&fragment).ok_or_else(missing);
    }
    let definitions = ["$defs", "definitions"]
        .iter()
        .filter_map(|key| root.get(key)?.as_object());
    let mut definitions = definitions.flat_map(|definitions| definitions.values());
    budget.charge_steps(definitions.clone().count())?;
    let has_anchor = |schema: &&Value| {
        let anchor = schema.get("$anchor").and_then(Value::as_str);
        let id = ["$id", "id"]
            .iter()
            .filter_map(|key| schema.get(key)?.as_str());
        anchor == Some(&*fragment)
            || id
                .into_iter()
                .any(|id| id.strip_prefix('#') == Some(&*fragment))
    };
    definitions.find(has_anchor).ok_or_else(missing)
}

/// Returns `true` if a schema is not the document, and has an `$id`. The base of references within it is then this schema.
fn has_own_base(root: &Value, schema: &Map<String, Value>) -> bool {
    let id = schema.get("$id").and_then(Value::as_str);
    let is_root = || {
        root.as_object()
            .is_some_and(|root| std::ptr::eq(root, schema))
    };
    // In earlier drafts, a fragment is the name of an anchor.
    id.is_some_and(|id| !id.starts_with('#')) && !is_root()
}

/// Checks that the references within a schema have the document as their base. The error is the reason for any JSON.
pub(super) fn check_base(
    root: &Value,
    schema: &Map<String, Value>,
    budget: &Budget,
) -> Result<(), String> {
    if !has_own_base(root, schema) {
        return Ok(());
    }
    budget.charge_copies(schema.values())?;
    if has_local_reference(schema) {
        return Err("it has an `$id` of its own, which changes the base of its references".into());
    }
    Ok(())
}

/// Returns `true` if a schema, or one within it, refers to a fragment. References to elsewhere are not resolved anyway.
fn has_local_reference(schema: &Map<String, Value>) -> bool {
    let is_local = |schema: &Map<String, Value>| {
        let reference = schema.get("$ref").and_then(Value::as_str);
        reference.is_some_and(|reference| reference.starts_with('#'))
    };
    let mut open: Vec<&Value> = schema.values().collect();
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(inner) if is_local(inner) => return true,
            Value::Object(inner) => open.extend(inner.values()),
            _ => {}
        }
    }
    is_local(schema)
}

/// Normalizes a reference, so that its target is read once.
pub(super) fn normal(reference: &str) -> String {
    match reference.strip_prefix('#') {
        Some(fragment) => format!("#{}", decode(fragment).replace('%', "%25")),
        None => reference.to_owned(),
    }
}

/// Decodes percent-encoding.
fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let mut ahead = rest.clone();
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        let decoded = match (byte, digit(ahead.next()), digit(ahead.next())) {
            (b'%', Some(high), Some(low)) => u8::try_from(high * 16 + low).ok(),
            _ => None,
        };
        if decoded.is_some() {
            rest = ahead;
        }
        bytes.push(decoded.unwrap_or(byte));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The name of the referenced definition.
pub(super) fn last(reference: &str) -> &str {
    let last = reference.rsplit(['/', '#']).next().unwrap_or_default();
    if last.is_empty() { "Self" } else { last }
}

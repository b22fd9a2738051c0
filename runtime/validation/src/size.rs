//! Sizes of JSON values, for the cost of validating them.

use serde_json::Value;

/// Bytes of a string that are processed in one step.
const BYTES_PER_STEP: usize = 16;

/// Returns the pieces of a string, each of which is one step.
pub(crate) fn count_pieces(text: &str) -> u64 {
    (text.len() / BYTES_PER_STEP) as u64
}

/// Returns the number of values and pieces of strings in a value, including itself.
pub(crate) fn count_values(value: &Value) -> u64 {
    match value {
        Value::Array(items) => 1 + items.iter().map(count_values).sum::<u64>(),
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| count_pieces(name) + count_values(member))
            .fold(1, u64::saturating_add),
        Value::String(text) => 1 + count_pieces(text),
        _ => 1,
    }
}

/// Returns whether the strings and names of a value, and eight bytes for each other value, take more than `max_bytes` bytes.
pub(crate) fn is_larger(value: &Value, max_bytes: usize) -> bool {
    fn take(bytes: usize, left: &mut usize) -> bool {
        let remaining = left.checked_sub(bytes);
        *left = remaining.unwrap_or(0);
        remaining.is_some()
    }
    fn charge(value: &Value, left: &mut usize) -> bool {
        match value {
            Value::String(text) => take(text.len(), left),
            Value::Array(items) => take(8, left) && items.iter().all(|item| charge(item, left)),
            Value::Object(members) => {
                take(8, left)
                    && members
                        .iter()
                        .all(|(name, member)| take(name.len(), left) && charge(member, left))
            }
            _ => take(8, left),
        }
    }
    let mut left = max_bytes;
    !charge(value, &mut left)
}

/// Returns the cost of finding a member by its name, in lookups.
pub(crate) fn name_lookups(name: &str) -> u64 {
    1 + count_pieces(name) / 4
}

/// Returns the cost of a list of names, or of several lists by name, in lookups.
pub(crate) fn names_lookups(names: &Value) -> u64 {
    match names {
        Value::Array(names) => names.iter().map(names_lookups).sum(),
        Value::Object(members) => members
            .iter()
            .map(|(name, names)| name_lookups(name) + names_lookups(names))
            .sum(),
        Value::String(name) => name_lookups(name),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn strings_names_and_other_values_are_charged() {
        let name = "n".repeat(100);
        for (value, bytes) in [
            (json!("n".repeat(100)), 100),
            (json!({(&*name): ""}), 108),
            (json!({(&*name): 1, "m": [null]}), 133),
            (json!([[], true]), 24),
        ] {
            assert!(!is_larger(&value, bytes), "{value}");
            assert!(is_larger(&value, bytes - 1), "{value}");
        }
        assert!(is_larger(&json!({(&*name): ""}), 50));
    }
}

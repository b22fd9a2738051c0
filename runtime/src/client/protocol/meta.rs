//! The `_meta` of a request as JSON text: members of the era, and those that the caller adds.

use std::fmt::Write;

use serde_json::Value;

use crate::wire::Members;

/// Members of `_meta` that belong to the session.
pub(super) const ERA_KEYS: [&str; 3] = [
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientCapabilities",
    "io.modelcontextprotocol/clientInfo",
];

/// The `_meta` of a request.
#[derive(Debug)]
pub(super) struct Meta<'a> {
    /// Members that the era requires, as JSON text.
    pub(super) era: &'a str,
    pub(super) progress_token: Option<i64>,
    /// Members that the caller adds, as JSON text.
    pub(super) caller: &'a str,
}

impl Meta<'_> {
    pub(super) fn len(&self) -> usize {
        self.era.len() + self.caller.len() + 48
    }

    pub(super) fn is_empty(&self) -> bool {
        self.era.is_empty() && self.caller.is_empty() && self.progress_token.is_none()
    }

    pub(super) fn write(&self, text: &mut String) {
        text.push_str(self.era);
        if let Some(token) = self.progress_token {
            push_separator(text);
            write!(text, "\"progressToken\":{token}").expect("writing to a string cannot fail");
        }
        if !self.caller.is_empty() {
            push_separator(text);
            text.push_str(self.caller);
        }
    }
}

/// Appends a comma, unless the next member is the first one.
fn push_separator(text: &mut String) {
    if !text.ends_with('{') {
        text.push(',');
    }
}

/// Appends a member to JSON text of members of `_meta`, in place of one with the same key. Those of the session cannot be set.
pub(super) fn push_member(members: &mut String, key: &str, value: &Value) {
    push_text(members, key, &value.to_string());
}

/// Appends a member with a value as JSON text, like [`push_member`].
pub(super) fn push_text(members: &mut String, key: &str, value: &str) {
    if !ERA_KEYS.contains(&key) {
        remove_member(members, key);
        append_member(members, key, value);
    }
}

/// Removes the member with this key from JSON text of members.
pub(super) fn remove_member(members: &mut String, removed: &str) {
    if members.is_empty() || !members.contains(&*Value::from(removed).to_string()) {
        return;
    }
    let text = format!("{{{members}}}");
    let Ok(mut all) = Members::new(&text) else {
        return;
    };
    members.clear();
    while let Ok(Some((key, value))) = all.next() {
        if key != removed {
            append_member(members, &key, value);
        }
    }
}

/// Appends a member to JSON text of members.
pub(super) fn append_member(members: &mut String, key: &str, value: &str) {
    if !members.is_empty() {
        members.push(',');
    }
    write!(members, "{}:{value}", Value::from(key)).expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_replaces_one_with_the_same_key() {
        let mut members = String::new();
        for (key, value) in [("a", 1), ("a\"b", 2), ("a", 3), ("a\"b", 4), ("b", 5)] {
            push_member(&mut members, key, &value.into());
        }
        assert_eq!(members, r#""a":3,"a\"b":4,"b":5"#);
    }
}

//! Messages without the members that only other revisions define.

use serde_json::Value;

use crate::generated::revisions::PARTS;
use crate::{Revision, field};

/// Removes the members that `revision` does not define from the text of a value of the type `definition`. In that revision they may have
/// any value. Returns `None` if the text is not JSON.
pub fn without_later_members(text: &str, definition: &str, revision: Revision) -> Option<String> {
    let mut value = serde_json::from_str(text).ok()?;
    remove_later(&mut value, definition, revision);
    Some(value.to_string())
}

fn remove_later(value: &mut Value, definition: &str, revision: Revision) {
    match value {
        Value::Array(items) => {
            for item in items {
                remove_later(item, definition, revision);
            }
        }
        Value::Object(members) => {
            let tag = members.get("type").and_then(Value::as_str);
            let definition = tag
                .and_then(|tag| part(definition, tag))
                .unwrap_or(definition);
            members.retain(|member, value| {
                if let Some(part) = part(definition, member) {
                    remove_later(value, part, revision);
                }
                let facts = field(definition, member);
                facts.is_none_or(|facts| facts.revisions.contains(revision))
            });
        }
        _ => {}
    }
}

/// Returns the type of a member, or the type in a union with a tag.
fn part(definition: &str, name: &str) -> Option<&'static str> {
    let key = (definition, name);
    let found = PARTS.binary_search_by(|(definition, name, _)| (*definition, *name).cmp(&key));
    found.ok().map(|index| PARTS[index].2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_for_binary_search() {
        assert!(PARTS.is_sorted());
    }

    #[test]
    fn only_members_of_other_revisions_are_removed() {
        for (definition, revision, text, expected) in [
            (
                "ListToolsResult",
                Revision::V2025_06_18,
                r#"{"tools":[{"name":"a","title":"A","icons":5,"execution":"sync","x":5}],"x":{"icons":5}}"#,
                r#"{"tools":[{"name":"a","title":"A","x":5}],"x":{"icons":5}}"#,
            ),
            (
                "CallToolResult",
                Revision::V2025_03_26,
                r#"{"content":[{"type":"text","text":"a","_meta":5}],"_meta":{}}"#,
                r#"{"content":[{"type":"text","text":"a"}],"_meta":{}}"#,
            ),
            (
                "InitializeResult",
                Revision::V2024_11_05,
                r#"{"capabilities":{"tasks":true,"tools":{}},"serverInfo":{"name":"a","title":5}}"#,
                r#"{"capabilities":{"tools":{}},"serverInfo":{"name":"a"}}"#,
            ),
            (
                "Unheard",
                Revision::LATEST,
                r#"{"icons":[5]}"#,
                r#"{"icons":[5]}"#,
            ),
        ] {
            let found = without_later_members(text, definition, revision).unwrap();
            let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
            assert_eq!(value(&found), value(expected), "{definition}");
        }
        assert_eq!(without_later_members("{", "Tool", Revision::LATEST), None);
    }
}

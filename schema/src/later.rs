//! Messages without the members that only other revisions define.

use std::borrow::Cow;

use serde_json::Value;

use crate::generated::revisions::PARTS;
use crate::wire::{DEEPEST, Members, Scanner, SyntaxError, as_string};
use crate::{Revision, field};

/// Removes the members that `revision` does not define from the text of a value of the type `definition`. In that revision they may have
/// any value. Everything else is copied, including members that are given twice. Returns `None` if there is nothing to remove, or the
/// text is not JSON.
pub fn without_later_members(text: &str, definition: &str, revision: Revision) -> Option<String> {
    let mut filter = Filter {
        revision,
        text: String::new(),
        has_removed: false,
    };
    filter.value(text, definition).ok()?;
    filter.has_removed.then_some(filter.text)
}

/// Copy of a value without the members that a revision does not define.
struct Filter {
    revision: Revision,
    text: String,
    has_removed: bool,
}

impl Filter {
    fn value(&mut self, text: &str, definition: &str) -> Result<(), SyntaxError> {
        match text.as_bytes().first() {
            Some(b'{') => self.object(text, definition),
            Some(b'[') => self.array(text, definition),
            _ => {
                self.text.push_str(text);
                Ok(())
            }
        }
    }

    fn array(&mut self, text: &str, definition: &str) -> Result<(), SyntaxError> {
        let mut scanner = Scanner::new(text, DEEPEST);
        scanner.open_array()?;
        let mut separator = '[';
        while let Some(item) = scanner.next_element(separator == '[')? {
            self.text.push(separator);
            separator = ',';
            // No type has a list of lists.
            if item.starts_with('[') {
                self.text.push_str(item);
            } else {
                self.value(item, definition)?;
            }
        }
        self.end(separator, '[', ']');
        Ok(())
    }

    fn object(&mut self, text: &str, definition: &str) -> Result<(), SyntaxError> {
        let tag = tag(text)?;
        let definition = tag
            .and_then(|tag| part(definition, &tag))
            .unwrap_or(definition);
        let mut members = Members::new(text)?;
        let mut separator = '{';
        while let Some((name, value)) = members.next()? {
            let facts = field(definition, &name);
            if facts.is_some_and(|facts| !facts.revisions.contains(self.revision)) {
                self.has_removed = true;
                continue;
            }
            self.text.push(separator);
            separator = ',';
            self.text.push_str(&Value::from(&*name).to_string());
            self.text.push(':');
            match part(definition, &name) {
                Some(part) => self.value(value, part)?,
                None => self.text.push_str(value),
            }
        }
        self.end(separator, '{', '}');
        Ok(())
    }

    /// Writes the end of a list or an object, and its start if it is empty.
    fn end(&mut self, separator: char, start: char, end: char) {
        if separator == start {
            self.text.push(start);
        }
        self.text.push(end);
    }
}

/// Returns the `type` of an object, if it is a string.
fn tag(text: &str) -> Result<Option<Cow<'_, str>>, SyntaxError> {
    let mut members = Members::new(text)?;
    while let Some((name, value)) = members.next()? {
        if name == "type" {
            return Ok(as_string(value));
        }
    }
    Ok(None)
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
                "CallToolResult",
                Revision::V2025_03_26,
                r#"{"content":[ ],"content":[[{"_meta":5}]],"\u005fmeta\n":1e2,"content":[{"type":"text","_meta":5}]}"#,
                r#"{"content":[],"content":[[{"_meta":5}]],"_meta\n":1e2,"content":[{"type":"text"}]}"#,
            ),
        ] {
            let found = without_later_members(text, definition, revision);
            assert_eq!(found.as_deref(), Some(expected), "{definition}");
        }
        for (definition, text) in [
            ("CallToolResult", r#"{"content":[],"content":[]}"#),
            ("Unheard", r#"{"icons":[5]}"#),
            ("Tool", r#"{"execution":5"#),
            ("Tool", "{"),
        ] {
            let found = without_later_members(text, definition, Revision::V2025_03_26);
            assert_eq!(found, None, "{text}");
        }
    }
}

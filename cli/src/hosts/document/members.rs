//! Places of members in valid JSON.

use std::ops::Range;

use super::Document;
use super::blank::string_end;

/// Place of a member of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) key: Range<usize>,
    pub(super) value: Range<usize>,
}

impl Document {
    /// Returns the place of the object at the root, if the text is not empty.
    pub(super) fn root(&self) -> Option<Range<usize>> {
        let start = self.json.find('{')?;
        Some(start..self.json.trim_end().len())
    }

    /// Returns the place of a member, or an error if there are two of this name: hosts differ in the one that they use.
    pub(super) fn member(
        &self,
        object: &Range<usize>,
        name: &str,
    ) -> Result<Option<Member>, String> {
        let mut found = self
            .members(object)
            .into_iter()
            .filter(|member| member.name == name);
        let first = found.next();
        if let Some(second) = found.next() {
            let line = self.text[..second.key.start].matches('\n').count() + 1;
            return Err(format!("line {line}: `{name}` is there twice; remove one"));
        }
        Ok(first)
    }

    /// Returns the places of all members of the object at `object`.
    pub(super) fn members(&self, object: &Range<usize>) -> Vec<Member> {
        let mut members = Vec::new();
        let mut at = self.skip_space(object.start + 1);
        while self.byte(at) == Some(b'"') {
            let key = at..string_end(self.json.as_bytes(), at);
            // After the colon.
            let start = self.skip_space(self.skip_space(key.end) + 1);
            let value = start..self.value_end(start);
            members.push(Member {
                name: serde_json::from_str(&self.json[key.clone()]).unwrap_or_default(),
                key,
                value: value.clone(),
            });
            // The comma or the closing brace.
            let separator = self.skip_space(value.end);
            if self.byte(separator) != Some(b',') {
                break;
            }
            at = self.skip_space(separator + 1);
        }
        members
    }

    /// Returns the places of all items, if the value at `range` is an array.
    pub(super) fn items(&self, range: &Range<usize>) -> Vec<Range<usize>> {
        let mut items = Vec::new();
        if self.byte(range.start) != Some(b'[') {
            return items;
        }
        let mut at = self.skip_space(range.start + 1);
        while self.byte(at).is_some_and(|byte| byte != b']') {
            let item = at..self.value_end(at);
            // The comma or the closing bracket.
            let separator = self.skip_space(item.end);
            items.push(item);
            if self.byte(separator) != Some(b',') {
                break;
            }
            at = self.skip_space(separator + 1);
        }
        items
    }

    /// Returns whether the value at `range` is an object.
    pub(super) fn is_object(&self, range: &Range<usize>) -> bool {
        self.byte(range.start) == Some(b'{')
    }

    fn value_end(&self, start: usize) -> usize {
        let bytes = self.json.as_bytes();
        let mut depth = 0_usize;
        let mut at = start;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    at = string_end(bytes, at);
                    if depth == 0 {
                        return at;
                    }
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' if depth <= 1 => return at + depth,
                b'}' | b']' => depth -= 1,
                b',' if depth == 0 => return at,
                byte if depth == 0 && byte.is_ascii_whitespace() => return at,
                _ => {}
            }
            at += 1;
        }
        at
    }

    pub(super) fn skip_space(&self, mut at: usize) -> usize {
        while self.byte(at).is_some_and(|byte| byte.is_ascii_whitespace()) {
            at += 1;
        }
        at
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.json.as_bytes().get(at).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_with_their_places() {
        let text = r#" {"a\"": {"x": [1, {"}": 2}]}, "b": -1.5 , "c": "]", "d": [], "e": true}"#;
        let document = Document::parse(text).unwrap();
        let members = document.members(&document.root().unwrap());
        let found: Vec<_> = members
            .iter()
            .map(|member| (&*member.name, &text[member.value.clone()]))
            .collect();
        let expected = [
            ("a\"", r#"{"x": [1, {"}": 2}]}"#),
            ("b", "-1.5"),
            ("c", "\"]\""),
            ("d", "[]"),
            ("e", "true"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn items_are_found_with_their_places() {
        let text = r#"{"a": [ 1 ,[],{"b": [2]}, "]" ], "c": [], "d": 1}"#;
        let document = Document::parse(text).unwrap();
        let members = document.members(&document.root().unwrap());
        let found = |index: usize| {
            let items = document.items(&members[index].value).into_iter();
            items.map(|item| &text[item]).collect::<Vec<_>>()
        };
        assert_eq!(found(0), ["1", "[]", r#"{"b": [2]}"#, r#""]""#]);
        assert!(found(1).is_empty() && found(2).is_empty());
    }
}

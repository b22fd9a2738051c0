//! Edits of the text.

use std::ops::Range;

use serde_json::{Map, Value};

use super::Document;
use super::members::Member;

/// Replacement of a range of the text.
pub(super) type Edit = (Range<usize>, String);

impl Document {
    /// Sets a member of the object `container`, which is created if it is missing.
    pub(crate) fn set(&self, container: &str, name: &str, value: &Value) -> Result<Self, String> {
        let mut expected = self.value.clone();
        let object = expected
            .entry(container)
            .and_modify(|value| {
                if value.is_null() {
                    *value = Value::Object(Map::new());
                }
            })
            .or_insert_with(|| Value::Object(Map::new()));
        let Value::Object(object) = object else {
            return Err(format!("`{container}` is not an object"));
        };
        object.insert(name.to_owned(), value.clone());

        let whole = || Value::Object(Map::from_iter([(name.to_owned(), value.clone())]));
        let edits = match self.root() {
            None => {
                let root = Map::from_iter([(container.to_owned(), whole())]);
                let text = self.pretty(&Value::Object(root), "") + self.line_break();
                vec![(self.text.len()..self.text.len(), text)]
            }
            Some(root) => match self.member(&root, container)? {
                None => self.insert(&root, container, &whole()),
                Some(found) if !self.is_object(&found.value) => {
                    vec![self.replace(&found, &whole())]
                }
                Some(found) => match self.member(&found.value, name)? {
                    None => self.insert(&found.value, name, value),
                    Some(entry) => vec![self.replace(&entry, value)],
                },
            },
        };
        self.apply(edits, &expected)
    }

    /// Removes a member of the object `container`. Returns `None` if it is not there.
    pub(crate) fn remove(&self, container: &str, name: &str) -> Result<Option<Self>, String> {
        let Some(root) = self.root() else {
            return Ok(None);
        };
        let Some(object) = self.member(&root, container)?.map(|found| found.value) else {
            return Ok(None);
        };
        if !self.is_object(&object) || self.member(&object, name)?.is_none() {
            return Ok(None);
        }
        let mut expected = self.value.clone();
        if let Some(Value::Object(object)) = expected.get_mut(container) {
            object.shift_remove(name);
        }
        let members = self.members(&object);
        let edits = match members.iter().position(|member| member.name == name) {
            Some(0) if members.len() == 1 && self.has_only_member(&object, &members[0]) => {
                vec![(object, "{}".to_owned())]
            }
            Some(index) => self.removal(&members, index, &object),
            None => Vec::new(),
        };
        self.apply(edits, &expected).map(Some)
    }

    /// Applies edits, and checks that they had the intended effect on the value.
    fn apply(&self, edits: Vec<Edit>, expected: &Map<String, Value>) -> Result<Self, String> {
        let changed = Self::parse(replace_all(&self.text, edits));
        match changed {
            Ok(changed) if changed.value == *expected => Ok(changed),
            _ => Err("the layout is not supported; edit the file by hand".to_owned()),
        }
    }

    fn replace(&self, member: &Member, value: &Value) -> Edit {
        let indent = self.indentation(member.key.start);
        let text = if self.is_compact() {
            value.to_string()
        } else {
            self.pretty(value, indent)
        };
        (member.value.clone(), text)
    }

    fn insert(&self, object: &Range<usize>, name: &str, value: &Value) -> Vec<Edit> {
        let name = Value::from(name);
        let inside = &self.text[object.start + 1..object.end - 1];
        let members = self.members(object);
        let is_one_line = !inside.contains('\n');
        if self.is_compact() || (is_one_line && !members.is_empty()) {
            return self.insert_compact(object, members.last(), &format!("{name}: {value}"));
        }
        let outer = self.indentation(object.start);
        let (line_break, unit) = (self.line_break(), self.indent_unit());
        let Some(last) = members.last() else {
            let indent = format!("{outer}{unit}");
            let value = self.pretty(value, &indent);
            let comment = inside.trim_end();
            let start = object.start + 1 + comment.len();
            let text = format!("{line_break}{indent}{name}: {value}{line_break}{outer}");
            return vec![(start..object.end - 1, text)];
        };
        let indent = match self.indentation(last.key.start) {
            indent if self.starts_line(last.key.start) => indent.to_owned(),
            _ => format!("{outer}{unit}"),
        };
        let value = self.pretty(value, &indent);
        let comma = self.trailing_comma(last, object);
        let mut edits = Vec::new();
        if comma.is_none() {
            edits.push((last.value.end..last.value.end, ",".to_owned()));
        }
        let after = comma.map_or(last.value.end, |comma| comma + 1);
        let at = self.line_rest(after, object.end - 1).unwrap_or(after);
        let end = if comma.is_some() { "," } else { "" };
        edits.push((at..at, format!("{line_break}{indent}{name}: {value}{end}")));
        edits
    }

    fn insert_compact(
        &self,
        object: &Range<usize>,
        last: Option<&Member>,
        text: &str,
    ) -> Vec<Edit> {
        let Some(last) = last else {
            return vec![(object.end - 1..object.end - 1, text.to_owned())];
        };
        match self.trailing_comma(last, object) {
            Some(comma) => vec![(comma + 1..comma + 1, format!(" {text},"))],
            None => vec![(last.value.end..last.value.end, format!(", {text}"))],
        }
    }

    fn removal(&self, members: &[Member], index: usize, object: &Range<usize>) -> Vec<Edit> {
        let member = &members[index];
        let is_last = index + 1 == members.len();
        let own_comma = if is_last {
            self.trailing_comma(member, object)
        } else {
            Some(self.skip_space(member.value.end))
        };
        let mut end = own_comma.map_or(member.value.end, |comma| comma + 1);
        let mut start = member.key.start;
        let mut edits = Vec::new();
        if own_comma.is_none() && index > 0 {
            let comma = self.skip_space(members[index - 1].value.end);
            edits.push((comma..comma + 1, String::new()));
        }
        match self.line_rest(end, object.end - 1) {
            // A whole line, with the comment at its end.
            Some(line_end) if self.starts_line(start) => {
                start = self.line_start(start);
                end = line_end
                    + self.text[line_end..]
                        .find('\n')
                        .map_or(0, |length| length + 1);
            }
            _ if own_comma.is_some() => {
                end += self.text[end..].len() - self.text[end..].trim_start_matches(' ').len();
            }
            _ => start = self.text[..start].trim_end_matches([' ', '\t']).len(),
        }
        edits.push((start..end, String::new()));
        edits
    }

    /// Returns whether an object has a member, and no comment.
    fn has_only_member(&self, object: &Range<usize>, member: &Member) -> bool {
        let outside = |comment: &Range<usize>| {
            comment.end <= object.start || comment.start >= object.end || {
                comment.start >= member.value.start && comment.end <= member.value.end
            }
        };
        self.comments.iter().all(outside)
    }
}

/// Applies edits that do not overlap.
pub(super) fn replace_all(text: &str, mut edits: Vec<Edit>) -> String {
    // The sort is stable: insertions at one place keep their order.
    edits.sort_by_key(|(range, _)| range.start);
    let mut output = String::with_capacity(text.len());
    let mut at = 0;
    for (range, replacement) in edits {
        output.push_str(&text[at..range.start]);
        output.push_str(&replacement);
        at = range.end;
    }
    output.push_str(&text[at..]);
    output
}

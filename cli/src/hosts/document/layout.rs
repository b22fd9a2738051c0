//! Layout of the text: lines, indentation and trailing commas.

use std::ops::Range;

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

use super::Document;
use super::members::Member;

impl Document {
    pub(super) fn trailing_comma(&self, last: &Member, object: &Range<usize>) -> Option<usize> {
        let range = last.value.end..object.end;
        self.trailing_commas
            .iter()
            .copied()
            .find(|comma| range.contains(comma))
    }

    /// Returns the end of the line, if there is only space or a comment until there.
    pub(super) fn line_rest(&self, at: usize, end: usize) -> Option<usize> {
        let length = self.text[at..end].find('\n')?;
        let line_end = at + self.text[at..at + length].trim_end_matches('\r').len();
        let in_comment =
            |comment: &Range<usize>| comment.start < line_end && line_end < comment.end;
        let is_blank = self.json[at..line_end].trim().is_empty();
        (is_blank && !self.comments.iter().any(in_comment)).then_some(line_end)
    }

    pub(super) fn line_start(&self, at: usize) -> usize {
        self.text[..at]
            .rfind('\n')
            .map_or(0, |line_break| line_break + 1)
    }

    /// Returns whether there is only space before a place in its line.
    pub(super) fn starts_line(&self, at: usize) -> bool {
        self.text[self.line_start(at)..at].trim().is_empty()
    }

    /// Returns the space at the start of the line of a place.
    pub(super) fn indentation(&self, at: usize) -> &str {
        let line = &self.text[self.line_start(at)..at];
        let length = line.len() - line.trim_start_matches([' ', '\t']).len();
        &line[..length]
    }

    /// Returns the indentation of one level: that of the first member which starts a line.
    pub(super) fn indent_unit(&self) -> &str {
        let members = self
            .root()
            .map(|root| self.members(&root))
            .unwrap_or_default();
        let starts = members.iter().map(|member| member.key.start);
        let mut units = starts
            .filter(|at| self.starts_line(*at))
            .map(|at| self.indentation(at));
        units.find(|unit| !unit.is_empty()).unwrap_or("  ")
    }

    pub(super) fn line_break(&self) -> &'static str {
        if self.text.contains("\r\n") {
            "\r\n"
        } else {
            "\n"
        }
    }

    /// Returns whether the whole text is one line with members, as programs write it.
    pub(super) fn is_compact(&self) -> bool {
        !self.text.trim().contains('\n') && !self.value.is_empty()
    }

    /// Formats a value whose first line is already indented.
    pub(super) fn pretty(&self, value: &Value, indent: &str) -> String {
        let mut bytes = Vec::new();
        let formatter = PrettyFormatter::with_indent(self.indent_unit().as_bytes());
        let written = value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter));
        let text = match (written, String::from_utf8(bytes)) {
            (Ok(()), Ok(text)) => text,
            _ => value.to_string(),
        };
        text.replace('\n', &format!("{}{indent}", self.line_break()))
    }
}

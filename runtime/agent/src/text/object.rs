//! Incremental detection of the end of a JSON object, and its parser.

use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use treenail_schema::JsonObject;
use treenail_schema::internal::quoted;

/// Number of characters shown on each side of a syntax error.
const CONTEXT_CHARS: usize = 24;

/// Detects the end of an object in chunks of text.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    depth: u32,
    deepest: u32,
    in_string: bool,
    is_escaped: bool,
}

impl Scanner {
    /// Returns the number of bytes that belong to the object, if it ends in these.
    ///
    /// Only strings, escapes and brackets are examined; the parser validates the rest.
    pub(super) fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        bytes
            .iter()
            .position(|byte| self.is_end(*byte))
            .map(|at| at + 1)
    }

    fn is_end(&mut self, byte: u8) -> bool {
        if self.in_string {
            self.in_string = self.is_escaped || byte != b'"';
            self.is_escaped = !self.is_escaped && byte == b'\\';
            return false;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => {
                self.depth = self.depth.saturating_add(1);
                self.deepest = self.deepest.max(self.depth);
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                return self.depth == 0;
            }
            _ => {}
        }
        false
    }

    /// Maximum nesting depth so far.
    pub(super) fn deepest(&self) -> u32 {
        self.deepest
    }
}

/// Parses an object; the error contains the cause and position.
pub(super) fn parse_object(text: &str) -> Result<JsonObject, String> {
    serde_json::from_str(text)
        .map(|Object(object)| object)
        .map_err(|error| {
            let near = surrounding(text, error.line(), error.column());
            format!("{error}{near}")
        })
}

/// Object without duplicate names.
struct Object(JsonObject);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
        let mut object = JsonObject::new();
        while let Some((name, value)) = map.next_entry::<String, Value>()? {
            if object.contains_key(&name) {
                let name = quoted(&name);
                return Err(A::Error::custom(format!("duplicate argument {name}")));
            }
            object.insert(name, value);
        }
        Ok(Object(object))
    }
}

/// Returns the text around a position, for error messages.
fn surrounding(text: &str, line: usize, column: usize) -> String {
    let Some(line) = text.split('\n').nth(line.saturating_sub(1)) else {
        return String::new();
    };
    // The column is that of the last byte read.
    let mut at = column.min(line.len());
    while !line.is_char_boundary(at) {
        at -= 1;
    }
    let before = line[..at].char_indices().rev().take(CONTEXT_CHARS).last();
    let after = line[at..].char_indices().nth(CONTEXT_CHARS);
    let (start, end) = (
        before.map_or(0, |(start, _)| start),
        after.map_or(line.len(), |(end, _)| at + end),
    );
    let near = line[start..end].trim();
    if near.is_empty() {
        return String::new();
    }
    format!(", near {near}")
}

//! JSON with comments and trailing commas, edited as text so that everything else in a file stays as it is.

mod blank;
mod edit;
mod layout;
mod mask;
mod members;

use std::ops::Range;

use serde_json::{Map, Value};

use self::blank::blank;

/// Text of a configuration file, and the places in it.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    text: String,
    /// The text as strict JSON of the same length: comments and trailing commas are spaces. Empty if the text is.
    json: String,
    comments: Vec<Range<usize>>,
    trailing_commas: Vec<usize>,
    value: Map<String, Value>,
}

impl Document {
    /// Parses a text. The error has the position, and no part of the text, which may contain secrets.
    pub(crate) fn parse(text: impl Into<String>) -> Result<Self, String> {
        let text = text.into();
        let blanked = blank(&text)?;
        let json = blanked.json;
        let value = if json.trim().is_empty() {
            Map::new()
        } else {
            match serde_json::from_str(&json).map_err(|error| describe(&error))? {
                Value::Object(value) => value,
                _ => return Err("expected a JSON object".to_owned()),
            }
        };
        Ok(Self {
            text,
            json,
            comments: blanked.comments,
            trailing_commas: blanked.trailing_commas,
            value,
        })
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn value(&self) -> &Map<String, Value> {
        &self.value
    }
}

/// Describes a syntax error. Messages of `serde_json` end with the position and contain no values.
fn describe(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let end = text.rfind(" at line ").unwrap_or(text.len());
    format!(
        "line {}, column {}: {}",
        error.line(),
        error.column(),
        &text[..end]
    )
}

#[cfg(test)]
mod tests;

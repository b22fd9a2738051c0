//! What is wrong with the arguments of a call, told so that a model can repair it.

use std::fmt::Write;

use serde_json::{Map, Value};
use serde_path_to_error::Segment;

use crate::name::nearest;
use crate::wire::{quoted, shortened};

/// The longest value that is repeated in a message, in bytes of JSON.
const SHOWN: usize = 60;

/// The longest argument that is read once more to show what is wrong in it, in bytes of JSON.
const REREAD: usize = 64 * 1024;

/// How many unknown or repeated arguments of one call are told.
pub(crate) const TOLD: usize = 16;

/// One thing that is wrong with the arguments of a call.
#[derive(Debug)]
pub struct Problem {
    /// Where, as a JSON Pointer (RFC 6901) into the arguments.
    pointer: String,
    fault: Fault,
}

#[derive(Debug)]
pub(crate) enum Fault {
    Missing,
    Repeated,
    Unknown {
        nearest: Option<String>,
    },
    /// The value is not what the schema says.
    Wrong {
        value: String,
    },
    /// The value could not be read, for a reason that the schema may not tell.
    Unreadable {
        /// As it stands in a message, if it is known.
        value: Option<String>,
        reason: String,
    },
}

impl Fault {
    pub(crate) fn wrong(text: &str) -> Self {
        Self::Wrong { value: shown(text) }
    }
}

impl Problem {
    pub(crate) fn new(name: &str, fault: Fault) -> Self {
        let mut pointer = String::new();
        push_token(&mut pointer, name);
        Self { pointer, fault }
    }

    pub(crate) fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Self {
        let nearest = nearest(name, known).map(str::to_owned);
        Self::new(
            &name.chars().take(SHOWN).collect::<String>(),
            Fault::Unknown { nearest },
        )
    }

    pub(crate) fn located(
        name: &str,
        text: &str,
        error: &serde_path_to_error::Error<serde_json::Error>,
    ) -> Self {
        let mut inner = String::new();
        for segment in error.path() {
            match segment {
                Segment::Seq { index } => push_token(&mut inner, &index.to_string()),
                Segment::Map { key } => push_token(&mut inner, key),
                // The variant of an enum may or may not be a key; what follows decides nothing, so stop here.
                Segment::Enum { .. } | Segment::Unknown => break,
            }
        }
        // As a value, a text takes many times its length.
        let value = if text.len() <= REREAD {
            let value = serde_json::from_str::<Value>(text).ok();
            value.and_then(|value| Some(shown(&value.pointer(&inner)?.to_string())))
        } else {
            inner.is_empty().then(|| shown(text))
        };
        let reason = error.inner().to_string();
        let reason = reason.split(" at line ").next().unwrap_or_default();
        let reason = shortened(reason);
        let mut problem = Self::new(name, Fault::Unreadable { value, reason });
        problem.pointer.push_str(&inner);
        problem
    }

    fn describe(&self, input_schema: &Map<String, Value>) -> String {
        let expected = schema_at(input_schema, &self.pointer).and_then(expectation);
        match (&self.fault, expected) {
            (Fault::Missing, Some(expected)) => format!("missing; expected {expected}"),
            (Fault::Missing, None) => "missing".to_owned(),
            (Fault::Repeated, _) => "given twice; give it once".to_owned(),
            (
                Fault::Unknown {
                    nearest: Some(name),
                },
                _,
            ) => format!("unknown argument; did you mean `{name}`?"),
            (Fault::Unknown { nearest: None }, _) => {
                format!("unknown argument; known are {}", known(input_schema))
            }
            (Fault::Wrong { value }, Some(expected)) => format!("expected {expected}, got {value}"),
            (Fault::Wrong { value }, None) => format!("{value} is not allowed here"),
            (
                Fault::Unreadable {
                    value: Some(value),
                    reason,
                },
                Some(expected),
            ) if reason.starts_with("invalid ") => {
                format!("expected {expected}, got {value}")
            }
            (Fault::Unreadable { reason, .. }, _) => reason.clone(),
        }
    }
}

/// What is wrong with the arguments: `heading`, and a line for each problem.
pub(crate) fn report(
    heading: String,
    problems: &[Problem],
    input_schema: &Map<String, Value>,
) -> String {
    let mut text = heading;
    for problem in problems {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\n- {}: {}",
            shortened(&problem.pointer),
            problem.describe(input_schema)
        );
    }
    text
}

fn push_token(pointer: &mut String, token: &str) {
    pointer.push('/');
    pointer.push_str(&token.replace('~', "~0").replace('/', "~1"));
}

/// A value as it stands in a message: short, whole or cut.
pub(crate) fn shown(json: &str) -> String {
    let kind = match json.as_bytes().first() {
        Some(b'"') => "the string ",
        Some(b'{') => "the object ",
        Some(b'[') => "the array ",
        _ => "",
    };
    let mut end = json.len().min(SHOWN);
    while !json.is_char_boundary(end) {
        end -= 1;
    }
    let cut = if end < json.len() { "…" } else { "" };
    format!("{kind}{}{cut}", &json[..end])
}

fn known(input_schema: &Map<String, Value>) -> String {
    match input_schema.get("properties") {
        Some(Value::Object(properties)) => properties
            .keys()
            .map(|name| quoted(name))
            .collect::<Vec<_>>()
            .join(", "),
        _ => "none, it takes no arguments".to_owned(),
    }
}

/// The schema that a JSON Pointer into the value leads to.
fn schema_at<'a>(root: &'a Map<String, Value>, pointer: &str) -> Option<&'a Map<String, Value>> {
    let mut schema = root;
    for token in pointer.split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~");
        let next = match schema
            .get("properties")
            .and_then(|properties| properties.get(&token))
        {
            Some(property) => property,
            None => schema
                .get("items")
                .or_else(|| schema.get("additionalProperties"))?,
        };
        schema = next.as_object()?;
    }
    Some(schema)
}

/// A schema in words, where it says something that can be told in a few.
fn expectation(schema: &Map<String, Value>) -> Option<String> {
    if let Some(Value::Array(values)) = schema.get("enum") {
        let values: Vec<_> = values.iter().map(Value::to_string).collect();
        return Some(format!("one of {}", values.join(", ")));
    }
    let bound = |keyword: &str| schema.get(keyword).map(Value::to_string);
    let mut text = match schema.get("type")?.as_str()? {
        "integer" => "an integer",
        "number" => "a number",
        "string" => "a string",
        "boolean" => "true or false",
        "array" => "an array",
        "object" => "an object",
        "null" => "null",
        _ => return None,
    }
    .to_owned();
    let conditions = [
        ("minimum", "at least "),
        ("exclusiveMinimum", "more than "),
        ("maximum", "at most "),
        ("exclusiveMaximum", "less than "),
        ("minLength", "characters at least "),
        ("maxLength", "characters at most "),
        ("minItems", "items at least "),
        ("maxItems", "items at most "),
        ("format", "format "),
        ("pattern", "pattern "),
    ];
    let conditions: Vec<_> = conditions
        .iter()
        .filter_map(|(keyword, words)| Some(format!("{words}{}", bound(keyword)?)))
        .collect();
    if !conditions.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(text, " ({})", conditions.join(", "));
    }
    Some(text)
}

//! Problems with the arguments of a call, described so that a model can correct them.

mod reason;

use std::fmt::Write;

use serde_json::{Map, Value};
use serde_path_to_error::Segment;
use treenail_schema::internal::json_schema::{push_token, schema_at};

pub(crate) use self::reason::reason_of;
use self::reason::{adds_to, has_serde_form, json_reason};
use crate::function::schema_fit::{allows_type, fits_description};
use crate::function::schema_hint::{describe_schema, list_arguments};
use crate::naming::nearest;
use crate::wire::shortened;

/// Maximum length of a value in a message, in bytes of JSON.
const MAX_SHOWN_BYTES: usize = 60;

/// Maximum length of a value that is parsed again to describe its problem, in bytes of JSON.
const MAX_REPARSED_BYTES: usize = 64 * 1024;

/// Maximum number of unknown or repeated arguments that are reported for one call.
pub const MAX_REPORTED: usize = 16;

/// A problem with the arguments of a call.
#[derive(Debug)]
pub struct Problem {
    /// Location, as a JSON Pointer (RFC 6901) into the arguments.
    pointer: String,
    fault: Fault,
}

/// Kind of a problem.
#[derive(Debug)]
pub enum Fault {
    /// A required argument is missing.
    Missing,
    /// The argument is given twice.
    Repeated,
    /// There is no such argument.
    Unknown {
        /// The known argument with the most similar name, if one is similar.
        nearest: Option<String>,
    },
    /// The value violates the schema.
    Wrong {
        /// The value as it appears in a message.
        value: String,
    },
    /// The value cannot be deserialized, for a reason that the schema may not contain.
    Unreadable {
        /// The value, if it is known.
        value: Option<Value>,
        /// The reason, from the deserializer.
        reason: String,
    },
    /// The same, for a string, an array or an object that is not parsed again.
    Unparsed {
        /// The JSON type of the value.
        kind: &'static str,
        /// The value as it appears in a message.
        value: String,
        /// The reason, from the deserializer.
        reason: String,
    },
}

impl Fault {
    /// Returns the fault of a value, given as JSON, that violates its schema.
    pub fn wrong(text: &str) -> Self {
        Self::Wrong {
            value: truncated_json(text),
        }
    }
}

impl Problem {
    pub(crate) fn new(name: &str, fault: Fault) -> Self {
        let mut pointer = String::new();
        push_token(&mut pointer, name);
        Self { pointer, fault }
    }

    /// Creates a problem at any location in the arguments.
    pub fn at(pointer: String, fault: Fault) -> Self {
        Self { pointer, fault }
    }

    /// Removes the empty name of a flattened argument from the location.
    pub(crate) fn without_name(mut self) -> Self {
        self.pointer.remove(0);
        self
    }

    pub(crate) fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Self {
        let nearest = nearest(name, known).map(str::to_owned);
        Self::new(
            &name.chars().take(MAX_SHOWN_BYTES).collect::<String>(),
            Fault::Unknown { nearest },
        )
    }

    pub(crate) fn from_path_error(
        name: &str,
        text: &str,
        error: &serde_path_to_error::Error<serde_json::Error>,
    ) -> Self {
        let whole = short_value(text);
        let inner = pointer_of(error.path(), whole.as_ref());
        let reason = json_reason(error.inner());
        let fault = match json_type(text) {
            Some(kind) if whole.is_none() && inner.is_empty() => Fault::Unparsed {
                kind,
                value: truncated_json(text),
                reason,
            },
            _ => {
                let value = whole.and_then(|mut whole| whole.pointer_mut(&inner).map(Value::take));
                Fault::Unreadable { value, reason }
            }
        };
        let mut problem = Self::new(name, fault);
        problem.pointer.push_str(&inner);
        problem
    }

    /// Creates the problem of a value at `pointer` that cannot be deserialized.
    #[inline]
    pub(crate) fn located<E: std::fmt::Display>(
        pointer: &str,
        value: Option<&Value>,
        error: &serde_path_to_error::Error<E>,
    ) -> Self {
        let pointer = pointer.to_owned() + &pointer_of(error.path(), value);
        let (value, reason) = (None, reason_of(error.inner()));
        Self::at(pointer, Fault::Unreadable { value, reason })
    }

    /// Returns `true` if there is no such argument.
    #[cfg(feature = "dynamic")]
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self.fault, Fault::Unknown { .. })
    }

    fn describe(&self, arguments: &Value, input_schema: &Map<String, Value>) -> String {
        let schema = schema_at(input_schema, arguments, &self.pointer);
        let expected = schema.and_then(|schema| describe_schema(schema, input_schema));
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
                let parent = self
                    .pointer
                    .rsplit_once('/')
                    .map_or("", |(parent, _)| parent);
                let schema = schema_at(input_schema, arguments, parent);
                let known = list_arguments(schema.unwrap_or(input_schema));
                format!("unknown argument; known arguments: {known}")
            }
            (Fault::Wrong { value }, Some(expected)) => format!("expected {expected}, got {value}"),
            (Fault::Wrong { value }, None) => format!("{value} is not allowed here"),
            (
                Fault::Unreadable {
                    value: Some(value),
                    reason,
                },
                Some(expected),
            ) => {
                let fits = |schema| fits_description(value, schema, input_schema);
                let shown = truncated_json(&value.to_string());
                if has_serde_form(reason) && !schema.is_some_and(fits) {
                    format!("expected {expected}, got {shown}")
                } else if !has_serde_form(reason) && adds_to(&expected, value, reason) {
                    // The reason of a date or a URL rarely names the value or the format.
                    format!("expected {expected}, got {shown}: {reason}")
                } else {
                    // It is a wrong key, or violates a condition that the schema does not have.
                    reason.clone()
                }
            }
            (
                Fault::Unparsed {
                    kind,
                    value,
                    reason,
                },
                Some(expected),
            ) if has_serde_form(reason)
                && !schema.is_some_and(|schema| allows_type(kind, schema, input_schema)) =>
            {
                format!("expected {expected}, got {value}")
            }
            (Fault::Unreadable { reason, .. } | Fault::Unparsed { reason, .. }, _) => {
                reason.clone()
            }
        }
    }
}

/// Parses JSON for the description of a problem, if it is short or a string: parsed into a `Value`, other JSON takes many times its
/// length.
pub(crate) fn short_value(text: &str) -> Option<Value> {
    let is_short = text.len() <= MAX_REPARSED_BYTES || text.starts_with('"');
    is_short.then(|| serde_json::from_str(text).ok()).flatten()
}

/// Returns the location of an error in a value, as a JSON Pointer.
fn pointer_of(path: &serde_path_to_error::Path, value: Option<&Value>) -> String {
    let mut pointer = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => push_token(&mut pointer, &index.to_string()),
            Segment::Map { key } => push_token(&mut pointer, key),
            Segment::Enum { variant } => {
                // The variant is a key, unless a tag names it. Then the rest of the path is ambiguous.
                let parent = value.and_then(|value| value.pointer(&pointer));
                if parent.and_then(|parent| parent.get(variant)).is_none() {
                    break;
                }
                push_token(&mut pointer, variant);
            }
            Segment::Unknown => break,
        }
    }
    pointer
}

/// Formats the problems: `heading`, then one line for each. The arguments are null if they are unknown; they select among
/// the alternatives of the schema.
pub fn format_problems(
    heading: String,
    problems: &[Problem],
    arguments: &Value,
    input_schema: &Map<String, Value>,
) -> String {
    let mut text = heading;
    for problem in problems {
        // Writing to a string cannot fail.
        let place = match &*problem.pointer {
            "" => "the arguments".to_owned(),
            pointer => shortened(pointer),
        };
        let _ = write!(
            text,
            "\n- {place}: {}",
            problem.describe(arguments, input_schema)
        );
    }
    text
}

/// Formats a value for a message, truncated if it is long.
pub(crate) fn truncated_json(json: &str) -> String {
    let kind = json_type(json).map_or_else(String::new, |kind| format!("the {kind} "));
    let mut end = json.len().min(MAX_SHOWN_BYTES);
    while !json.is_char_boundary(end) {
        end -= 1;
    }
    let cut = if end < json.len() { "…" } else { "" };
    // Outside of strings, JSON has line ends: the value is a part of one line.
    let shown = json[..end].replace(['\n', '\r', '\t'], " ");
    format!("{kind}{shown}{cut}")
}

/// Returns the JSON type of a string, an array or an object.
fn json_type(json: &str) -> Option<&'static str> {
    match json.as_bytes().first()? {
        b'"' => Some("string"),
        b'{' => Some("object"),
        b'[' => Some("array"),
        _ => None,
    }
}

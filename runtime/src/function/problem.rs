//! What is wrong with the arguments of a call, told so that a model can repair it.

use std::fmt::Write;

use serde_json::{Map, Value};
use serde_path_to_error::Segment;

use crate::function::expected::{expectation, known, schema_at};
use crate::name::nearest;
use crate::wire::shortened;

/// The longest value that is repeated in a message, in bytes of JSON.
const SHOWN: usize = 60;

/// The longest argument that is read once more to show what is wrong in it, in bytes of JSON.
const REREAD: usize = 64 * 1024;

/// How many unknown or repeated arguments of one call are told.
pub const TOLD: usize = 16;

/// One thing that is wrong with the arguments of a call.
#[derive(Debug)]
pub struct Problem {
    /// Where, as a JSON Pointer (RFC 6901) into the arguments.
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
    /// The value is not what the schema says.
    Wrong {
        /// The value as it appears in a message.
        value: String,
    },
    /// The value could not be read, for a reason that the schema may not tell.
    Unreadable {
        /// As it stands in a message, if it is known.
        value: Option<String>,
        /// The reason, from the deserializer.
        reason: String,
    },
}

impl Fault {
    /// Returns the fault of a value, given as JSON, that its schema does not allow.
    pub fn wrong(text: &str) -> Self {
        Self::Wrong { value: shown(text) }
    }
}

impl Problem {
    pub(crate) fn new(name: &str, fault: Fault) -> Self {
        let mut pointer = String::new();
        push_token(&mut pointer, name);
        Self { pointer, fault }
    }

    /// A problem anywhere in the arguments.
    pub fn at(pointer: String, fault: Fault) -> Self {
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
        let expected = schema_at(input_schema, &self.pointer)
            .and_then(|schema| expectation(schema, input_schema));
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
                let known = known(schema_at(input_schema, parent).unwrap_or(input_schema));
                format!("unknown argument; known are {known}")
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
pub fn report(heading: String, problems: &[Problem], input_schema: &Map<String, Value>) -> String {
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

/// Appends a token to a JSON Pointer, escaped.
pub fn push_token(pointer: &mut String, token: &str) {
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

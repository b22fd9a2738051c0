//! What is wrong with a value, without the types of the library that found it.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, JsonTypeSet, ValidationError};
use serde_json::Value;

use crate::client::kept::validation::compile::words;

/// How many mistakes are told of a value, and of each branch of a choice, or a few more.
pub const MOST: usize = 256;

/// What came of validating a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It is what the schema says.
    Valid,
    /// It is not, for these reasons, of which there may be more than `MOST`.
    Wrong(Vec<Mistake>),
    /// It is not, and it is too large to tell why.
    TooLarge,
}

/// One thing that is wrong with a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Mistake {
    /// Where, as a JSON Pointer.
    pub pointer: String,
    /// Kind of the mistake.
    pub kind: Kind,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// The object there has no member of this name.
    Missing(String),
    /// The object there has a member of this name, and must not.
    Unknown(String),
    /// It has another type than one of these.
    Type(Vec<Wanted>),
    /// It is none of these values.
    Option(Vec<Value>),
    /// It does not hold to a bound or a pattern.
    Bounds,
    /// It fits none of several schemas, for these reasons each.
    Choice(Vec<Vec<Mistake>>),
    /// Something else, in words.
    Other(String),
}

/// A type that a schema wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// `null`.
    Null,
    /// `boolean`.
    Boolean,
    /// `integer`.
    Integer,
    /// `number`.
    Number,
    /// `string`.
    String,
    /// `array`.
    Array,
    /// `object`.
    Object,
}

/// What the library has found, in our words.
pub(super) fn mistakes<'a>(
    errors: impl IntoIterator<Item = &'a ValidationError<'a>>,
) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    for error in errors {
        let pointer = error.instance_path().as_str();
        let kinds = kinds(error).into_iter();
        mistakes.extend(kinds.map(|kind| Mistake {
            pointer: pointer.to_owned(),
            kind,
        }));
        if mistakes.len() > MOST {
            break;
        }
    }
    mistakes
}

fn kinds(error: &ValidationError<'_>) -> Vec<Kind> {
    use ValidationErrorKind as Found;

    vec![match error.kind() {
        Found::AdditionalProperties { unexpected }
        | Found::UnevaluatedProperties { unexpected } => {
            return unexpected.iter().cloned().map(Kind::Unknown).collect();
        }
        Found::Required {
            property: Value::String(name),
        } => Kind::Missing(name.clone()),
        Found::Type { kind } => Kind::Type(match kind {
            TypeKind::Single(only) => wanted(JsonTypeSet::from(*only)),
            TypeKind::Multiple(several) => wanted(*several),
        }),
        Found::Enum { options } => match &**options {
            Value::Array(options) => Kind::Option(options.clone()),
            _ => Kind::Other(words(error)),
        },
        Found::Constant { expected_value } => Kind::Option(vec![(**expected_value).clone()]),
        Found::AnyOf { context } | Found::OneOfNotValid { context } => {
            Kind::Choice(context.iter().map(mistakes).collect())
        }
        Found::Minimum { .. }
        | Found::Maximum { .. }
        | Found::ExclusiveMinimum { .. }
        | Found::ExclusiveMaximum { .. }
        | Found::MinLength { .. }
        | Found::MaxLength { .. }
        | Found::MinItems { .. }
        | Found::MaxItems { .. }
        | Found::Format { .. }
        | Found::Pattern { .. } => Kind::Bounds,
        _ => Kind::Other(words(error)),
    }]
}

fn wanted(types: JsonTypeSet) -> Vec<Wanted> {
    let wanted = |kind: JsonType| match kind {
        JsonType::Null => Wanted::Null,
        JsonType::Boolean => Wanted::Boolean,
        JsonType::Integer => Wanted::Integer,
        JsonType::Number => Wanted::Number,
        JsonType::String => Wanted::String,
        JsonType::Array => Wanted::Array,
        JsonType::Object => Wanted::Object,
    };
    types.iter().map(wanted).collect()
}

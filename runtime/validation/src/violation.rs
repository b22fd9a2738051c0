//! Schema violations of a value, independent of the types of the validation library.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, JsonTypeSet, ValidationError};
use serde_json::Value;

use crate::compile::describe_error;

/// Maximum number of violations that are reported of a value, and of each branch of a choice. The report may be
/// slightly longer, because one error of the library can contain several violations.
pub const MAX_VIOLATIONS: usize = 256;

/// Outcome of validating a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The value matches the schema.
    Valid,
    /// The value does not match, for these reasons. They may be incomplete if there are more than [`MAX_VIOLATIONS`].
    Invalid(Vec<Violation>),
    /// The value does not match, and is too large for a list of reasons.
    TooLarge,
}

/// One violation of a schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// Location in the value, as a JSON Pointer.
    pub pointer: String,
    /// Kind of the violation.
    pub kind: ViolationKind,
}

/// Kind of a violation.
#[derive(Clone, Debug, PartialEq)]
pub enum ViolationKind {
    /// The object lacks a member of this name.
    Missing(String),
    /// The object has a member of this name, which is not allowed.
    Unknown(String),
    /// The type is none of these.
    Type(Vec<ExpectedType>),
    /// The value is none of these.
    Option(Vec<Value>),
    /// The value violates a limit, a format or a pattern.
    Bounds,
    /// The value matches none of several schemas, with the reasons for each.
    Choice(Vec<Vec<Violation>>),
    /// Another violation, as text.
    Other(String),
}

/// Type that a schema expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedType {
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

/// Converts the errors of the library.
pub(crate) fn convert_errors<'a>(
    errors: impl IntoIterator<Item = &'a ValidationError<'a>>,
) -> Vec<Violation> {
    let mut violations = Vec::new();
    for error in errors {
        let pointer = error.instance_path().as_str();
        let kinds = violation_kinds(error).into_iter();
        violations.extend(kinds.map(|kind| Violation {
            pointer: pointer.to_owned(),
            kind,
        }));
        if violations.len() > MAX_VIOLATIONS {
            break;
        }
    }
    violations
}

fn violation_kinds(error: &ValidationError<'_>) -> Vec<ViolationKind> {
    use ValidationErrorKind as Found;

    vec![match error.kind() {
        Found::AdditionalProperties { unexpected }
        | Found::UnevaluatedProperties { unexpected } => {
            return unexpected
                .iter()
                .cloned()
                .map(ViolationKind::Unknown)
                .collect();
        }
        Found::Required {
            property: Value::String(name),
        } => ViolationKind::Missing(name.clone()),
        Found::Type { kind } => ViolationKind::Type(match kind {
            TypeKind::Single(only) => expected_types(JsonTypeSet::from(*only)),
            TypeKind::Multiple(several) => expected_types(*several),
        }),
        Found::Enum { options } => match &**options {
            Value::Array(options) => ViolationKind::Option(options.clone()),
            _ => ViolationKind::Other(describe_error(error)),
        },
        Found::Constant { expected_value } => {
            ViolationKind::Option(vec![(**expected_value).clone()])
        }
        Found::AnyOf { context } | Found::OneOfNotValid { context } => {
            ViolationKind::Choice(context.iter().map(convert_errors).collect())
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
        | Found::Pattern { .. } => ViolationKind::Bounds,
        _ => ViolationKind::Other(describe_error(error)),
    }]
}

fn expected_types(types: JsonTypeSet) -> Vec<ExpectedType> {
    let expected = |kind: JsonType| match kind {
        JsonType::Null => ExpectedType::Null,
        JsonType::Boolean => ExpectedType::Boolean,
        JsonType::Integer => ExpectedType::Integer,
        JsonType::Number => ExpectedType::Number,
        JsonType::String => ExpectedType::String,
        JsonType::Array => ExpectedType::Array,
        JsonType::Object => ExpectedType::Object,
    };
    types.iter().map(expected).collect()
}

//! Validation of form content against the schema of the form.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};

use treenail_schema::{
    ElicitSchema, ElicitValue, Number, NumberSchema, NumberSchemaType,
    PrimitiveSchemaDefinition as Kind, StringSchema,
};

use crate::form::describe::{describe_field, truncated_json};
use crate::form::error::{FieldError, FormError};
use crate::form::format;
use crate::form::options::{Choices, choices, count_bounds, deduplicate, parse_choices};

/// Validates the content of a form of which only the schema is known.
///
/// # Errors
///
/// Lists every field that does not match the schema.
#[inline]
pub fn check_content(
    schema: &ElicitSchema,
    content: &BTreeMap<String, ElicitValue>,
) -> Result<(), FormError> {
    parse_form_content(schema, content.clone()).map(drop)
}

/// Validates content like [`check_content`] and returns it in the form that the schema describes.
///
/// Missing fields get their defaults, a comma-separated string of choices becomes a list, and fields that are not in
/// the schema are dropped. To validate a single field, pass a schema with only that field.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use treenail::form::parse_form_content;
/// use treenail::schema::ElicitSchema;
///
/// let schema: ElicitSchema = serde_json::from_str(
///     r#"{"type": "object", "properties": {
///         "guests": {"type": "integer", "maximum": 12},
///         "nights": {"type": "integer", "default": 1}}}"#,
/// )?;
/// let entered = BTreeMap::from([("guests".to_owned(), 2_i64.into())]);
/// assert_eq!(parse_form_content(&schema, entered)?["nights"], 1_i64.into());
///
/// let error = parse_form_content(&schema, BTreeMap::from([("guests".to_owned(), 40_i64.into())]));
/// let error = error.unwrap_err();
/// assert_eq!(error.errors()[0].message(), "expected an integer (at most 12), got 40");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Lists every field that does not match the schema.
#[inline]
pub fn parse_form_content(
    schema: &ElicitSchema,
    mut content: BTreeMap<String, ElicitValue>,
) -> Result<BTreeMap<String, ElicitValue>, FormError> {
    let mut normalized = BTreeMap::new();
    let mut problems = Vec::new();
    let required_names = required_names(schema);
    for (name, definition) in schema.properties.iter() {
        let default = default_of(definition);
        let required = default.is_none() && required_names.contains(name);
        let value = match content.remove(name) {
            Some(value) => normalize(definition, value, required),
            None if required => Err(format!("missing; expected {}", describe_field(definition))),
            None => Ok(None),
        };
        match value {
            Ok(value) => normalized.extend(value.or(default).map(|value| (name.to_owned(), value))),
            Err(message) => problems.push(FieldError::new(name, message)),
        }
    }
    FormError::result_or_problems(problems, normalized)
}

/// Converts strings of choices to lists, as [`parse_form_content`] does, and leaves everything else. Returns `true` if that changed
/// the content.
#[inline]
pub(crate) fn parse_choice_lists(
    schema: &ElicitSchema,
    content: &mut BTreeMap<String, ElicitValue>,
) -> bool {
    let required_names = required_names(schema);
    let mut changed = false;
    for (name, definition) in schema.properties.iter() {
        if !choices(definition).is_some_and(|choices| choices.many) {
            continue;
        }
        let Some(text @ ElicitValue::String(_)) = content.get(name) else {
            continue;
        };
        match normalize(definition, text.clone(), required_names.contains(name)) {
            Ok(Some(list)) => drop(content.insert(name.to_owned(), list)),
            Ok(None) => drop(content.remove(name)),
            // The server that asked for it reports the error.
            Err(_) => continue,
        }
        changed = true;
    }
    changed
}

#[inline]
fn required_names(schema: &ElicitSchema) -> HashSet<&str> {
    let names = schema.required.iter().flatten();
    names.map(String::as_str).collect()
}

/// Checks that the form accepts its own defaults. The error names the field.
#[inline]
pub(crate) fn check_defaults(schema: &ElicitSchema) -> Result<(), String> {
    for (name, definition) in schema.properties.iter() {
        if let Some(default) = default_of(definition) {
            normalize(definition, default, false)
                .map_err(|reason| format!("the default of field `{name}` is invalid: {reason}"))?;
        }
    }
    Ok(())
}

/// Converts a value to the form that the schema describes, or explains why it is invalid.
///
/// Two habits of clients are accepted: an empty string for an optional field means no value, and a comma-separated
/// string of choices is a list, because some clients do not support multiple-choice fields.
#[inline]
pub(super) fn normalize(
    definition: &Kind,
    value: ElicitValue,
    required: bool,
) -> Result<Option<ElicitValue>, String> {
    let is_empty = matches!(&value, ElicitValue::String(text) if text.is_empty());
    let value = match (choices(definition), value) {
        (
            Some(Choices {
                many: true,
                options,
            }),
            ElicitValue::String(text),
        ) => parse_choices(&options, &text).map_or(ElicitValue::String(text), ElicitValue::Strings),
        (Some(Choices { many: true, .. }), ElicitValue::Strings(names)) => {
            ElicitValue::Strings(deduplicate(names))
        }
        (_, value) => value,
    };
    if fits(definition, &value) {
        Ok(Some(value))
    } else if is_empty && !required {
        Ok(None)
    } else {
        let expected = describe_field(definition);
        Err(format!(
            "expected {expected}, got {}",
            truncated_json(&value)
        ))
    }
}

#[inline]
fn fits(definition: &Kind, value: &ElicitValue) -> bool {
    match (definition, value) {
        (Kind::String(schema), ElicitValue::String(text)) => fits_text(schema, text),
        (Kind::Number(schema), ElicitValue::Number(number)) => fits_number(schema, number),
        (Kind::Boolean(_), ElicitValue::Boolean(_)) => true,
        (_, ElicitValue::String(name)) => {
            choices(definition).is_some_and(|choices| !choices.many && choices.has(name))
        }
        (_, ElicitValue::Strings(names)) => choices(definition).is_some_and(|choices| {
            let (minimum, maximum) = count_bounds(definition);
            choices.many
                && names.iter().all(|name| choices.has(name))
                && within(names.len(), minimum, maximum)
        }),
        _ => false,
    }
}

#[inline]
fn fits_text(schema: &StringSchema, text: &str) -> bool {
    within(text.chars().count(), schema.min_length, schema.max_length)
        && schema
            .format
            .is_none_or(|format| format::fits(format, text))
}

#[inline]
fn fits_number(schema: &NumberSchema, number: &Number) -> bool {
    let at_least = |bound: &Number| compare(number, bound) != Ordering::Less;
    let at_most = |bound: &Number| compare(number, bound) != Ordering::Greater;
    (schema.type_ == NumberSchemaType::Number || as_integer(number).is_some())
        && schema.minimum.as_ref().is_none_or(at_least)
        && schema.maximum.as_ref().is_none_or(at_most)
}

fn within(count: usize, minimum: Option<i64>, maximum: Option<i64>) -> bool {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    minimum.is_none_or(|minimum| count >= minimum) && maximum.is_none_or(|maximum| count <= maximum)
}

#[inline]
fn compare(one: &Number, other: &Number) -> Ordering {
    match (as_integer(one), as_integer(other)) {
        (Some(one), Some(other)) => one.cmp(&other),
        // JSON has no NaN.
        _ => one.as_f64().total_cmp(&other.as_f64()),
    }
}

/// Returns the number as an integer if it has no fractional part, so `1.0` counts as an integer.
pub(super) fn as_integer(number: &Number) -> Option<i128> {
    /// Largest magnitude up to which every integer is a distinct `f64` (2^53).
    const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;

    let integer = number.as_i64().map(i128::from);
    let integer = integer.or_else(|| number.as_u64().map(i128::from));
    let float = number.as_f64();
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the value has no fraction and is at most 2^53"
    )]
    let exact =
        || (float.fract() == 0.0 && float.abs() <= MAX_EXACT_INTEGER).then_some(float as i128);
    integer.or_else(exact)
}

fn default_of(definition: &Kind) -> Option<ElicitValue> {
    match definition {
        Kind::String(schema) => schema.default.clone().map(Into::into),
        Kind::Number(schema) => schema.default.clone().map(Into::into),
        Kind::Boolean(schema) => schema.default.map(Into::into),
        Kind::UntitledSingleSelectEnum(schema) => schema.default.clone().map(Into::into),
        Kind::TitledSingleSelectEnum(schema) => schema.default.clone().map(Into::into),
        Kind::LegacyTitledEnum(schema) => schema.default.clone().map(Into::into),
        Kind::UntitledMultiSelectEnum(schema) => schema.default.clone().map(Into::into),
        Kind::TitledMultiSelectEnum(schema) => schema.default.clone().map(Into::into),
        _ => None,
    }
}

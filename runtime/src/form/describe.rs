//! Descriptions of fields and values for messages to people.

use treenail_schema::{
    ElicitValue, NumberSchemaType, PrimitiveSchemaDefinition as Kind, StringSchemaFormat,
};

use crate::form::options::{choices, count_bounds};
use crate::function::argument_error;

/// Describes the valid values of a form field, for messages to the user.
///
/// ```
/// use treenail::form::describe_field;
/// use treenail::schema::PrimitiveSchemaDefinition;
///
/// let field: PrimitiveSchemaDefinition =
///     serde_json::from_str(r#"{"type": "integer", "minimum": 1, "maximum": 12}"#)?;
/// assert_eq!(describe_field(&field), "an integer (1 to 12)");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[cfg_attr(
    not(feature = "client"),
    expect(unreachable_pub, reason = "only the client exports it")
)]
#[inline]
pub fn describe_field(definition: &Kind) -> String {
    if let Some(choices) = choices(definition) {
        let names: Vec<_> = choices
            .options
            .iter()
            .map(|(name, _)| format!("`{name}`"))
            .collect();
        let (minimum, maximum) = count_bounds(definition);
        let many = if choices.many {
            "a list of some of"
        } else {
            "one of"
        };
        return format!(
            "{many} {}{}",
            names.join(", "),
            bounds(minimum, maximum, "")
        );
    }
    match definition {
        Kind::String(schema) => {
            let text = match schema.format {
                None => "a string",
                Some(StringSchemaFormat::Email) => "an e-mail address",
                Some(StringSchemaFormat::Uri) => "a URI",
                Some(StringSchemaFormat::Date) => "a date like 2026-07-28",
                Some(StringSchemaFormat::DateTime) => "a date and time like 2026-07-28T09:30:00Z",
                Some(_) => "a string in the required format",
            };
            let bounds = bounds(schema.min_length, schema.max_length, " characters");
            format!("{text}{bounds}")
        }
        Kind::Number(schema) => {
            let number = match schema.type_ {
                NumberSchemaType::Integer => "an integer",
                _ => "a number",
            };
            let bounds = bounds(schema.minimum.as_ref(), schema.maximum.as_ref(), "");
            format!("{number}{bounds}")
        }
        Kind::Boolean(_) => "true or false".to_owned(),
        _ => "something else".to_owned(),
    }
}

fn bounds<T: ToString>(minimum: Option<T>, maximum: Option<T>, unit: &str) -> String {
    let (minimum, maximum) = (
        minimum.map(|it| it.to_string()),
        maximum.map(|it| it.to_string()),
    );
    match (minimum, maximum) {
        (Some(minimum), Some(maximum)) if minimum == maximum => format!(" ({minimum}{unit})"),
        (Some(minimum), Some(maximum)) => format!(" ({minimum} to {maximum}{unit})"),
        (Some(minimum), None) => format!(" (at least {minimum}{unit})"),
        (None, Some(maximum)) => format!(" (at most {maximum}{unit})"),
        (None, None) => String::new(),
    }
}

/// Returns the JSON of a value for a message, truncated if it is long.
pub(super) fn truncated_json(value: &ElicitValue) -> String {
    argument_error::truncated_json(&serde_json::to_string(value).unwrap_or_default())
}

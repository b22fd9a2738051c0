//! Field of an elicitation form: its description, and parsing of its value.

use std::collections::BTreeMap;

use treenail::form::FieldError;
use treenail::form::{describe_field, parse_form_content};
use treenail::schema::{
    ElicitFields, ElicitSchema, ElicitValue, EnumOption, PrimitiveSchemaDefinition as Kind,
};

use crate::render::{sanitize_line, sanitize_text};

/// Field of a form.
pub(super) struct Field<'a> {
    pub(super) name: &'a str,
    pub(super) definition: &'a Kind,
    pub(super) is_required: bool,
}

impl<'a> Field<'a> {
    /// Returns the fields of a form in order.
    pub(super) fn from_schema(schema: &'a ElicitSchema) -> Vec<Self> {
        let required = schema.required.as_deref().unwrap_or_default();
        let fields = schema.properties.iter().map(|(name, definition)| Self {
            name,
            definition,
            is_required: required.iter().any(|it| it == name),
        });
        fields.collect()
    }

    /// Parses and validates entered text. The error is the message for the user.
    pub(super) fn parse(&self, texts: &[String]) -> Result<Option<ElicitValue>, String> {
        let value = match texts {
            [] => None,
            [text] => Some(parse_value(self.definition, text)),
            several => Some(ElicitValue::Strings(several.to_vec())),
        };
        let mut schema = ElicitSchema::default();
        let fields = [(self.name.to_owned(), self.definition.clone())];
        schema.properties = ElicitFields::from(fields);
        schema.required = self.is_required.then(|| vec![self.name.to_owned()]);
        let entered = value.map(|value| (self.name.to_owned(), value));
        let entered: BTreeMap<_, _> = entered.into_iter().collect();
        let mut content = parse_form_content(&schema, entered).map_err(|error| {
            let messages = error.errors().iter().map(FieldError::message);
            messages.collect::<Vec<_>>().join("; ")
        })?;
        Ok(content.remove(self.name))
    }

    /// Returns the value of the field if nothing is entered.
    pub(super) fn default_value(&self) -> Option<ElicitValue> {
        let optional = Field {
            is_required: false,
            ..*self
        };
        optional.parse(&[]).ok().flatten()
    }

    /// Describes the field: its name, purpose and accepted values.
    pub(super) fn describe(&self) -> String {
        let definition = serde_json::to_value(self.definition).unwrap_or_default();
        let text = |key: &str| definition.get(key).and_then(|it| it.as_str());
        let name = sanitize_line(self.name);
        let mut lines = vec![match text("title") {
            Some(title) if title != self.name => format!("{} ({name})", sanitize_line(title)),
            _ => name,
        }];
        if let Some(description) = text("description") {
            lines.extend(
                sanitize_text(description.trim())
                    .lines()
                    .map(|line| format!("  {line}")),
            );
        }
        let options = options_of(self.definition);
        for (number, (name, title)) in (1..).zip(&options) {
            let (name, title) = (sanitize_line(name), sanitize_line(title));
            lines.push(if name == title {
                format!("  {number}  {name}")
            } else {
                format!("  {number}  {title} ({name})")
            });
        }
        let expected = match (options.is_empty(), is_multi_select(self.definition)) {
            (true, _) => sanitize_line(&describe_field(self.definition)),
            (false, false) => "enter a number or a name".to_owned(),
            (false, true) => "enter numbers or names, separated by commas".to_owned(),
        };
        lines.push(if self.is_required || self.default_value().is_some() {
            format!("  {expected}")
        } else {
            format!("  {expected}; optional")
        });
        lines.join("\n")
    }
}

/// Formats a value for people.
pub(super) fn format_value(value: &ElicitValue) -> String {
    match value {
        ElicitValue::String(text) => sanitize_line(text),
        ElicitValue::Strings(texts) => sanitize_line(&texts.join(", ")),
        ElicitValue::Boolean(true) => "yes".to_owned(),
        ElicitValue::Boolean(false) => "no".to_owned(),
        ElicitValue::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

/// Converts text to the type of the field. Text that does not match stays a string, which validation then rejects.
fn parse_value(definition: &Kind, text: &str) -> ElicitValue {
    let options = options_of(definition);
    match definition {
        Kind::Number(_) => match serde_json::from_str::<serde_json::Number>(text) {
            Ok(number) => treenail::schema::Number::from(number).into(),
            Err(_) => text.into(),
        },
        Kind::Boolean(_) => match text.to_lowercase().as_str() {
            "y" | "yes" | "true" => true.into(),
            "n" | "no" | "false" => false.into(),
            _ => text.into(),
        },
        _ if options.is_empty() => text.into(),
        _ if is_multi_select(definition) => {
            let parts = text
                .split(',')
                .map(str::trim)
                .filter(|part| !part.is_empty());
            let names = parts.map(|part| find_option(&options, part));
            match names.collect::<Option<Vec<_>>>() {
                Some(names) => ElicitValue::Strings(names),
                // A name may contain a comma.
                None => text.into(),
            }
        }
        _ => find_option(&options, text).map_or_else(|| text.into(), Into::into),
    }
}

/// Finds a choice by its name, title or number.
fn find_option(options: &[(&str, &str)], text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let exact = options.iter().find(|(name, _)| *name == text);
    let ignoring_case = || {
        let mut options = options.iter();
        options.find(|(name, title)| [name, title].iter().any(|it| it.to_lowercase() == lower))
    };
    let by_number = || {
        let number: usize = text.parse().ok()?;
        options.get(number.checked_sub(1)?)
    };
    let (name, _) = exact.or_else(ignoring_case).or_else(by_number)?;
    Some((*name).to_owned())
}

fn is_multi_select(definition: &Kind) -> bool {
    matches!(
        definition,
        Kind::UntitledMultiSelectEnum(_) | Kind::TitledMultiSelectEnum(_)
    )
}

/// Returns the name and title of each choice; empty if the field has no choices.
fn options_of(definition: &Kind) -> Vec<(&str, &str)> {
    fn plain(names: &[String]) -> Vec<(&str, &str)> {
        names.iter().map(|name| (&**name, &**name)).collect()
    }
    fn titled(options: &[EnumOption]) -> Vec<(&str, &str)> {
        options.iter().map(|it| (&*it.const_, &*it.title)).collect()
    }

    match definition {
        Kind::UntitledSingleSelectEnum(schema) => plain(&schema.enum_),
        Kind::TitledSingleSelectEnum(schema) => titled(&schema.one_of),
        Kind::UntitledMultiSelectEnum(schema) => plain(&schema.items.enum_),
        Kind::TitledMultiSelectEnum(schema) => titled(&schema.items.any_of),
        Kind::LegacyTitledEnum(schema) => {
            let titles = schema.enum_names.as_deref().unwrap_or_default();
            let names = schema.enum_.iter().enumerate();
            let pairs = names.map(|(index, name)| (&**name, titles.get(index).unwrap_or(name)));
            pairs.map(|(name, title)| (name, title.as_str())).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(definition: &str, texts: &[&str], expected: Result<Option<ElicitValue>, &str>) {
        let definition: Kind = serde_json::from_str(definition).unwrap();
        let field = Field {
            name: "field",
            definition: &definition,
            is_required: true,
        };
        let texts: Vec<_> = texts.iter().map(|text| (*text).to_owned()).collect();
        let expected = expected.map_err(str::to_owned);
        assert_eq!(field.parse(&texts), expected, "{texts:?}");
    }

    #[test]
    fn entries_are_converted_to_the_type_of_the_field() {
        let room = r#"{"type": "string", "oneOf": [
            {"const": "single", "title": "Single room"}, {"const": "3", "title": "Suite"}]}"#;
        let extras = r#"{"type": "array", "items": {"enum": ["Sauna", "Bed, large"]}}"#;
        let strings = |texts: &[&str]| {
            let texts: Vec<_> = texts.iter().map(|text| (*text).to_owned()).collect();
            Ok(Some(ElicitValue::Strings(texts)))
        };
        check(r#"{"type": "string"}"#, &["7"], Ok(Some("7".into())));
        check(r#"{"type": "integer"}"#, &["7"], Ok(Some(7_i64.into())));
        check(
            r#"{"type": "integer", "maximum": 5}"#,
            &["seven"],
            Err("expected an integer (at most 5), got the string \"seven\""),
        );
        check(r#"{"type": "boolean"}"#, &["No"], Ok(Some(false.into())));
        check(room, &["1"], Ok(Some("single".into())));
        check(room, &["suite"], Ok(Some("3".into())));
        check(room, &["3"], Ok(Some("3".into())));
        check(extras, &["1, 2"], strings(&["Sauna", "Bed, large"]));
        check(
            extras,
            &["bed, large, sauna"],
            strings(&["Bed, large", "Sauna"]),
        );
        check(
            extras,
            &["Sauna", "Bed, large"],
            strings(&["Sauna", "Bed, large"]),
        );
        check(
            r#"{"type": "integer", "default": 2}"#,
            &[],
            Ok(Some(2_i64.into())),
        );
        check(
            r#"{"type": "boolean"}"#,
            &[],
            Err("missing; expected true or false"),
        );
    }
}

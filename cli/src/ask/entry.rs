//! One field of a form: what can be entered, and what was.

use std::collections::BTreeMap;

use treenail::FieldError;
use treenail::client::{expected, parse_form_content};
use treenail::schema::{
    ElicitFields, ElicitSchema, ElicitValue, EnumOption, PrimitiveSchemaDefinition as Kind,
};

use crate::show::{clean, clean_line};

/// One field of a form.
pub(super) struct Field<'a> {
    pub(super) name: &'a str,
    pub(super) definition: &'a Kind,
    pub(super) is_required: bool,
}

impl<'a> Field<'a> {
    /// The fields of a form, in its order.
    pub(super) fn all(schema: &'a ElicitSchema) -> Vec<Self> {
        let required = schema.required.as_deref().unwrap_or_default();
        let fields = schema.properties.iter().map(|(name, definition)| Self {
            name,
            definition,
            is_required: required.iter().any(|it| it == name),
        });
        fields.collect()
    }

    /// What was entered, as the form wants it, or what is wrong with it.
    pub(super) fn read(&self, texts: &[String]) -> Result<Option<ElicitValue>, String> {
        let value = match texts {
            [] => None,
            [text] => Some(value_of(self.definition, text)),
            several => Some(ElicitValue::Strings(several.to_vec())),
        };
        let mut schema = ElicitSchema::default();
        let fields = [(self.name.to_owned(), self.definition.clone())];
        schema.properties = ElicitFields::from(fields);
        schema.required = self.is_required.then(|| vec![self.name.to_owned()]);
        let entered = value.map(|value| (self.name.to_owned(), value));
        let entered: BTreeMap<_, _> = entered.into_iter().collect();
        let mut content = parse_form_content(&schema, entered).map_err(|error| {
            let messages = error.problems().iter().map(FieldError::message);
            messages.collect::<Vec<_>>().join("; ")
        })?;
        Ok(content.remove(self.name))
    }

    /// The value that the field has when nothing is entered.
    pub(super) fn default(&self) -> Option<ElicitValue> {
        let optional = Field {
            is_required: false,
            ..*self
        };
        optional.read(&[]).ok().flatten()
    }

    /// The field in words: its name, what it is for, what can be entered.
    pub(super) fn describe(&self) -> String {
        let definition = serde_json::to_value(self.definition).unwrap_or_default();
        let text = |key: &str| definition.get(key).and_then(|it| it.as_str());
        let name = clean_line(self.name);
        let mut lines = vec![match text("title") {
            Some(title) if title != self.name => format!("{} ({name})", clean_line(title)),
            _ => name,
        }];
        if let Some(description) = text("description") {
            lines.extend(
                clean(description.trim())
                    .lines()
                    .map(|line| format!("  {line}")),
            );
        }
        let options = options(self.definition);
        for (number, (name, title)) in (1..).zip(&options) {
            let (name, title) = (clean_line(name), clean_line(title));
            lines.push(if name == title {
                format!("  {number}  {name}")
            } else {
                format!("  {number}  {title} ({name})")
            });
        }
        let expected = match (options.is_empty(), takes_many(self.definition)) {
            (true, _) => clean_line(&expected(self.definition)),
            (false, false) => "a number or a name".to_owned(),
            (false, true) => "numbers or names, with commas between them".to_owned(),
        };
        lines.push(if self.is_required || self.default().is_some() {
            format!("  {expected}")
        } else {
            format!("  {expected}; may be left empty")
        });
        lines.join("\n")
    }
}

/// A value in words.
pub(super) fn told(value: &ElicitValue) -> String {
    match value {
        ElicitValue::String(text) => clean_line(text),
        ElicitValue::Strings(texts) => clean_line(&texts.join(", ")),
        ElicitValue::Boolean(true) => "yes".to_owned(),
        ElicitValue::Boolean(false) => "no".to_owned(),
        ElicitValue::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

/// What a text means in a field. One that means nothing stays a text, which the field refuses in its own words.
fn value_of(definition: &Kind, text: &str) -> ElicitValue {
    let options = options(definition);
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
        _ if takes_many(definition) => {
            let parts = text
                .split(',')
                .map(str::trim)
                .filter(|part| !part.is_empty());
            let names = parts.map(|part| chosen(&options, part));
            match names.collect::<Option<Vec<_>>>() {
                Some(names) => ElicitValue::Strings(names),
                // Names may have commas themselves.
                None => text.into(),
            }
        }
        _ => chosen(&options, text).map_or_else(|| text.into(), Into::into),
    }
}

/// The choice that is meant: by its name, its title, or its number.
fn chosen(options: &[(&str, &str)], text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let exact = options.iter().find(|(name, _)| *name == text);
    let alike = || {
        let mut options = options.iter();
        options.find(|(name, title)| [name, title].iter().any(|it| it.to_lowercase() == lower))
    };
    let counted = || {
        let number: usize = text.parse().ok()?;
        options.get(number.checked_sub(1)?)
    };
    let (name, _) = exact.or_else(alike).or_else(counted)?;
    Some((*name).to_owned())
}

fn takes_many(definition: &Kind) -> bool {
    matches!(
        definition,
        Kind::UntitledMultiSelectEnum(_) | Kind::TitledMultiSelectEnum(_)
    )
}

/// The name and the title of each choice; none in a field that is no choice.
fn options(definition: &Kind) -> Vec<(&str, &str)> {
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
        assert_eq!(field.read(&texts), expected, "{texts:?}");
    }

    #[test]
    fn entries_are_read_as_the_form_wants_them() {
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

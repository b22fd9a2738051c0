//! Forms for older peers.

use treenail_schema::{
    ElicitSchema, EnumOption, LegacyTitledEnumSchema, PrimitiveSchemaDefinition as Kind, Revision,
    StringSchema, TitledSingleSelectEnumSchema,
};

use crate::form::options::{choices, counts};

/// The form as a peer of `revision` may be told of it.
///
/// 2025-06-18, the first revision with forms, has defaults for yes-or-no fields only: the others are told in the
/// description. It has no lists of choices: such a field becomes a text whose description names them, and what
/// is written there is understood. Titles of choices stand in a list of their own.
pub fn speak_form(mut schema: ElicitSchema, revision: Revision) -> ElicitSchema {
    if revision >= Revision::V2025_11_25 {
        return schema;
    }
    schema.schema = None;
    for (_, field) in schema.properties.iter_mut() {
        speak_field(field);
    }
    schema
}

fn speak_field(field: &mut Kind) {
    match field {
        Kind::String(text) => tell_default(&mut text.description, text.default.take()),
        Kind::Number(number) => {
            let default = number.default.take().map(|default| default.to_string());
            tell_default(&mut number.description, default);
        }
        Kind::UntitledSingleSelectEnum(choice) => {
            tell_default(&mut choice.description, choice.default.take());
        }
        Kind::LegacyTitledEnum(choice) => {
            tell_default(&mut choice.description, choice.default.take());
        }
        Kind::TitledSingleSelectEnum(choice) => *field = names_and_titles(choice).into(),
        Kind::UntitledMultiSelectEnum(_) | Kind::TitledMultiSelectEnum(_) => {
            *field = text_of_choices(field).into();
        }
        _ => {}
    }
}

/// The same choice, with the titles in a list of their own.
fn names_and_titles(choice: &TitledSingleSelectEnumSchema) -> LegacyTitledEnumSchema {
    let options = choice.one_of.iter();
    let (names, titles): (Vec<_>, Vec<_>) = options
        .map(|option| (option.const_.clone(), option.title.clone()))
        .unzip();
    let chosen = |option: &&EnumOption| Some(&option.const_) == choice.default.as_ref();
    let default = choice.one_of.iter().find(chosen);
    let mut spoken = LegacyTitledEnumSchema::new(names).with_enum_names(titles);
    spoken.title.clone_from(&choice.title);
    spoken.description.clone_from(&choice.description);
    let default = default.map(|option| option.title.clone());
    tell_default(&mut spoken.description, default);
    spoken
}

/// A text in which choices can be listed.
fn text_of_choices(field: &Kind) -> StringSchema {
    let options = choices(field).map(|choices| choices.options);
    let options = options.unwrap_or_default();
    let (title, description, default) = match field {
        Kind::UntitledMultiSelectEnum(field) => (&field.title, &field.description, &field.default),
        Kind::TitledMultiSelectEnum(field) => (&field.title, &field.description, &field.default),
        _ => (&None, &None, &None),
    };
    let mut text = StringSchema::new();
    text.title.clone_from(title);
    text.description.clone_from(description);
    let titles: Vec<_> = options.iter().map(|(_, title)| *title).collect();
    let count = count(counts(field));
    let list = format!("{count} {}, separated by commas", titles.join(", "));
    tell(&mut text.description, &list);
    let starts = |name: &str| default.iter().flatten().any(|it| it == name);
    let starts: Vec<_> = options
        .iter()
        .filter(|(name, _)| starts(name))
        .map(|(_, title)| *title)
        .collect();
    tell_default(&mut text.description, Some(starts.join(", ")));
    text
}

fn count((minimum, maximum): (Option<i64>, Option<i64>)) -> String {
    match (minimum.filter(|minimum| *minimum > 0), maximum) {
        (Some(minimum), Some(maximum)) if minimum == maximum => format!("{minimum} of"),
        (Some(minimum), Some(maximum)) => format!("{minimum} to {maximum} of"),
        (Some(minimum), None) => format!("at least {minimum} of"),
        (None, Some(maximum)) => format!("up to {maximum} of"),
        (None, None) => "any of".to_owned(),
    }
}

fn tell_default(description: &mut Option<String>, default: Option<String>) {
    if let Some(default) = default.filter(|default| !default.is_empty()) {
        tell(description, &format!("default: {default}"));
    }
}

/// Adds a note to a description.
fn tell(description: &mut Option<String>, note: &str) {
    *description = Some(match description {
        Some(description) => format!("{description} ({note})"),
        None => note.to_owned(),
    });
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    fn check(field: &Value, older: &Value) {
        let form = json!({"$schema": "a", "type": "object", "properties": {"a": field}});
        let form: ElicitSchema = serde_json::from_value(form).unwrap();
        for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
            assert_eq!(speak_form(form.clone(), revision), form);
        }
        let spoken = serde_json::to_value(speak_form(form, Revision::V2025_06_18)).unwrap();
        assert_eq!(
            spoken,
            json!({"type": "object", "properties": {"a": older}})
        );
    }

    #[test]
    fn defaults_become_notes() {
        let boolean = json!({"type": "boolean", "title": "A", "default": true});
        check(&boolean, &boolean);
        check(
            &json!({"type": "string", "description": "A", "default": "b"}),
            &json!({"type": "string", "description": "A (default: b)"}),
        );
        check(
            &json!({"type": "string", "default": ""}),
            &json!({"type": "string"}),
        );
        check(
            &json!({"type": "string", "enum": ["b"], "default": "b"}),
            &json!({"type": "string", "enum": ["b"], "description": "default: b"}),
        );
        check(
            &json!({"type": "string", "enum": ["b"], "enumNames": ["B"], "default": "b"}),
            &json!({"type": "string", "enum": ["b"], "enumNames": ["B"], "description": "default: b"}),
        );
    }

    #[test]
    fn lists_of_choices_become_texts() {
        let items = json!({"type": "string", "enum": ["b", "c"]});
        for (bounds, words) in [
            (json!({}), "any of b, c, separated by commas"),
            (json!({"minItems": 0}), "any of b, c, separated by commas"),
            (
                json!({"minItems": 1}),
                "at least 1 of b, c, separated by commas",
            ),
            (
                json!({"maxItems": 2}),
                "up to 2 of b, c, separated by commas",
            ),
            (
                json!({"minItems": 2, "maxItems": 2}),
                "2 of b, c, separated by commas",
            ),
        ] {
            let mut field = json!({"type": "array", "title": "A", "items": items});
            for (keyword, bound) in bounds.as_object().unwrap() {
                field[keyword] = bound.clone();
            }
            check(
                &field,
                &json!({"type": "string", "title": "A", "description": words}),
            );
        }
    }
}

//! Conversion of forms for peers of older protocol revisions.

use treenail_schema::{
    ElicitSchema, EnumOption, LegacyTitledEnumSchema, PrimitiveSchemaDefinition as Kind, Revision,
    StringSchema, TitledSingleSelectEnumSchema,
};

use crate::form::options::{choices, count_bounds};

/// Converts a form to the schema that `revision` supports.
///
/// 2025-06-18, the first revision with forms, supports defaults for boolean fields only; other defaults are appended to
/// the description. It has no multiple-choice fields: such a field becomes a string whose description lists the
/// choices, and the comma-separated answer is parsed. Titles of choices are in a separate list.
#[inline]
pub fn downgrade_form(mut schema: ElicitSchema, revision: Revision) -> ElicitSchema {
    if revision >= Revision::V2025_11_25 {
        return schema;
    }
    schema.schema = None;
    for (_, field) in schema.properties.iter_mut() {
        downgrade_field(field);
    }
    schema
}

#[inline]
fn downgrade_field(field: &mut Kind) {
    match field {
        Kind::String(text) => add_default_note(&mut text.description, text.default.take()),
        Kind::Number(number) => {
            let default = number.default.take().map(|default| default.to_string());
            add_default_note(&mut number.description, default);
        }
        Kind::UntitledSingleSelectEnum(choice) => {
            add_default_note(&mut choice.description, choice.default.take());
        }
        Kind::LegacyTitledEnum(choice) => {
            add_default_note(&mut choice.description, choice.default.take());
        }
        Kind::TitledSingleSelectEnum(choice) => *field = to_legacy_choice(choice).into(),
        Kind::UntitledMultiSelectEnum(_) | Kind::TitledMultiSelectEnum(_) => {
            *field = multiple_choice_to_string(field).into();
        }
        _ => {}
    }
}

/// Converts a choice to the older schema, with its titles in a separate list.
#[inline]
fn to_legacy_choice(choice: &TitledSingleSelectEnumSchema) -> LegacyTitledEnumSchema {
    let options = choice.one_of.iter();
    let (names, titles): (Vec<_>, Vec<_>) = options
        .map(|option| (option.const_.clone(), option.title.clone()))
        .unzip();
    let chosen = |option: &&EnumOption| Some(&option.const_) == choice.default.as_ref();
    let default = choice.one_of.iter().find(chosen);
    let mut converted = LegacyTitledEnumSchema::new(names).with_enum_names(titles);
    converted.title.clone_from(&choice.title);
    converted.description.clone_from(&choice.description);
    let default = default.map(|option| option.title.clone());
    add_default_note(&mut converted.description, default);
    converted
}

/// Converts a multiple-choice field to a string field.
#[inline]
fn multiple_choice_to_string(field: &Kind) -> StringSchema {
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
    let count = count(count_bounds(field));
    let list = format!("{count} {}, separated by commas", titles.join(", "));
    add_note(&mut text.description, &list);
    let starts = |name: &str| default.iter().flatten().any(|it| it == name);
    let starts: Vec<_> = options
        .iter()
        .filter(|(name, _)| starts(name))
        .map(|(_, title)| *title)
        .collect();
    add_default_note(&mut text.description, Some(starts.join(", ")));
    text
}

#[inline]
fn count((minimum, maximum): (Option<i64>, Option<i64>)) -> String {
    match (minimum.filter(|minimum| *minimum > 0), maximum) {
        (Some(minimum), Some(maximum)) if minimum == maximum => format!("{minimum} of"),
        (Some(minimum), Some(maximum)) => format!("{minimum} to {maximum} of"),
        (Some(minimum), None) => format!("at least {minimum} of"),
        (None, Some(maximum)) => format!("up to {maximum} of"),
        (None, None) => "any of".to_owned(),
    }
}

#[inline]
fn add_default_note(description: &mut Option<String>, default: Option<String>) {
    if let Some(default) = default.filter(|default| !default.is_empty()) {
        add_note(description, &format!("default: {default}"));
    }
}

/// Appends a note to a description.
fn add_note(description: &mut Option<String>, note: &str) {
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
            assert_eq!(downgrade_form(form.clone(), revision), form);
        }
        let converted = serde_json::to_value(downgrade_form(form, Revision::V2025_06_18)).unwrap();
        assert_eq!(
            converted,
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

//! The choices that a field offers, in whichever way its schema tells them.

use std::collections::BTreeSet;

use treenail_schema::{EnumOption, PrimitiveSchemaDefinition as Kind};

/// What can be chosen in a field.
pub(super) struct Choices<'a> {
    pub(super) many: bool,
    /// The name and the title of each.
    pub(super) options: Vec<(&'a str, &'a str)>,
}

impl Choices<'_> {
    pub(super) fn has(&self, name: &str) -> bool {
        self.options.iter().any(|(known, _)| *known == name)
    }
}

/// What can be chosen in a field, if it is a choice.
pub(super) fn choices(definition: &Kind) -> Option<Choices<'_>> {
    fn plain(names: &[String]) -> Vec<(&str, &str)> {
        names
            .iter()
            .map(|name| (name.as_str(), name.as_str()))
            .collect()
    }
    fn titled(options: &[EnumOption]) -> Vec<(&str, &str)> {
        let pairs = options
            .iter()
            .map(|option| (&*option.const_, &*option.title));
        pairs.collect()
    }

    let (many, options) = match definition {
        Kind::UntitledSingleSelectEnum(schema) => (false, plain(&schema.enum_)),
        Kind::TitledSingleSelectEnum(schema) => (false, titled(&schema.one_of)),
        Kind::LegacyTitledEnum(schema) => (false, plain(&schema.enum_)),
        Kind::UntitledMultiSelectEnum(schema) => (true, plain(&schema.items.enum_)),
        Kind::TitledMultiSelectEnum(schema) => (true, titled(&schema.items.any_of)),
        _ => return None,
    };
    Some(Choices { many, options })
}

/// The smallest and the largest number of choices.
pub(super) fn counts(definition: &Kind) -> (Option<i64>, Option<i64>) {
    match definition {
        Kind::UntitledMultiSelectEnum(schema) => (schema.min_items, schema.max_items),
        Kind::TitledMultiSelectEnum(schema) => (schema.min_items, schema.max_items),
        _ => (None, None),
    }
}

/// The names of the choices that a text lists, with commas between them; case aside, by their names or their titles.
///
/// A name or title may have commas itself, so at each place the longest that fits is taken.
pub(super) fn chosen(options: &[(&str, &str)], text: &str) -> Option<Vec<String>> {
    let separator = |c: char| c == ',' || c.is_whitespace();
    let mut names = Vec::new();
    let mut rest = text.trim_matches(separator);
    while !rest.is_empty() {
        let fitting = options
            .iter()
            .flat_map(|(name, title)| [(name, name), (title, name)]);
        let fitting = fitting.filter_map(|(word, name)| Some((after(rest, word)?, name)));
        // Of two as long the first is taken: names stand before titles.
        let (after, name) = fitting.min_by_key(|(after, _)| after.len())?;
        names.push((**name).to_owned());
        rest = after.trim_start_matches(separator);
    }
    Some(distinct(names))
}

/// What follows `word` in `text`, if `text` begins with it and a comma or the end comes next.
fn after<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(word.len())?;
    let ends = rest.trim_start();
    let alike = start == word || start.to_lowercase() == word.to_lowercase();
    (alike && !word.is_empty() && (ends.is_empty() || ends.starts_with(','))).then_some(ends)
}

/// Each name once: to choose something twice is to choose it.
pub(super) fn distinct(mut names: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names
}

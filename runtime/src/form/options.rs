//! The choices of a field, extracted from any of the schemas that can describe them.

use std::collections::BTreeSet;

use treenail_schema::{EnumOption, PrimitiveSchemaDefinition as Kind};

/// The choices of a field.
pub(super) struct Choices<'a> {
    pub(super) many: bool,
    /// Name and title of each choice.
    pub(super) options: Vec<(&'a str, &'a str)>,
}

impl Choices<'_> {
    pub(super) fn has(&self, name: &str) -> bool {
        self.options.iter().any(|(known, _)| *known == name)
    }
}

/// Returns the choices of a field, or `None` if the field is not a choice.
#[inline]
pub(super) fn choices(definition: &Kind) -> Option<Choices<'_>> {
    #[inline]
    fn plain(names: &[String]) -> Vec<(&str, &str)> {
        names
            .iter()
            .map(|name| (name.as_str(), name.as_str()))
            .collect()
    }
    #[inline]
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

/// Returns the minimum and maximum number of choices.
pub(super) fn count_bounds(definition: &Kind) -> (Option<i64>, Option<i64>) {
    match definition {
        Kind::UntitledMultiSelectEnum(schema) => (schema.min_items, schema.max_items),
        Kind::TitledMultiSelectEnum(schema) => (schema.min_items, schema.max_items),
        _ => (None, None),
    }
}

/// Parses a comma-separated list of choices and returns their names. Names and titles match case-insensitively.
///
/// A name or title may itself contain commas, so the longest match at each position wins.
#[inline]
pub(super) fn parse_choices(options: &[(&str, &str)], text: &str) -> Option<Vec<String>> {
    let separator = |c: char| c == ',' || c.is_whitespace();
    let mut names = Vec::new();
    let mut rest = text.trim_matches(separator);
    while !rest.is_empty() {
        let fitting = options
            .iter()
            .flat_map(|(name, title)| [(name, false, name), (title, true, name)]);
        let fitting = fitting.filter_map(|(word, is_title, name)| {
            let (after, is_exact) = after(rest, word)?;
            // Of two matches of the same length, an exact one wins over one in another case, and a name over a title.
            Some(((after.len(), !is_exact, is_title), after, name))
        });
        let (_, after, name) = fitting.min_by_key(|(rank, ..)| *rank)?;
        names.push((**name).to_owned());
        rest = after.trim_start_matches(separator);
    }
    Some(deduplicate(names))
}

/// Returns the rest of `text` after `word`, if `text` starts with it and a comma or the end follows. Also returns whether the
/// case of all letters is the same.
#[inline]
fn after<'a>(text: &'a str, word: &str) -> Option<(&'a str, bool)> {
    let (start, rest) = text.split_at_checked(word.len())?;
    let ends = rest.trim_start();
    let is_exact = start == word;
    let is_match = is_exact || start.to_lowercase() == word.to_lowercase();
    let is_whole = ends.is_empty() || ends.starts_with(',');
    (is_match && is_whole && !word.is_empty()).then_some((ends, is_exact))
}

/// Removes duplicates: a choice that is selected twice is selected once.
#[inline]
pub(super) fn deduplicate(mut names: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names
}

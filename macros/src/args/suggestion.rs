//! Suggestions for unknown keys.

use proc_macro2::Ident;

/// Error message for an unknown `noun`, with the nearest or all of the `known` ones.
pub(crate) fn unknown(noun: &str, key: &str, known: &[&str]) -> String {
    if let Some(nearest) = nearest(key, known) {
        return format!("unknown {noun} `{key}`; did you mean `{nearest}`?");
    }
    let known: Vec<_> = known.iter().map(|known| format!("`{known}`")).collect();
    format!("unknown {noun} `{key}`; write one of {}", known.join(", "))
}

/// Returns the known key with the smallest edit distance, if that is at most half of its length.
///
/// Among equally near keys, the one closest in length wins: letters are more often swapped than inserted or removed.
pub(super) fn nearest<'a>(key: &str, known: &[&'a str]) -> Option<&'a str> {
    known
        .iter()
        .map(|known| {
            (
                edit_distance(key, known),
                key.len().abs_diff(known.len()),
                *known,
            )
        })
        .filter(|(edits, _, known)| edits * 2 <= known.len())
        .min()
        .map(|(_, _, known)| known)
}

/// Levenshtein distance: the number of letters to insert, remove or replace to turn `from` into `to`.
fn edit_distance(from: &str, to: &str) -> usize {
    // Before each letter of `from`, `row[n]` is the distance of the preceding letters to `to[..n]`.
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.chars().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[to.chars().count()]
}

/// Hint for a key that exists in other frameworks but not here.
pub(super) fn hint_for_foreign_key(key: &Ident) -> Option<&'static str> {
    [
        (
            "description",
            "the documentation comment is the description; write `/// …` instead",
        ),
        (
            "input_schema",
            "the schema is generated from the parameters; remove this, and add keywords with `schema = …`",
        ),
        (
            "output_schema",
            "the schema is generated from the return type; remove this",
        ),
    ]
    .into_iter()
    .find_map(|(theirs, instead)| (key == theirs).then_some(instead))
}

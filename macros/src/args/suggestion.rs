//! Suggestions for unknown keys. The search at run time is `nearest` of `treenail-schema`, on which macros do not depend.

use quote::ToTokens;

use super::entry::Entry;

/// Error message for an unknown `noun`, with the nearest or all of the `known` ones.
pub(crate) fn unknown(noun: &str, key: &str, known: &[&str]) -> String {
    if let Some(nearest) = nearest(key, known) {
        return format!("unknown {noun} `{key}`; did you mean `{nearest}`?");
    }
    let known: Vec<_> = known.iter().map(|known| format!("`{known}`")).collect();
    format!("unknown {noun} `{key}`; write one of {}", known.join(", "))
}

/// Minimum length of a key that is read as the start of another one.
const MIN_PREFIX: usize = 3;

/// Returns the shortest known key that starts with `key`, or else the one with the smallest edit distance, if that is at most
/// half of its length.
///
/// Among equally near keys, the one closest in length wins: letters are more often swapped than inserted or removed.
pub(super) fn nearest<'a>(key: &str, known: &[&'a str]) -> Option<&'a str> {
    let continued = known
        .iter()
        .filter(|known| key.len() >= MIN_PREFIX && known.starts_with(key))
        .min_by_key(|known| known.len());
    continued.copied().or_else(|| nearest_by_edits(key, known))
}

fn nearest_by_edits<'a>(key: &str, known: &[&'a str]) -> Option<&'a str> {
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

/// Error message for a key that is not among the `known` ones.
pub(super) fn unknown_key(entry: &Entry, known: &[&str]) -> String {
    let key = entry.key.to_string();
    let hint = hint_for_foreign_key(&key).map(str::to_owned);
    let hint = hint
        .or_else(|| hint_for_bound(entry, known))
        .or_else(|| hint_for_annotation(&key, known))
        .or_else(|| hint_for_task_key(&key, known));
    hint.unwrap_or_else(|| unknown("key", &key, known))
}

/// Hint for a key that exists in other frameworks or on other functions, but not here.
fn hint_for_foreign_key(key: &str) -> Option<&'static str> {
    let hint = match key {
        "description" | "desc" => {
            "the documentation comment is the description; write `/// …` instead"
        }
        "input_schema" => {
            "the schema is generated from the parameters; remove this, and add keywords with `schema = …`"
        }
        "output_schema" => {
            "the schema is generated from the return type; remove this, and return a `Structured<T>` in place of a `CallToolResult`"
        }
        "arguments" => "the arguments are the parameters of the function; remove this",
        "complete" => "completions are for arguments of prompts and resources only; remove this",
        _ => return None,
    };
    Some(hint)
}

/// Hint for the annotations of a tool under the names of the protocol.
fn hint_for_annotation(key: &str, known: &[&str]) -> Option<String> {
    let (key, others) = match key {
        "annotations" => ("read_only", ", `destructive = false`, …"),
        key => (key.strip_suffix("_hint")?, ""),
    };
    known
        .contains(&key)
        .then(|| format!("each annotation of a tool is a key; write `{key}`{others}"))
}

/// Hint for a key of `task` that is beside it.
fn hint_for_task_key(key: &str, known: &[&str]) -> Option<String> {
    let key = match key {
        "always" | "required" | "external" | "resume" => key.to_owned(),
        "after" | "keep" | "run_time" => format!("{key} = …"),
        _ => return None,
    };
    known
        .contains(&"task")
        .then(|| format!("this is a key of `task`; write `task({key})`"))
}

/// Hint for one bound of a number, which is a part of the key `range`.
fn hint_for_bound(entry: &Entry, known: &[&str]) -> Option<String> {
    let value = entry.value.as_ref();
    let value = value.map(|value| value.to_token_stream().to_string());
    let range = match &*entry.key.to_string() {
        "min" | "minimum" => format!("{}..", value.as_deref().unwrap_or("1")),
        "max" | "maximum" => format!("..={}", value.as_deref().unwrap_or("7")),
        _ => return None,
    };
    known
        .contains(&"range")
        .then(|| format!("a bound is a part of the range; write `range = {range}`"))
}

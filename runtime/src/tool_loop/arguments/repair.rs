//! Tries what arguments can have been meant for, until the schema takes them.

use serde_json::{Map, Value};

use super::edit::{Edit, edits, together};
use crate::client::validation::{MOST, Mistake, Verdict};

/// How many edits are tried at one value.
const TRIES: usize = 64;

/// What became of arguments.
#[derive(Debug)]
pub(super) enum Outcome {
    /// They are what the schema says.
    Fits(Value),
    /// They are not, for these reasons, and cannot be repaired.
    Wrong(Value, Vec<Mistake>),
    /// They are not, and they are too large to tell why.
    TooLarge,
    /// They could not be checked, for a reason.
    Unchecked(Value, String),
}

/// Repairs arguments as far as that is safe. An edit is kept if it removes a mistake and makes none, but for those that it
/// brings to light.
pub(super) fn repair(
    mut value: Value,
    root: &Map<String, Value>,
    check: impl Fn(&Value) -> Result<Verdict, String>,
) -> Outcome {
    let mut mistakes = match check(&value) {
        Ok(Verdict::Valid) => return Outcome::Fits(value),
        Ok(Verdict::Wrong(mistakes)) => mistakes,
        Ok(Verdict::TooLarge) => return Outcome::TooLarge,
        Err(reason) => return Outcome::Unchecked(value, reason),
    };
    if mistakes.len() > MOST {
        return Outcome::Wrong(value, mistakes);
    }
    // Mostly that is it.
    if let Some(edit) = together(&mistakes, &value, root) {
        let mut tried = value.clone();
        edit.apply(&mut tried);
        if check(&tried) == Ok(Verdict::Valid) {
            return Outcome::Fits(tried);
        }
    }
    let mut attempts = TRIES;
    while let Some((tried, verdict)) = step(&value, &mistakes, root, &check, &mut attempts) {
        match verdict {
            Verdict::Wrong(left) => (value, mistakes) = (tried, left),
            _ => return Outcome::Fits(tried),
        }
    }
    Outcome::Wrong(value, mistakes)
}

/// The first edit that is an improvement: what it makes of the value, and what is said of that.
fn step(
    value: &Value,
    mistakes: &[Mistake],
    root: &Map<String, Value>,
    check: &impl Fn(&Value) -> Result<Verdict, String>,
    attempts: &mut usize,
) -> Option<(Value, Verdict)> {
    for mistake in mistakes {
        for edit in edits(mistake, value, root) {
            *attempts = attempts.checked_sub(1)?;
            let mut tried = value.clone();
            edit.apply(&mut tried);
            match check(&tried) {
                Ok(Verdict::Valid) => return Some((tried, Verdict::Valid)),
                Ok(Verdict::Wrong(left)) if is_better(&edit, mistake, mistakes, &left) => {
                    return Some((tried, Verdict::Wrong(left)));
                }
                _ => {}
            }
        }
    }
    None
}

/// Whether an edit has repaired a mistake and made none, but for those that could not be seen before.
fn is_better(edit: &Edit, repaired: &Mistake, before: &[Mistake], left: &[Mistake]) -> bool {
    let is_open = |mistake: &Mistake| {
        let place = edit.opens.as_deref();
        let rest = place.and_then(|place| mistake.pointer.strip_prefix(place));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let is_known = |mistake: &Mistake| before.contains(mistake) || is_open(mistake);
    !left.contains(repaired) && left.iter().all(is_known)
}

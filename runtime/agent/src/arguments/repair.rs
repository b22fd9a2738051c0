//! Repairs arguments by trial until the schema accepts them.

use serde_json::{Map, Value};
use treenail_validation::{MAX_VIOLATIONS, Verdict, Violation};

use super::edit::{Edit, combined, edits};

/// Maximum number of edits tried for one value.
const MAX_ATTEMPTS: usize = 64;

/// Outcome of validation and repair.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The value is valid.
    Valid(Value),
    /// The value is invalid and cannot be repaired.
    Invalid(Value, Vec<Violation>),
    /// The value is invalid, and too large to locate the mistakes.
    TooLarge,
    /// The value could not be validated, for this reason.
    Unchecked(Value, String),
}

/// Repairs arguments as far as that is safe. An edit is accepted if it removes a mistake and adds none, except those
/// that it reveals.
pub(super) fn repair(
    mut value: Value,
    root: &Map<String, Value>,
    check: impl Fn(&Value) -> Result<Verdict, String>,
) -> Outcome {
    let mut mistakes = match check(&value) {
        Ok(Verdict::Valid) => return Outcome::Valid(value),
        Ok(Verdict::Invalid(mistakes)) => mistakes,
        Ok(Verdict::TooLarge) => return Outcome::TooLarge,
        Err(reason) => return Outcome::Unchecked(value, reason),
    };
    if mistakes.len() > MAX_VIOLATIONS {
        return Outcome::Invalid(value, mistakes);
    }
    // Usually, one combined edit is enough.
    if let Some(edit) = combined(&mistakes, &value, root) {
        let mut candidate = value.clone();
        edit.apply(&mut candidate);
        if check(&candidate) == Ok(Verdict::Valid) {
            return Outcome::Valid(candidate);
        }
    }
    let mut attempts = MAX_ATTEMPTS;
    while let Some((candidate, verdict)) =
        next_repair(&value, &mistakes, root, &check, &mut attempts)
    {
        match verdict {
            Verdict::Invalid(left) => (value, mistakes) = (candidate, left),
            _ => return Outcome::Valid(candidate),
        }
    }
    Outcome::Invalid(value, mistakes)
}

/// Returns the first edit that is an improvement: the edited value and its verdict.
fn next_repair(
    value: &Value,
    mistakes: &[Violation],
    root: &Map<String, Value>,
    check: &impl Fn(&Value) -> Result<Verdict, String>,
    attempts: &mut usize,
) -> Option<(Value, Verdict)> {
    for mistake in mistakes {
        for edit in edits(mistake, value, root) {
            *attempts = attempts.checked_sub(1)?;
            let mut candidate = value.clone();
            edit.apply(&mut candidate);
            match check(&candidate) {
                Ok(Verdict::Valid) => return Some((candidate, Verdict::Valid)),
                Ok(Verdict::Invalid(left)) if is_improvement(&edit, mistake, mistakes, &left) => {
                    return Some((candidate, Verdict::Invalid(left)));
                }
                _ => {}
            }
        }
    }
    None
}

/// Returns true if an edit repaired a mistake and added none, except those that it reveals.
fn is_improvement(
    edit: &Edit,
    repaired: &Violation,
    before: &[Violation],
    left: &[Violation],
) -> bool {
    let is_revealed = |mistake: &Violation| {
        let place = edit.reveals.as_deref();
        let rest = place.and_then(|place| mistake.pointer.strip_prefix(place));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let is_known = |mistake: &Violation| before.contains(mistake) || is_revealed(mistake);
    !left.contains(repaired) && left.iter().all(is_known)
}

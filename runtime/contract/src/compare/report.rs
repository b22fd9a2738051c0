//! What was found, within bounds.

use crate::DriftLimits;
use crate::{Change, Drift, Severity, Subject};

/// How much of a text is kept that stands before what is different.
const BEFORE: usize = 80;

/// What was found so far.
pub(super) struct Report<'l> {
    pub(super) limits: &'l DriftLimits,
    drift: Drift,
    /// How many steps comparing may still take.
    steps: u64,
    /// Message about entries that are gone.
    pub(super) gone: String,
}

impl<'l> Report<'l> {
    pub(super) fn new(limits: &'l DriftLimits, gone: String) -> Self {
        Self {
            limits,
            gone,
            drift: Drift::default(),
            steps: limits.steps,
        }
    }

    /// The entry that is compared now.
    pub(super) fn entry<'r>(&'r mut self, subject: Subject, name: &str) -> Entry<'r, 'l> {
        let name = cut(name, 0, self.limits.text_bytes);
        Entry {
            report: self,
            subject,
            name,
        }
    }

    pub(super) fn finish(mut self) -> Drift {
        // Stable: within a severity, they stay in the order of the contract.
        let changes = &mut self.drift.changes;
        changes.sort_by_key(|change| std::cmp::Reverse(change.severity));
        self.drift
    }

    fn add(&mut self, change: Change) {
        let place = Severity::ALL.iter().position(|one| *one == change.severity);
        let Some(count) = place.and_then(|place| self.drift.counts.get_mut(place)) else {
            return;
        };
        // Each severity has its own bound, so that many changes of wording do not hide one that breaks.
        if *count < self.limits.changes {
            self.drift.changes.push(change);
        }
        *count += 1;
    }
}

/// An entry of both contracts, and what was found of it.
pub(super) struct Entry<'r, 'l> {
    report: &'r mut Report<'l>,
    subject: Subject,
    name: String,
}

impl<'l> Entry<'_, 'l> {
    pub(super) fn limits(&self) -> &'l DriftLimits {
        self.report.limits
    }

    /// Takes so many steps of those that there are; whether there were enough.
    pub(super) fn step(&mut self, steps: usize) -> bool {
        let steps = u64::try_from(steps).unwrap_or(u64::MAX);
        let left = self.report.steps.checked_sub(steps);
        self.report.steps = left.unwrap_or(0);
        left.is_some()
    }

    pub(super) fn change(&mut self, severity: Severity, path: &str, message: &str) {
        self.shown(severity, path, message, (None, None));
    }

    /// Words that may have changed.
    pub(super) fn words(&mut self, path: &str, what: &str, old: Option<&str>, new: Option<&str>) {
        self.differ(Severity::Wording, path, what, (old, new));
    }

    /// A text that may have changed.
    pub(super) fn differ(
        &mut self,
        severity: Severity,
        path: &str,
        what: &str,
        (old, new): (Option<&str>, Option<&str>),
    ) {
        if old == new {
            return;
        }
        let message = match (old, new) {
            (None, _) => format!("added {what}"),
            (_, None) => format!("removed {what}"),
            _ => format!("changed {what}"),
        };
        self.shown(severity, path, &message, (old, new));
    }

    /// A change with what was and what is.
    pub(super) fn shown(
        &mut self,
        severity: Severity,
        path: &str,
        message: &str,
        (old, new): (Option<&str>, Option<&str>),
    ) {
        let most = self.limits().text_bytes;
        let same = match (old, new) {
            (Some(old), Some(new)) => common(old, new),
            _ => 0,
        };
        let change = Change {
            severity,
            subject: self.subject,
            name: self.name.clone(),
            path: cut(path, 0, most),
            message: cut(message, 0, most),
            old: old.map(|text| cut(text, same, most)),
            new: new.map(|text| cut(text, same, most)),
        };
        self.report.add(change);
    }
}

/// How many bytes two texts have in common at their beginnings.
fn common(one: &str, other: &str) -> usize {
    let pairs = one.bytes().zip(other.bytes());
    pairs.take_while(|(one, other)| one == other).count()
}

/// A text of at most so many bytes; what is kept of a longer one is around `from`.
fn cut(text: &str, from: usize, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let boundary = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = boundary(from.saturating_sub(BEFORE.min(most / 2)));
    let end = boundary(start.saturating_add(most)).max(start);
    let (before, after) = (
        if start > 0 { "…" } else { "" },
        if end < text.len() { "…" } else { "" },
    );
    format!("{before}{}{after}", &text[start..end])
}

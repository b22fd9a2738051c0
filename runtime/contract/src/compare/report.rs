//! Collection of changes within limits.

use crate::DriftLimits;
use crate::compare::comparable::Comparable;
use crate::{Change, Drift, Severity, Subject};

/// Maximum number of bytes of a long text that are shown before the first difference.
const MAX_CONTEXT_BYTES: usize = 80;

/// The changes found so far.
pub(super) struct Report<'l> {
    pub(super) limits: &'l DriftLimits,
    comparable: Comparable,
    drift: Drift,
    /// Remaining steps of the comparison.
    steps: u64,
    /// Message for removed entries.
    pub(super) removal_message: String,
}

impl<'l> Report<'l> {
    pub(super) fn new(
        limits: &'l DriftLimits,
        comparable: Comparable,
        removal_message: String,
    ) -> Self {
        Self {
            limits,
            comparable,
            removal_message,
            drift: Drift::default(),
            steps: limits.steps,
        }
    }

    /// Returns the report for one entry.
    pub(super) fn entry<'r>(&'r mut self, subject: Subject, name: &str) -> EntryReport<'r, 'l> {
        let name = cut(name, 0, self.limits.text_bytes);
        EntryReport {
            report: self,
            subject,
            name,
        }
    }

    pub(super) fn finish(mut self) -> Drift {
        // A stable sort: within a severity, changes remain in the order of the contract.
        let changes = &mut self.drift.changes;
        changes.sort_by_key(|change| std::cmp::Reverse(change.severity));
        self.drift
    }

    fn add(&mut self, change: Change) {
        let index = Severity::ALL.iter().position(|one| *one == change.severity);
        let Some(count) = index.and_then(|index| self.drift.counts.get_mut(index)) else {
            return;
        };
        // Each severity has its own limit, so that many wording changes do not hide a breaking one.
        if *count < self.limits.changes {
            self.drift.changes.push(change);
        }
        *count += 1;
    }
}

/// Report for one entry that is compared.
pub(super) struct EntryReport<'r, 'l> {
    report: &'r mut Report<'l>,
    subject: Subject,
    name: String,
}

impl<'l> EntryReport<'_, 'l> {
    pub(super) fn limits(&self) -> &'l DriftLimits {
        self.report.limits
    }

    pub(super) fn comparable(&self) -> Comparable {
        self.report.comparable
    }

    /// Takes steps from the remaining ones. Returns `false` if there are not enough.
    pub(super) fn take_steps(&mut self, steps: usize) -> bool {
        let steps = u64::try_from(steps).unwrap_or(u64::MAX);
        let left = self.report.steps.checked_sub(steps);
        self.report.steps = left.unwrap_or(0);
        left.is_some()
    }

    pub(super) fn report(&mut self, severity: Severity, path: &str, message: &str) {
        self.report_with_texts(severity, path, message, (None, None));
    }

    /// Reports text for people and models if it has changed.
    pub(super) fn report_wording(
        &mut self,
        path: &str,
        what: &str,
        old: Option<&str>,
        new: Option<&str>,
    ) {
        self.report_text(Severity::Wording, path, what, (old, new));
    }

    /// Reports a title if it has changed, and both protocol versions have titles.
    pub(super) fn report_title(&mut self, path: &str, old: Option<&str>, new: Option<&str>) {
        if self.comparable().titles {
            self.report_wording(path, "the title", old, new);
        }
    }

    /// Reports a text if it has changed.
    pub(super) fn report_text(
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
        self.report_with_texts(severity, path, &message, (old, new));
    }

    /// Reports a change with the old and the new text.
    pub(super) fn report_with_texts(
        &mut self,
        severity: Severity,
        path: &str,
        message: &str,
        (old, new): (Option<&str>, Option<&str>),
    ) {
        let max = self.limits().text_bytes;
        let same = match (old, new) {
            (Some(old), Some(new)) => common_prefix(old, new),
            _ => 0,
        };
        let change = Change {
            severity,
            subject: self.subject,
            name: self.name.clone(),
            path: cut(path, 0, max),
            message: cut(message, 0, max),
            old: old.map(|text| cut(text, same, max)),
            new: new.map(|text| cut(text, same, max)),
        };
        self.report.add(change);
    }
}

/// Returns the length in bytes of the common prefix of two texts.
fn common_prefix(one: &str, other: &str) -> usize {
    let pairs = one.bytes().zip(other.bytes());
    pairs.take_while(|(one, other)| one == other).count()
}

/// Truncates a text to about `max` bytes around the position `from`.
fn cut(text: &str, from: usize, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let boundary = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = boundary(from.saturating_sub(MAX_CONTEXT_BYTES.min(max / 2)));
    let end = boundary(start.saturating_add(max)).max(start);
    let (before, after) = (
        if start > 0 { "…" } else { "" },
        if end < text.len() { "…" } else { "" },
    );
    format!("{before}{}{after}", &text[start..end])
}

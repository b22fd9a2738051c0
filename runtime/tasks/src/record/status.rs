//! Status of a task in each revision, derived from its record.

use serde::Serialize;

use super::{Outcome, Record};

/// Status of a task, as clients see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Working,
    InputRequired,
    Completed,
    Failed,
    Cancelled,
}

impl Status {
    /// Returns the status for the tasks extension, or else for the tasks of 2025-11-25.
    ///
    /// A result with `isError` is `completed` in the extension and `failed` in 2025-11-25 (XAMB-01).
    pub(crate) fn of(record: &Record, modern: bool) -> Self {
        match &record.outcome {
            None if record.questions.values().any(super::Question::is_open) => Self::InputRequired,
            None => Self::Working,
            Some(Outcome::Result(_)) => Self::Completed,
            Some(Outcome::Failure(_)) if modern => Self::Completed,
            Some(Outcome::Failure(_) | Outcome::Error(_)) => Self::Failed,
            Some(Outcome::Cancelled) => Self::Cancelled,
        }
    }
}

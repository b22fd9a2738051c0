//! Status of a task, derived from its record.

use serde::{Deserialize, Serialize};

use super::{Outcome, Record};

/// Status of a task, as clients see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    Working,
    InputRequired,
    Completed,
    Failed,
    Cancelled,
}

impl Status {
    /// Returns the status for the tasks extension.
    ///
    /// A result with `isError` is `completed` in the extension and `failed` in 2025-11-25 (XAMB-01).
    pub(super) fn of(record: &Record) -> Self {
        match &record.outcome {
            None if record.questions.values().any(super::Question::is_open) => Self::InputRequired,
            None => Self::Working,
            Some(Outcome::Result(_) | Outcome::Failure(_)) => Self::Completed,
            Some(Outcome::Error(_)) => Self::Failed,
            Some(Outcome::Cancelled) => Self::Cancelled,
        }
    }
}

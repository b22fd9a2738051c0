//! Values that a run of a function has obtained, for the next run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Values that a call has obtained before it became a task.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Journal {
    /// The answers to questions, by the key of the question.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub answers: BTreeMap<String, RecordedAnswer>,
    /// The values of [`Context::once`](crate::Context::once).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub once: BTreeMap<String, Box<RawValue>>,
    /// The keys of work that runs now.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub begun: BTreeSet<String>,
}

/// Answer to a question.
#[derive(Clone, Serialize, Deserialize)]
pub struct RecordedAnswer {
    /// Digest of the question, see [`TaskQuestion::id`](crate::internal::task::TaskQuestion::id).
    pub question: String,
    /// The answer of the client.
    pub value: Box<RawValue>,
}

/// Omits the values, because they may be personal data.
impl fmt::Debug for Journal {
    #[inline]
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Journal")
            .field("answers", &self.answers.keys())
            .field("once", &self.once.keys())
            .field("begun", &self.begun)
            .finish()
    }
}

impl fmt::Debug for RecordedAnswer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RecordedAnswer")
            .finish_non_exhaustive()
    }
}

//! State and answers of the further rounds of a request.

use std::collections::BTreeMap;
use std::time::UNIX_EPOCH;

use serde_json::value::RawValue;
use treenail_schema::internal::object::object;

use crate::ask::binding::QuestionId;
use crate::ask::callers::{Callers, ValueKey};
use crate::environment;
use crate::wire::{Members, RpcError, shortened};

/// Maximum number of questions in one round, and of answers to them.
pub(super) const MAX_RESPONSES: usize = 256;

/// State that a client carries from one round to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// In milliseconds since 1970.
    pub(super) expires: u64,
    /// The number of rounds so far.
    pub(super) rounds: u32,
    /// The questions of the last round.
    pub(super) asked: Vec<(String, QuestionId)>,
    /// Answers by the keys of their questions.
    pub(super) answers: Vec<(String, Answer)>,
    /// Results of [`Context::once`](crate::Context::once).
    pub(super) once: BTreeMap<String, Box<RawValue>>,
    pub(super) callers: Callers,
}

object! { State {
    required expires = "expires",
    required rounds = "rounds",
    required asked = "asked",
    required answers = "answers",
    required once = "once",
    required callers = "callers"
} }

#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) to: QuestionId,
    pub(super) value: Box<RawValue>,
}

object! { Answer { required to = "to", required value = "value" } }

pub(super) type Responses = BTreeMap<String, Box<RawValue>>;

pub(super) fn read_responses(json: &str) -> Result<Responses, RpcError> {
    let invalid = |problem: &str| {
        RpcError::invalid_params(format!("`params.inputResponses`: {}", shortened(problem)))
    };
    let mut members = Members::new(json).map_err(|it| invalid(&it.to_string()))?;
    let mut responses = Responses::new();
    while let Some((key, value)) = members.next().map_err(|it| invalid(&it.to_string()))? {
        if responses.len() == MAX_RESPONSES {
            return Err(invalid(&format!("more than {MAX_RESPONSES} answers")));
        }
        let value = RawValue::from_string(value.to_owned());
        let value = value.map_err(|it| invalid(&it.to_string()))?;
        responses.insert(key.into_owned(), value);
    }
    Ok(responses)
}

impl State {
    /// Adds the answers to the questions of the last round. Other answers are dropped.
    pub(super) fn with(mut self, mut responses: Responses) -> ResumedState {
        for (key, to) in std::mem::take(&mut self.asked) {
            if let Some(value) = responses.remove(&key) {
                self.put_answer(key, Answer { to, value });
            }
        }
        ResumedState {
            state: self,
            responses: Responses::new(),
        }
    }

    pub(super) fn answer(&self, key: &str) -> Option<&Answer> {
        let mut answers = self.answers.iter();
        answers
            .find(|(one, _)| one == key)
            .map(|(_, answer)| answer)
    }

    pub(super) fn put_answer(&mut self, key: String, answer: Answer) {
        self.answers.retain(|(one, _)| *one != key);
        self.answers.push((key, answer));
    }

    /// Removes a value.
    #[inline]
    pub(super) fn remove(&mut self, value: ValueKey<'_>) {
        match value {
            ValueKey::Answer(key) => self.answers.retain(|(one, _)| one != key),
            ValueKey::Work(key) => drop(self.once.remove(key)),
        }
    }
}

/// State and answers that a client sends in a further round of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResumedState {
    pub(super) state: State,
    /// Answers without a state, which name their questions by key alone.
    pub(super) responses: Responses,
}

/// Returns the time in milliseconds since 1970.
pub(super) fn now() -> u64 {
    environment::system_time()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| {
            u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
        })
}

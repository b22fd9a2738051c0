//! Questions of a task: their keys, which are never used twice, and their answers.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use treenail_runtime::internal::task::Journal;

use super::{Record, StoredError};

/// Question of a task. It remains in the record after its answer, for repeated runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Question {
    /// Place among the questions of the task, from 1.
    pub(crate) number: u32,
    /// The key of the question within the function, which asks it again under the same one.
    pub(crate) asked: String,
    /// Digest of the question.
    pub(crate) to: String,
    /// The request for the client, until it is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) request: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<Answer>,
}

/// Answer to a question.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    Value(Box<RawValue>),
    /// The client answered with an error, which only the older form of tasks can express.
    Refused(StoredError),
}

impl Answer {
    fn bytes(&self) -> usize {
        match self {
            Self::Value(value) => value.get().len(),
            Self::Refused(error) => error.message.len() + 64,
        }
    }
}

impl Question {
    pub(crate) fn is_open(&self) -> bool {
        self.request.is_some() && self.answer.is_none()
    }

    fn bytes(&self) -> usize {
        let request = self
            .request
            .as_ref()
            .map_or(0, |request| request.get().len());
        let answer = self.answer.as_ref().map_or(0, Answer::bytes);
        request + answer + self.asked.len() + self.to.len()
    }
}

impl Record {
    /// Returns the answer to the question `asked` from the rounds before the task.
    pub(crate) fn round_answer(&self, asked: &str, to: &str) -> Option<Box<RawValue>> {
        let recorded = self.journal.answers.get(asked)?;
        (recorded.question == to).then(|| recorded.value.clone())
    }

    /// Returns the key of the question `asked`, if an earlier run has asked it too.
    pub(crate) fn find_question(&self, asked: &str, to: &str) -> Option<&str> {
        let mut questions = self.questions.iter();
        let found = questions.find(|(_, question)| question.asked == asked && question.to == to);
        found.map(|(key, _)| key.as_str())
    }

    /// Opens a question under a key that the task has never used. Returns the key.
    pub(crate) fn open_question(
        &mut self,
        asked: &str,
        to: &str,
        request: Box<RawValue>,
    ) -> String {
        let last = self
            .questions
            .values()
            .map(|question| question.number)
            .max();
        let number = last.unwrap_or(0).saturating_add(1);
        let mut key = asked.to_owned();
        while self.questions.contains_key(&key) {
            key = format!("{key}~{number}");
        }
        let question = Question {
            number,
            asked: asked.to_owned(),
            to: to.to_owned(),
            request: Some(request),
            answer: None,
        };
        self.questions.insert(key.clone(), question);
        self.touch();
        key
    }

    /// Stores an answer, if its question is open. Returns `true` then.
    pub(crate) fn answer(&mut self, key: &str, answer: Answer) -> bool {
        let open = self.questions.get_mut(key);
        let Some(question) = open.filter(|question| question.is_open()) else {
            return false;
        };
        question.answer = Some(answer);
        question.request = None;
        self.touch();
        true
    }

    /// Replaces an answer by an error.
    pub(crate) fn refuse_answer(&mut self, key: &str, error: StoredError) {
        if let Some(question) = self.questions.get_mut(key) {
            question.answer = Some(Answer::Refused(error));
        }
    }

    /// Withdraws an open question, whose key stays used.
    pub(crate) fn withdraw(&mut self, key: &str) -> bool {
        let open = self.questions.get_mut(key);
        let Some(question) = open.filter(|question| question.is_open()) else {
            return false;
        };
        question.request = None;
        // A later question with the same content is another one.
        question.to = String::new();
        self.touch();
        true
    }

    /// Returns the number of open questions.
    pub(crate) fn open_questions(&self) -> usize {
        let questions = self.questions.values();
        questions.filter(|question| question.is_open()).count()
    }

    /// Returns the size of the journal and the questions in bytes.
    pub(crate) fn journal_bytes(&self) -> usize {
        let questions = self.questions.iter();
        let questions: usize = questions.map(|(key, it)| key.len() + it.bytes()).sum();
        journal_bytes(&self.journal) + questions
    }
}

/// Returns the size of the values of earlier runs in bytes.
fn journal_bytes(journal: &Journal) -> usize {
    let answers = journal.answers.iter();
    let answers = answers.map(|(key, it)| key.len() + it.question.len() + it.value.get().len());
    let once = journal.once.iter();
    let once = once.map(|(key, value)| key.len() + value.get().len());
    let begun = journal.begun.iter().map(String::len);
    answers.chain(once).chain(begun).sum()
}

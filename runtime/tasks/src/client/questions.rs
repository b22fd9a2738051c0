//! Questions of a task, and the answers of the client.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::fmt::Display;
use std::sync::Arc;
use std::task::{Context, Poll};

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use treenail_runtime::RpcError;
use treenail_runtime::client::ClientError;
use treenail_runtime::internal::TaskSession as _;
use treenail_schema::InputRequest;

use crate::client::remote::{MAX_ID_BYTES, Owned, RemoteTask, is_invalid_params};

/// Questions of one task. Each is put to the handlers of the client until one has answered, one after the other.
pub(super) struct Questions {
    task: RemoteTask,
    max: usize,
    /// Number of questions so far. One that was closed without an answer and is open again counts twice.
    asked: usize,
    /// Keys of the questions that wait, are being answered, or have an answer.
    seen: HashSet<String>,
    waiting: VecDeque<(String, InputRequest)>,
    answering: Option<Answering>,
    /// Answers that the server has not acknowledged.
    unsent: BTreeMap<String, Value>,
    sending: Option<Sending>,
    /// True after a failed update, until the next state of the task.
    is_paused: bool,
    /// Answers that the server has refused, until the next state of the task.
    refused: Option<Refused>,
}

struct Refused {
    keys: Vec<String>,
    error: ClientError,
}

struct Answering {
    key: String,
    method: String,
    answer: Owned<Result<String, RpcError>>,
}

struct Sending {
    keys: Vec<String>,
    sent: Owned<Result<(), ClientError>>,
}

impl Questions {
    pub(super) fn new(task: RemoteTask) -> Self {
        Self {
            max: task.session.client_limits().tasks.questions,
            task,
            asked: 0,
            seen: HashSet::new(),
            waiting: VecDeque::new(),
            answering: None,
            unsent: BTreeMap::new(),
            sending: None,
            is_paused: false,
            refused: None,
        }
    }

    /// Notes the open questions of a state of the task, and drops those that are open no more. A dropped one may return: a state
    /// of a poll can be older than one that was pushed before it. Answers are sent anyway: a server ignores those that it does
    /// not expect.
    ///
    /// # Errors
    ///
    /// If the questions are malformed, or too many, or have too long keys, or if one is still open whose answer the server has refused.
    pub(super) fn note_open(&mut self, requests: Option<&RawValue>) -> Result<(), ClientError> {
        self.is_paused = false;
        let mut open = match requests {
            Some(requests) => self.task.session.questions(requests)?,
            None => BTreeMap::new(),
        };
        if open.keys().any(|key| key.len() > MAX_ID_BYTES) {
            let reason = format!("the key of a question is longer than {MAX_ID_BYTES} bytes");
            return Err(ClientError::protocol(reason));
        }
        if let Some(refused) = self.refused.take() {
            refused.check(&open)?;
        }
        self.drop_closed(&open);
        open.retain(|key, _| !self.seen.contains(key));
        self.asked += open.len();
        if self.asked > self.max {
            let reason = format!("a task asked more than {} questions", self.max);
            return Err(ClientError::protocol(reason));
        }
        self.seen.extend(open.keys().cloned());
        self.waiting.extend(open);
        Ok(())
    }

    /// Drops the questions without an answer that are not among the open ones.
    fn drop_closed(&mut self, open: &BTreeMap<String, InputRequest>) {
        let seen = &mut self.seen;
        self.waiting.retain(|(key, _)| {
            let is_open = open.contains_key(key);
            if !is_open {
                seen.remove(key);
            }
            is_open
        });
        let answering = self.answering.take();
        self.answering = answering.filter(|it| {
            let is_open = open.contains_key(&it.key);
            if !is_open {
                seen.remove(&it.key);
            }
            is_open
        });
    }

    /// Returns true after a failed update, until the next state of the task.
    pub(super) fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// Answers questions. Ready only with the error of a question that the client cannot answer.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<ClientError> {
        loop {
            let answered = match self.poll_answer(context) {
                Ok(answered) => answered,
                Err(error) => return Poll::Ready(error),
            };
            if !self.poll_update(context) && !answered {
                return Poll::Pending;
            }
        }
    }

    /// Polls the handler of a question. Returns true if it has answered.
    fn poll_answer(&mut self, context: &mut Context<'_>) -> Result<bool, ClientError> {
        if self.answering.is_none() {
            let next = self.waiting.pop_front();
            self.answering = next.map(|(key, question)| self.ask(key, question));
        }
        let Some(answering) = &mut self.answering else {
            return Ok(false);
        };
        let Poll::Ready(answer) = answering.answer.as_mut().poll(context) else {
            return Ok(false);
        };
        let unanswered = |error: &dyn Display| {
            let method = &answering.method;
            let reason = format!("its task requested `{method}`, which failed: {error}");
            ClientError::Unanswered(reason.into())
        };
        let answer = answer.map_err(|error| unanswered(&error))?;
        let answer = serde_json::from_str(&answer).map_err(|error| unanswered(&error))?;
        let key = std::mem::take(&mut answering.key);
        self.answering = None;
        self.unsent.insert(key, answer);
        Ok(true)
    }

    fn ask(&self, key: String, question: InputRequest) -> Answering {
        let session = Arc::clone(&self.task.session);
        Answering {
            key,
            method: question.method().to_owned(),
            answer: Box::pin(async move { session.answer(question).await }),
        }
    }

    /// Sends answers. Returns true if the server has acknowledged some.
    fn poll_update(&mut self, context: &mut Context<'_>) -> bool {
        if self.sending.is_none() {
            if self.unsent.is_empty() || self.is_paused {
                return false;
            }
            let answers: Map<String, Value> = self.unsent.clone().into_iter().collect();
            self.sending = Some(Sending {
                keys: answers.keys().cloned().collect(),
                sent: self.task.update(&Value::Object(answers)),
            });
        }
        let Some(sending) = &mut self.sending else {
            return false;
        };
        let Poll::Ready(sent) = sending.sent.as_mut().poll(context) else {
            return false;
        };
        let keys = std::mem::take(&mut sending.keys);
        self.sending = None;
        if let Err(error) = sent {
            self.is_paused = true;
            if !is_invalid_params(&error) {
                tracing::debug!(%error, "answers to a task are sent again after its next state");
                return false;
            }
            // The task is unknown, or the answers are not acceptable. The next state shows it.
            self.refused = Some(Refused {
                keys: keys.clone(),
                error,
            });
        }
        for key in &keys {
            self.unsent.remove(key);
        }
        !self.is_paused
    }
}

impl Refused {
    /// Returns an error if one of the questions is still open.
    fn check(self, open: &BTreeMap<String, InputRequest>) -> Result<(), ClientError> {
        if self.keys.iter().any(|key| open.contains_key(key)) {
            let reason = format!("its task did not accept the answers: {}", self.error);
            return Err(ClientError::Unanswered(reason.into()));
        }
        Ok(())
    }
}

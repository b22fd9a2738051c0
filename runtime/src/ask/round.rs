//! Questions in the modern era: a function that asks is stopped, and its questions are the result. The client sends the same
//! request again, with the answers.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;

use serde_json::value::RawValue;
use treenail_schema::InputRequest;

use crate::ask::binding::QuestionId;
use crate::ask::elicit_config::ElicitConfig;
#[cfg(feature = "tower")]
use crate::ask::elicit_config::INVALID_STATE;
use crate::ask::error::AskError;
use crate::ask::resumed::{Answer, MAX_RESPONSES, ResumedState};
use crate::call::{CallTarget, OwnedTarget};
use crate::task::{Journal, RecordedAnswer};
use crate::wire::RpcError;

/// Questions of a round, and the state for the next one.
#[derive(Debug)]
pub(crate) struct Questions {
    pub(crate) questions: Vec<(String, Box<RawValue>)>,
    pub(crate) state: String,
}

/// One round of a request whose client can be asked.
#[doc(hidden)]
#[derive(Debug)]
pub struct Round {
    config: Arc<ElicitConfig>,
    target: OwnedTarget,
    /// `None` until something is stored, because most calls ask nothing.
    run: Mutex<Option<Box<Run>>>,
}

#[derive(Debug, Default)]
struct Run {
    resumed: ResumedState,
    /// Questions that are not answered yet, as text: only functions that ask compile the writers of requests.
    questions: Vec<(String, Box<RawValue>)>,
    /// The keys of all questions of this run.
    keys: Vec<String>,
    /// The keys of work that runs now, of a call that may become a task.
    begun: BTreeSet<String>,
    /// The task that is woken by the first question.
    waker: Option<Waker>,
}

impl Round {
    pub(crate) fn new(
        config: &Arc<ElicitConfig>,
        target: CallTarget<'_>,
        resumed: Option<&ResumedState>,
    ) -> Self {
        Self {
            config: Arc::clone(config),
            target: target.into(),
            run: Mutex::new(resumed.map(|resumed| {
                Box::new(Run {
                    resumed: resumed.clone(),
                    ..Run::default()
                })
            })),
        }
    }

    /// Starts a run of the function for a `caller` that the layers around it may have authenticated. The state of another
    /// caller is rejected. A layer may run the function more than once.
    #[cfg(feature = "tower")]
    pub(crate) fn begin(&self, caller: Option<&str>) -> Result<(), RpcError> {
        let mut run = self.run();
        if run.is_none() && caller.is_none() {
            return Ok(());
        }
        let run = run.get_or_insert_default();
        run.keys.clear();
        let state = &mut run.resumed.state;
        if state.rounds > 0 && state.caller.as_deref() != caller {
            return Err(RpcError::invalid_params(INVALID_STATE));
        }
        state.caller = caller.map(Into::into);
        Ok(())
    }

    /// Returns the key of a question: the given one, or its number in this run.
    pub(crate) fn key(&self, key: Option<String>) -> Result<String, AskError> {
        let mut run = self.run();
        let run = run.get_or_insert_default();
        let key = key.unwrap_or_else(|| format!("question-{}", run.keys.len() + 1));
        if run.keys.contains(&key) {
            return Err(AskError::NotAllowed(format!(
                "two questions have the key `{key}`"
            )));
        }
        run.keys.push(key.clone());
        Ok(key)
    }

    /// Returns the answer to a question, or notes the question for the result of this round.
    #[inline]
    pub(crate) fn answer(
        &self,
        key: &str,
        request: &InputRequest,
    ) -> Result<Option<Box<RawValue>>, AskError> {
        let mut run = self.run();
        let run = &mut **run.get_or_insert_default();
        let unwritten = |error: serde_json::Error| AskError::NotAllowed(error.to_string());
        let request = serde_json::to_string(request).map_err(unwritten)?;
        let id = QuestionId::of_text(&request);
        let ResumedState { state, responses } = &mut run.resumed;
        if let Some(value) = responses.remove(key) {
            let to = id.clone();
            state.put_answer(key.to_owned(), Answer { to, value });
        }
        match state.answer(key) {
            Some(answer) if answer.to == id => Ok(Some(answer.value.clone())),
            _ => {
                // A layer may run the function again.
                run.questions.retain(|(one, _)| one != key);
                state.asked.retain(|(one, _)| one != key);
                let request = RawValue::from_string(request).map_err(unwritten)?;
                if run.questions.len() == MAX_RESPONSES {
                    let reason = format!("more than {MAX_RESPONSES} questions at once");
                    return Err(AskError::NotAllowed(reason));
                }
                // In the order of the keys, because a function may ask several at once.
                let place = run.questions.partition_point(|(one, _)| **one < *key);
                run.questions.insert(place, (key.to_owned(), request));
                state.asked.push((key.to_owned(), id));
                run.waker.take().into_iter().for_each(Waker::wake);
                Ok(None)
            }
        }
    }

    /// Returns the number of questions of this run, including answered ones.
    pub fn asked(&self) -> usize {
        self.run().as_ref().map_or(0, |run| run.keys.len())
    }

    /// Returns the result of the work `key` in an earlier round.
    pub fn done(&self, key: &str) -> Option<Box<RawValue>> {
        self.run().as_ref()?.resumed.state.once.get(key).cloned()
    }

    /// Stores the result of the work `key` for the following rounds.
    #[inline]
    pub fn keep(&self, key: &str, value: Box<RawValue>) {
        let mut run = self.run();
        let run = run.get_or_insert_default();
        run.begun.remove(key);
        run.resumed.state.once.insert(key.to_owned(), value);
    }

    /// Records that the work `key` runs now.
    #[inline]
    pub(crate) fn begin_work(&self, key: &str) {
        let mut run = self.run();
        run.get_or_insert_default().begun.insert(key.to_owned());
    }

    /// Records that the work `key` has failed.
    #[inline]
    pub(crate) fn release_work(&self, key: &str) {
        if let Some(run) = &mut *self.run() {
            run.begun.remove(key);
        }
    }

    /// Returns the values that the call has obtained so far.
    #[inline]
    pub(crate) fn journal(&self) -> Journal {
        let run = self.run();
        let Some(run) = &*run else {
            return Journal::default();
        };
        let state = &run.resumed.state;
        let answers = state.answers.iter().map(|(key, answer)| {
            let answer = RecordedAnswer {
                question: answer.to.as_str().to_owned(),
                value: answer.value.clone(),
            };
            (key.clone(), answer)
        });
        Journal {
            answers: answers.collect(),
            once: state.once.clone(),
            begun: run.begun.clone(),
        }
    }

    /// Returns the questions of this run as a result. Without any, `waker` is woken by the first one.
    pub(crate) fn take_questions(&self, waker: &Waker) -> Option<Result<Questions, RpcError>> {
        let mut guard = self.run();
        let run = guard.get_or_insert_default();
        if run.questions.is_empty() {
            run.waker = Some(waker.clone());
            return None;
        }
        let questions = std::mem::take(&mut run.questions);
        let state = std::mem::take(&mut run.resumed.state);
        drop(guard);
        let sealed = self.config.seal(self.target.borrow(), state);
        Some(sealed.map(|state| Questions { questions, state }))
    }

    fn run(&self) -> std::sync::MutexGuard<'_, Option<Box<Run>>> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

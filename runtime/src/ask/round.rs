//! Questions in the modern era: a function that asks is stopped, and its questions are the result. The client sends the same
//! request again, with the answers.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;
use std::time::Duration;

use serde_json::value::RawValue;
use treenail_schema::InputRequest;

use crate::ask::binding::{QuestionId, scope};
use crate::ask::error::AskError;
use crate::ask::resumed::{
    Answer, MAX_RESPONSES, Responses, ResumedState, State, now, read_responses,
};
use crate::ask::seal::{NO_RANDOM_BYTES, RequestStateKey};
use crate::call::{CallTarget, OwnedTarget};
use crate::limits::Limits;
use crate::task::{Journal, RecordedAnswer};
use crate::wire::{Params, RpcError, as_string, object};

/// Error message for a state that does not fit its request. It hides the reason from an attacker.
const INVALID_STATE: &str = "`params.requestState` was not made by this server for this request";

/// Settings of a server for questions to its clients.
#[derive(Debug)]
pub(crate) struct ElicitConfig {
    server: Box<str>,
    key: RequestStateKey,
    timeout: Duration,
    rounds: u32,
    state_bytes: usize,
}

impl ElicitConfig {
    pub(crate) fn new(server: &str, key: RequestStateKey, limits: &Limits) -> Self {
        Self {
            server: server.into(),
            key,
            timeout: limits.elicitation_timeout,
            rounds: limits.input_rounds,
            state_bytes: limits.request_state_bytes,
        }
    }

    /// Returns the time in which a client has to answer.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Reads the answers and the state of a further round of a request. The first round has neither.
    pub(crate) fn resume(
        &self,
        target: CallTarget<'_>,
        params: &Params<'_>,
    ) -> Result<Option<ResumedState>, RpcError> {
        let responses = match object("inputResponses", params.input_responses)? {
            Some(responses) => read_responses(responses)?,
            None if params.request_state.is_none() => return Ok(None),
            None => Responses::new(),
        };
        let Some(sealed) = params.request_state else {
            return Ok(Some(ResumedState {
                state: State::default(),
                responses,
            }));
        };
        let sealed = as_string(sealed)
            .ok_or_else(|| RpcError::invalid_params("`params.requestState` is not a string"))?;
        let state = self.key.open(&scope(&self.server, target), &sealed).ok();
        let state: State = state
            .and_then(|state| String::from_utf8(state).ok())
            .and_then(|state| serde_json::from_str(&state).ok())
            .ok_or_else(|| RpcError::invalid_params(INVALID_STATE))?;
        if state.expires <= now() {
            return Err(RpcError::invalid_params(
                "`params.requestState` has expired; make the request again without it",
            ));
        }
        Ok(Some(state.with(responses)))
    }
}

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
        let sealed = self.seal(state);
        Some(sealed.map(|state| Questions { questions, state }))
    }

    fn seal(&self, mut state: State) -> Result<String, RpcError> {
        let config = &self.config;
        state.rounds += 1;
        let timeout = u64::try_from(config.timeout.as_millis()).unwrap_or(u64::MAX);
        state.expires = now().saturating_add(timeout);
        if state.rounds > config.rounds {
            return Err(self.failed(format!("it asks in more than {} rounds", config.rounds)));
        }
        let text = serde_json::to_vec(&state).map_err(|error| self.failed(error))?;
        if text.len() > config.state_bytes {
            let bound = config.state_bytes;
            return Err(self.failed(format!("its answers so far take more than {bound} bytes")));
        }
        config
            .key
            .seal(&scope(&config.server, self.target.borrow()), text)
            .map_err(|_| self.failed(NO_RANDOM_BYTES))
    }

    #[cold]
    fn failed(&self, problem: impl std::fmt::Display) -> RpcError {
        let target = self.target.name();
        tracing::error!(target, %problem, "a function could not ask its client");
        RpcError::internal(format!("`{target}` could not ask: {problem}"))
    }

    fn run(&self) -> std::sync::MutexGuard<'_, Option<Box<Run>>> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! Asking in the modern era: a function that asks is stopped, its questions are the result, and the answers come with the
//! same request made again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use treenail_schema::{InputRequest, InputRequests, InputRequiredResult};

use crate::ask::binding::{Origin, QuestionId};
use crate::ask::error::AskError;
use crate::ask::seal::RequestStateKey;
use crate::call::Call;
use crate::limits::Limits;
use crate::wire::{Params, RpcError, as_string, object, shortened};

/// What is said of a state that does not fit; why it does not is told to nobody.
const NOT_OURS: &str = "`params.requestState` was not made by this server for this request";

/// What a server needs in order to ask: the same for all its calls.
#[derive(Debug)]
pub(crate) struct Asker {
    server: Box<str>,
    key: RequestStateKey,
    within: Duration,
    rounds: u32,
    state_bytes: usize,
}

impl Asker {
    pub(crate) fn new(server: &str, key: RequestStateKey, limits: &Limits) -> Self {
        Self {
            server: server.into(),
            key,
            within: limits.elicitation_timeout,
            rounds: limits.input_rounds,
            state_bytes: limits.request_state_bytes,
        }
    }

    /// How long a client may take to answer.
    pub(crate) fn within(&self) -> Duration {
        self.within
    }

    /// Reads what a client brings to a further round of a request, if it is one.
    pub(crate) fn resume(
        &self,
        request: &Origin<'_>,
        params: &Params<'_>,
    ) -> Result<Option<Resumed>, RpcError> {
        let responses = match object("inputResponses", params.input_responses)? {
            Some(responses) => serde_json::from_str(responses).map_err(|error| {
                RpcError::invalid_params(format!(
                    "`params.inputResponses`: {}",
                    shortened(&error.to_string())
                ))
            })?,
            None if params.request_state.is_none() => return Ok(None),
            None => BTreeMap::new(),
        };
        let Some(sealed) = params.request_state else {
            return Ok(Some(Resumed {
                state: State::default(),
                responses,
            }));
        };
        let sealed = as_string(sealed)
            .ok_or_else(|| RpcError::invalid_params("`params.requestState` is not a string"))?;
        let state = self.key.open(&request.scope(&self.server), &sealed).ok();
        let state: State = state
            .and_then(|state| serde_json::from_slice(&state).ok())
            .ok_or_else(|| RpcError::invalid_params(NOT_OURS))?;
        if state.expires <= now() {
            return Err(RpcError::invalid_params(
                "`params.requestState` has expired; make the request again without it",
            ));
        }
        Ok(Some(state.with(responses)))
    }
}

/// What a client carries from one round to the next.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct State {
    /// In seconds since 1970.
    expires: u64,
    /// How many rounds have been asked.
    rounds: u32,
    /// The questions of the last round.
    asked: BTreeMap<String, QuestionId>,
    answers: BTreeMap<String, Answer>,
    /// What came out of work that is done once.
    once: BTreeMap<String, Box<RawValue>>,
    /// Who was asked, as the layers around the tool know them; they do their work after the state has been opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    caller: Option<Box<str>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Answer {
    to: QuestionId,
    value: Box<RawValue>,
}

type Responses = BTreeMap<String, Box<RawValue>>;

impl State {
    /// Takes the answers to the questions of the last round; what answers nothing is dropped.
    fn with(mut self, mut responses: Responses) -> Resumed {
        for (key, to) in std::mem::take(&mut self.asked) {
            if let Some(value) = responses.remove(&key) {
                self.answers.insert(key, Answer { to, value });
            }
        }
        Resumed {
            state: self,
            responses: BTreeMap::new(),
        }
    }
}

/// What a client brings to a further round of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resumed {
    state: State,
    /// Answers without a state that says to which questions: to those of the same key.
    responses: Responses,
}

/// One round of a request whose client can be asked.
#[derive(Debug)]
pub struct Round {
    asker: Arc<Asker>,
    principal: Option<Box<str>>,
    method: Box<str>,
    target: Box<str>,
    arguments: Option<Box<str>>,
    run: Mutex<Run>,
}

#[derive(Debug, Default)]
struct Run {
    resumed: Resumed,
    /// What is to be asked now.
    questions: InputRequests,
    /// The keys of all questions of this run.
    keys: Vec<String>,
    /// Who waits for a question.
    waker: Option<Waker>,
}

impl Round {
    pub(crate) fn new(call: &Call<'_>) -> Self {
        let request = call.origin;
        Self {
            asker: Arc::clone(call.server.asker()),
            principal: request.principal.map(Into::into),
            method: request.method.into(),
            target: request.target.into(),
            arguments: request.arguments.map(Into::into),
            run: Mutex::new(Run {
                resumed: call.resumed.cloned().unwrap_or_default(),
                ..Run::default()
            }),
        }
    }

    /// Begins a run of the function for a `caller` whom the layers around it may have authenticated: the state of another
    /// one is refused. A layer may run the function more than once.
    #[cfg(feature = "tower")]
    pub(crate) fn begin(&self, caller: Option<&str>) -> Result<(), RpcError> {
        let mut run = self.run();
        run.keys.clear();
        let state = &mut run.resumed.state;
        if state.rounds > 0 && state.caller.as_deref() != caller {
            return Err(RpcError::invalid_params(NOT_OURS));
        }
        state.caller = caller.map(Into::into);
        Ok(())
    }

    /// The answer to a question, or else the question is among those that are asked now.
    pub(crate) fn answer(
        &self,
        key: Option<String>,
        request: InputRequest,
    ) -> Result<Option<Box<RawValue>>, AskError> {
        let mut run = self.run();
        let run = &mut *run;
        let key = key.unwrap_or_else(|| format!("question-{}", run.keys.len() + 1));
        if run.keys.contains(&key) {
            return Err(AskError::NotAllowed(format!(
                "two questions have the key `{key}`"
            )));
        }
        run.keys.push(key.clone());
        let id = QuestionId::of(&request)?;
        let Resumed { state, responses } = &mut run.resumed;
        if let Some(value) = responses.remove(&key) {
            let to = id.clone();
            state.answers.insert(key.clone(), Answer { to, value });
        }
        match state.answers.get(&key) {
            Some(answer) if answer.to == id => Ok(Some(answer.value.clone())),
            _ => {
                run.questions.insert(key.clone(), request);
                state.asked.insert(key, id);
                run.waker.take().into_iter().for_each(Waker::wake);
                Ok(None)
            }
        }
    }

    /// How many questions the function has asked in this round, answered ones included.
    pub fn asked(&self) -> usize {
        self.run().keys.len()
    }

    /// What came out of the work of this name in an earlier round.
    pub fn done(&self, key: &str) -> Option<Box<RawValue>> {
        self.run().resumed.state.once.get(key).cloned()
    }

    /// Keeps what came out of work, for the rounds to come.
    pub fn keep(&self, key: &str, value: Box<RawValue>) {
        self.run().resumed.state.once.insert(key.to_owned(), value);
    }

    /// What to answer now, if the function has asked something; if not, `waker` is woken when it does.
    pub(crate) fn stop(&self, waker: &Waker) -> Option<Result<InputRequiredResult, RpcError>> {
        let mut run = self.run();
        if run.questions.is_empty() {
            run.waker = Some(waker.clone());
            return None;
        }
        let questions = std::mem::take(&mut run.questions);
        let state = std::mem::take(&mut run.resumed.state);
        drop(run);
        Some(self.seal(state).map(|state| {
            InputRequiredResult::new()
                .with_input_requests(questions)
                .with_request_state(state)
        }))
    }

    fn seal(&self, mut state: State) -> Result<String, RpcError> {
        let asker = &self.asker;
        state.rounds += 1;
        state.expires = now().saturating_add(asker.within.as_secs());
        if state.rounds > asker.rounds {
            return Err(self.flawed(format!("it asks in more than {} rounds", asker.rounds)));
        }
        let text = serde_json::to_vec(&state).map_err(|error| self.flawed(error))?;
        if text.len() > asker.state_bytes {
            let bound = asker.state_bytes;
            return Err(self.flawed(format!("its answers so far take more than {bound} bytes")));
        }
        let request = Origin {
            principal: self.principal.as_deref(),
            method: &self.method,
            target: &self.target,
            arguments: self.arguments.as_deref(),
        };
        asker
            .key
            .seal(&request.scope(&asker.server), text)
            .map_err(|_| self.flawed("there are no random numbers"))
    }

    #[cold]
    fn flawed(&self, problem: impl std::fmt::Display) -> RpcError {
        let target = &*self.target;
        tracing::error!(target, %problem, "a function could not ask its client");
        RpcError::internal(format!("`{target}` could not ask: {problem}"))
    }

    fn run(&self) -> std::sync::MutexGuard<'_, Run> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

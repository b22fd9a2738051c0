//! Questions in the modern era: a function that asks is stopped, and its questions are the result. The client sends the same
//! request again, with the answers.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;

use serde_json::value::RawValue;
use treenail_schema::InputRequest;

use crate::ask::asker::{Asker, Level};
use crate::ask::binding::QuestionId;
use crate::ask::callers::ValueKey;
use crate::ask::elicit_config::ElicitConfig;
use crate::ask::error::AskError;
use crate::ask::resumed::{MAX_RESPONSES, ResumedState, State};
use crate::ask::run::{Open, Run};
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
#[derive(Debug)]
pub(crate) struct Round {
    config: Arc<ElicitConfig>,
    target: OwnedTarget,
    /// `None` until something is stored, because most calls ask nothing.
    run: Mutex<Option<Box<Run>>>,
}

/// Outcome of a question in this round.
pub(crate) enum Asked<'r> {
    Answered(Box<RawValue>),
    Open(OpenQuestion<'r>),
}

/// Question without an answer. Dropping it withdraws the question, if the round has not ended with it.
pub(crate) struct OpenQuestion<'r> {
    round: &'r Round,
    key: &'r str,
    /// Set if the question waits for the end of work.
    pub(crate) waits: bool,
}

impl Drop for OpenQuestion<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(run) = &mut *self.round.run() {
            run.open.retain(|open| open.key != self.key);
        }
    }
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

    /// Starts a run of the function for a caller that the layers around it may have authenticated. The state of another
    /// caller is rejected. A layer may run the function more than once.
    #[cfg(feature = "tower")]
    pub(crate) fn begin(&self, asker: Asker<'_>) -> Result<(), RpcError> {
        self.begin_layer(asker.level);
        self.run().as_ref().map_or(Ok(()), |run| run.check(asker))
    }

    /// Starts a run of a layer, which asks the same questions as in an earlier run.
    #[cfg(feature = "tower")]
    pub(crate) fn begin_layer(&self, level: Level) {
        if let Some(run) = &mut *self.run() {
            run.keys.retain(|(one, _)| *one < level);
        }
    }

    /// Records the caller that reads or writes a value. One that another caller has obtained in an earlier round is refused.
    #[inline]
    pub(super) fn admit(&self, asker: Asker<'_>, value: ValueKey<'_>) -> Result<(), RpcError> {
        self.run().get_or_insert_default().admit(asker, value)
    }

    /// Returns the key of a question: the given one, or its number in this run.
    #[inline]
    pub(crate) fn key(&self, level: Level, key: Option<String>) -> Result<String, AskError> {
        let mut run = self.run();
        let run = run.get_or_insert_default();
        let key = key.unwrap_or_else(|| format!("question-{}", run.asked(level) + 1));
        let key = level.key(&key).into_owned();
        if run.keys.iter().any(|(_, one)| *one == key) {
            return Err(AskError::NotAllowed(format!(
                "two questions have the key `{key}`"
            )));
        }
        run.keys.push((level, key.clone()));
        Ok(key)
    }

    /// Returns the answer to a question, or notes the question for the result of this round.
    #[inline]
    pub(crate) fn answer<'r>(
        &'r self,
        level: Level,
        key: &'r str,
        request: &InputRequest,
    ) -> Result<Asked<'r>, AskError> {
        let mut guard = self.run();
        let run = &mut **guard.get_or_insert_default();
        let unwritten = |error: serde_json::Error| AskError::NotAllowed(error.to_string());
        let request = serde_json::to_string(request).map_err(unwritten)?;
        let id = QuestionId::of_text(&request);
        if let Some(value) = run.answered(key, &id) {
            return Ok(Asked::Answered(value));
        }
        // A layer may run the function again.
        run.open.retain(|open| open.key != key);
        if run.open.len() == MAX_RESPONSES {
            let reason = format!("more than {MAX_RESPONSES} questions at once");
            return Err(AskError::NotAllowed(reason));
        }
        let open = Open {
            level,
            key: key.to_owned(),
            id,
            request: RawValue::from_string(request).map_err(unwritten)?,
        };
        let place = run.open.partition_point(|open| *open.key < *key);
        run.open.insert(place, open);
        let (waits, wakers) = (run.is_working(level), run.take_wakers());
        drop(guard);
        wake(wakers);
        Ok(Asked::Open(OpenQuestion {
            round: self,
            key,
            waits,
        }))
    }

    /// Returns the number of questions of this run at a place, including answered ones.
    #[inline]
    pub(crate) fn asked(&self, level: Level) -> usize {
        self.run().as_ref().map_or(0, |run| run.asked(level))
    }

    /// Returns the result of the work `key` in an earlier round, unless it is that of another caller.
    #[inline]
    pub(crate) fn done(&self, asker: Asker<'_>, key: &str) -> Option<Box<RawValue>> {
        let run = self.run();
        let state = &run.as_ref()?.resumed.state;
        let is_own = !state.callers.is_of_other(asker, ValueKey::Work(key));
        state.once.get(key).filter(|_| is_own).cloned()
    }

    /// Stores the result of the work `key` for the following rounds.
    #[inline]
    pub(crate) fn keep(&self, asker: Asker<'_>, key: &str, value: Box<RawValue>) {
        let mut run = self.run();
        let run = run.get_or_insert_default();
        run.begun.remove(key);
        run.resumed.state.callers.bind(asker, ValueKey::Work(key));
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

    /// Records that work runs now. No question of its place, or of one around it, ends the round before the work has ended.
    #[inline]
    pub(crate) fn start_work(&self, level: Level) {
        self.run().get_or_insert_default().running.push(level);
    }

    /// Records that work has ended, or has been dropped.
    #[inline]
    pub(crate) fn end_work(&self, level: Level) {
        let mut guard = self.run();
        let Some(run) = &mut *guard else {
            return;
        };
        if let Some(place) = run.running.iter().position(|one| *one == level) {
            run.running.swap_remove(place);
        }
        if !run.open.is_empty() {
            let wakers = run.take_wakers();
            drop(guard);
            wake(wakers);
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

    /// Returns the questions of a place, and those inside of it, as a result. Without any, and while work runs there, `waker` is
    /// woken by the next change.
    pub(crate) fn take_questions(
        &self,
        level: Level,
        waker: &Waker,
    ) -> Option<Result<Questions, RpcError>> {
        let mut guard = self.run();
        let run = guard.get_or_insert_default();
        let asks = run.open.iter().any(|open| open.level == level);
        if !asks || run.is_working(level) {
            let replaced = run.wake_later(level, waker);
            drop(guard);
            drop(replaced);
            return None;
        }
        let inside = run.open.iter().filter(|open| open.level >= level);
        let (questions, asked) = inside
            .map(|open| {
                let question = (open.key.clone(), open.request.clone());
                (question, (open.key.clone(), open.id.clone()))
            })
            .unzip();
        let state = State {
            asked,
            ..run.resumed.state.clone()
        };
        drop(guard);
        let sealed = self.config.seal(self.target.borrow(), state);
        Some(sealed.map(|state| Questions { questions, state }))
    }

    fn run(&self) -> std::sync::MutexGuard<'_, Option<Box<Run>>> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[inline]
fn wake(wakers: Vec<(Level, Waker)>) {
    for (_, waker) in wakers {
        waker.wake();
    }
}

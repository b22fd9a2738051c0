//! Questions, answers and work of a call in one round.

use std::collections::BTreeSet;
use std::task::Waker;

use serde_json::value::RawValue;

use crate::ask::asker::{Asker, Level};
use crate::ask::binding::QuestionId;
use crate::ask::callers::ValueKey;
use crate::ask::elicit_config::INVALID_STATE;
use crate::ask::resumed::{Answer, ResumedState};
use crate::wire::RpcError;

#[derive(Debug, Default)]
pub(super) struct Run {
    pub(super) resumed: ResumedState,
    /// Questions that are not answered yet, in the order of their keys: a function may ask several at once.
    pub(super) open: Vec<Open>,
    /// The keys of all questions of this run.
    pub(super) keys: Vec<(Level, String)>,
    /// The keys of work that has begun and not ended, for a call that may become a task.
    pub(super) begun: BTreeSet<String>,
    /// The places of the work that runs now.
    pub(super) running: Vec<Level>,
    /// The tasks that are woken when questions may have to be taken.
    pub(super) wakers: Vec<(Level, Waker)>,
}

/// Question that is not answered yet.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) level: Level,
    pub(super) key: String,
    pub(super) id: QuestionId,
    /// As text: only functions that ask compile the writers of requests.
    pub(super) request: Box<RawValue>,
}

impl Run {
    /// Rejects the state of an earlier round that has values of another caller at the same place.
    #[cfg(feature = "tower")]
    pub(super) fn check(&self, asker: Asker<'_>) -> Result<(), RpcError> {
        let state = &self.resumed.state;
        if state.rounds > 0 && state.callers.have_others(asker) {
            return Err(RpcError::invalid_params(INVALID_STATE));
        }
        Ok(())
    }

    /// Binds a value to its caller. One that another caller has obtained in an earlier round is rejected, and one that another
    /// caller has obtained in this round is dropped.
    #[inline]
    pub(super) fn admit(&mut self, asker: Asker<'_>, value: ValueKey<'_>) -> Result<(), RpcError> {
        let state = &mut self.resumed.state;
        if state.callers.is_of_other(asker, value) {
            if state.rounds > 0 {
                return Err(RpcError::invalid_params(INVALID_STATE));
            }
            state.remove(value);
        }
        state.callers.bind(asker, value);
        Ok(())
    }

    pub(super) fn asked(&self, level: Level) -> usize {
        self.keys.iter().filter(|(one, _)| *one == level).count()
    }

    #[inline]
    pub(super) fn answered(&mut self, key: &str, id: &QuestionId) -> Option<Box<RawValue>> {
        let ResumedState { state, responses } = &mut self.resumed;
        if let Some(value) = responses.remove(key) {
            let to = id.clone();
            state.put_answer(key.to_owned(), Answer { to, value });
        }
        let answer = state.answer(key).filter(|answer| answer.to == *id)?;
        Some(answer.value.clone())
    }

    /// Returns `true` if work runs at a place, or inside of it.
    pub(super) fn is_working(&self, level: Level) -> bool {
        self.running.iter().any(|one| *one >= level)
    }

    /// Stores the waker of a place. Returns the one that it replaces, which is dropped without the lock.
    pub(super) fn wake_later(&mut self, level: Level, waker: &Waker) -> Option<Waker> {
        match self.wakers.iter_mut().find(|(one, _)| *one == level) {
            Some((_, known)) if known.will_wake(waker) => None,
            Some((_, known)) => Some(std::mem::replace(known, waker.clone())),
            None => {
                self.wakers.push((level, waker.clone()));
                None
            }
        }
    }

    /// Takes the wakers, which are woken without the lock: they are not of this crate.
    #[inline]
    pub(super) fn take_wakers(&mut self) -> Vec<(Level, Waker)> {
        std::mem::take(&mut self.wakers)
    }
}

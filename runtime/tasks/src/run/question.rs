//! Questions of a run to its client, which wait for an answer through any process.

use std::future::pending;
use std::sync::{Arc, PoisonError};

use serde_json::value::RawValue;
use treenail_runtime::internal::task::TaskQuestion;
use treenail_runtime::{AskError, RpcError};

use super::Run;
use super::change::{NotStored, detached};
use super::link::check_journal;
use crate::engine::{Engine, NoPlace, Place};
use crate::record::{Answer, Record};

impl Run {
    /// Asks a question, or reads its answer. A question of an earlier run keeps its key and its answer.
    pub(super) async fn ask_client(
        self: Arc<Self>,
        question: TaskQuestion,
    ) -> Result<Box<RawValue>, AskError> {
        let TaskQuestion { key, id, request } = question;
        if let Some(answer) = self.record().round_answer(&key, &id) {
            return Ok(answer);
        }
        if self.remains_plain().await {
            return Err(AskError::NotAllowed(
                "the call could not become a task, because the task store failed".to_owned(),
            ));
        }
        let request = serde_json::value::to_raw_value(&request)
            .map_err(|error| AskError::NotAllowed(error.to_string()))?;
        let mut changes = self.changes();
        let opened = detached(Arc::clone(&self).open(key, id, request)).await;
        let mut open = opened.map_err(|error| AskError::NotAllowed(error.message.into_owned()))?;
        loop {
            changes.mark_unchanged();
            let record = self.record();
            if let Some(answer) = record.questions.get(&open.key).map(|it| &it.answer) {
                if let Some(answer) = answer {
                    open.answered = true;
                    return read(answer);
                }
            } else if record.is_final() {
                // The function is dropped at this place, without another effect.
                return pending().await;
            }
            if open.place.is_none() {
                open.place = Some(open.run.take_place()?);
            }
            if changes.changed().await.is_err() {
                return Err(AskError::Closed);
            }
        }
    }

    /// Stores a question, unless an earlier run has asked it.
    async fn open(
        self: Arc<Self>,
        key: String,
        id: String,
        request: Box<RawValue>,
    ) -> Result<Open, NotStored> {
        let mut opened = None;
        let open = |record: &mut Record| {
            if let Some(key) = record.find_question(&key, &id) {
                opened = Some(key.to_owned());
                return Ok(false);
            }
            opened = Some(record.open_question(&key, &id, request.clone()));
            check_questions(record, &self.engine)?;
            Ok(true)
        };
        self.persist(open).await?;
        Ok(Open {
            key: opened.unwrap_or_default(),
            run: self,
            answered: false,
            place: None,
        })
    }

    /// Returns the place of the task among those that wait.
    fn take_place(&self) -> Result<Arc<Place>, AskError> {
        let mut shared = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = shared.upgrade() {
            return Ok(place);
        }
        let place = self.engine.waiting.take(&self.key.owner);
        let place = place.map_err(|reason| {
            let whose = match reason {
                NoPlace::InProcess => "server",
                NoPlace::OfOwner => "caller",
            };
            AskError::NotAllowed(format!("too many tasks of this {whose} wait for answers"))
        })?;
        let place = Arc::new(place);
        *shared = Arc::downgrade(&place);
        Ok(place)
    }
}

/// Question that waits. It is withdrawn when it is dropped.
struct Open {
    run: Arc<Run>,
    key: String,
    answered: bool,
    place: Option<Arc<Place>>,
}

impl Drop for Open {
    fn drop(&mut self) {
        if !self.answered {
            let key = std::mem::take(&mut self.key);
            self.run.pending().withdrawn.push(key);
            self.run.wake.notify_one();
        }
    }
}

fn read(answer: &Answer) -> Result<Box<RawValue>, AskError> {
    match answer {
        Answer::Value(value) => Ok(value.clone()),
        Answer::Refused(error) => Err(AskError::Refused(error.clone().into_rpc_error())),
    }
}

fn check_questions(record: &Record, engine: &Engine) -> Result<(), RpcError> {
    let limits = &engine.limits;
    let (open, all) = (limits.questions, limits.questions_in_all);
    if record.open_questions() > open {
        let message = format!("the task has more than {open} open questions");
        return Err(RpcError::internal(message));
    }
    if record.questions.len() > all {
        let message = format!("the task has asked more than {all} questions");
        return Err(RpcError::internal(message));
    }
    check_journal(record, engine)
}
